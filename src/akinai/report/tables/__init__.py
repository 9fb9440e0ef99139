"""Tables for people: records in, rich renderables out."""
