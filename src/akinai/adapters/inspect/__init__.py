"""Inspect AI: every world as a task, `inspect eval akinai/vending`, with Inspect's models, tools, limits and logs.

Without the extra `inspect` the import of its modules raises MissingExtra.
"""
