"""The reader of what models write: thoughts, objects, calls, and the actions that a reply decides. Pure."""
