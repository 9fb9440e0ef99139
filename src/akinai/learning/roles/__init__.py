"""Generator, Reflector and Curator: their prompts, and the parsing of their replies."""
