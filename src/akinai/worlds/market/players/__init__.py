"""Customers and businesses without a model."""
