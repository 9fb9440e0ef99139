"""A market for readers: its entries in words, its conversations, its participants and proposals at any entry."""
