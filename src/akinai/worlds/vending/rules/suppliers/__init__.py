"""Suppliers: how they act on letters, and the answers they write."""
