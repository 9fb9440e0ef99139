"""Sessions of any world over HTTP. docs/http.md documents the routes."""
