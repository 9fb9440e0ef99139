"""How bullets are found: index, embedders, deduplication, and what goes into a context."""
