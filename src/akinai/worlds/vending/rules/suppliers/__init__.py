"""What suppliers do about letters, and what they write."""
