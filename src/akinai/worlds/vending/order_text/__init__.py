"""Letters to suppliers as orders: text in, items and intents out."""
