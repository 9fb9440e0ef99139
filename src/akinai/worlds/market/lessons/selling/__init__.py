"""The lessons of a market for its businesses."""
