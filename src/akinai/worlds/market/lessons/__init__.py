"""What a market teaches its customers, as sentences that hold their numbers."""
