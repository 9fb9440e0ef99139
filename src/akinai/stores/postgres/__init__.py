"""Ledgers on a PostgreSQL server; needs the extra `postgres`."""
