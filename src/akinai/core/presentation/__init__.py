"""How a world shows its runs: charts of a report, entries and places of a transcript, forms of a person's game."""
