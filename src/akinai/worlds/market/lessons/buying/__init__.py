"""What a market teaches its customers."""
