"""Owners and sub-agents without a model."""
