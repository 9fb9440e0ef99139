"""Misconduct that a ledger shows: what owners said to others beside what was true, and what they then did."""
