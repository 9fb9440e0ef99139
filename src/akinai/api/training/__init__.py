"""Training: many games at once, the pools that games come from, and scaled rewards."""
