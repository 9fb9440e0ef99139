"""Who takes part: populations read, generated and written."""
