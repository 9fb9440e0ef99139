"""Pages on several runs or on what was learned from them: a playbook, the leaderboard."""
