"""Playing a run: session, driver, agents by name, and the model calls that are recorded."""
