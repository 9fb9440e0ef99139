"""A year in weekly decisions: the owner decides on Mondays, an employee runs the days by standing instructions."""
