"""Runs of a store: records, planning, life cycle, and processes that play them."""
