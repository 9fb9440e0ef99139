"""How a vending run reads: its entries in words and blocks, its nights, and the machines at any entry."""
