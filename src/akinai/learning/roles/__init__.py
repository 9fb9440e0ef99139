"""Generator, Reflector and Curator: what they are asked and how their replies are read."""
