"""What a market teaches, as sentences that hold their numbers: a folder for each side."""
