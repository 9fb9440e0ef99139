"""Actions, setup, state and demand of the vending world."""
