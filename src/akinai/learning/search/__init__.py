"""Search over bullets: index, embedders, deduplication, and the text of bullets for a context."""
