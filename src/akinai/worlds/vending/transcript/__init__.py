"""A vending run for readers: its entries in words and blocks, and the machines at any entry."""
