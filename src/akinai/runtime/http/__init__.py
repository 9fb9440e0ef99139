"""The front of everything that listens, the connections behind it, and the host names that it accepts."""
