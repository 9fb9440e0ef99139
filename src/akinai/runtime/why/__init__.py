"""Explains which decisions of a run mattered, by the scores of branches of its record, played on by one player."""
