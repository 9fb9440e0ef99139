"""The rules of the market: its members, turns, messages, proposals and payments."""
