"""The lessons of a market, sentences that hold their numbers: a folder for each side."""
