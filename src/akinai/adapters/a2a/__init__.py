"""A2A (a2a-sdk 1.x): a seat of a run as an agent. `akinai a2a market --hold customers` serves seats.

Without the extra `a2a` its use raises MissingExtra.
"""
