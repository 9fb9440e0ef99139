"""How a market reads: its entries in words, its conversations, its participants and proposals at any entry."""
