"""Groups of runs side by side: the cards of a report, and the leaderboard."""
