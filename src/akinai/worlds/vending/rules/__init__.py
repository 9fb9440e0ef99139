"""The rules: the effect of each action, and the passing of time."""
