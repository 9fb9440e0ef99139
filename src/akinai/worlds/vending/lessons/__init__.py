"""What a run teaches, as sentences that hold their numbers."""
