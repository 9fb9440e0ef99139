"""The core: seven nouns and the arithmetic under them. Pure: standard library and pydantic, no files, no clocks."""
