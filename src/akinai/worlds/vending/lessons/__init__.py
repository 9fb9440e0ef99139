"""Lessons of a run, as sentences that hold their numbers."""
