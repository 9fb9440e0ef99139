"""What a market teaches its businesses."""
