"""Mistakes that a ledger shows: one fold of the ledger, and a detector for each type."""
