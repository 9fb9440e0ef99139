"""The page on which a person plays, and the forms on it."""
