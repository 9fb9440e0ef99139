"""Agents: what turns a view into a move. They know no world by name."""
