"""Runs as logs of Inspect AI (`.eval`), written without that package."""
