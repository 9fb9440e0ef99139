"""The rules of the market: who is in it, whose turn it is, messages, proposals and payments."""
