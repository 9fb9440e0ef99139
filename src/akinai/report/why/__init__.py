"""Explanations for people: tables, and a section of the report."""
