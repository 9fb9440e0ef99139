"""The results of a market: deals, choices, surplus, findings and scores, from a run's record alone."""
