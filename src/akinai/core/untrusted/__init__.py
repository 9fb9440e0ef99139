"""Text and values of others, read within bounds and shown as text."""
