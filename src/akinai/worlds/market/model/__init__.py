"""Actions, setup and state of the market."""
