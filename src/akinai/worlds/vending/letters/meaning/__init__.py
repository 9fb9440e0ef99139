"""The meaning of the clauses of a letter."""
