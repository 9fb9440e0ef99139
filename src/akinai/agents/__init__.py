"""Agents, which turn views into moves. They know no world by name."""
