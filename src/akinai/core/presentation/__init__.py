"""How a world shows its runs: charts of a report, and what a transcript says of entries and places."""
