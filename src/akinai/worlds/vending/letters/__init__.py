"""Letters to suppliers: text in, intents out. `reader.read_letter` is the way in."""
