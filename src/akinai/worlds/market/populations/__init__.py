"""Populations of markets: read, generated and written."""
