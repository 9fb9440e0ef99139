"""MCP (mcp 2.x): a run as a server of tools. `akinai mcp vending` serves it over stdio, with `--port` over HTTP.

Clients of mcp 1.x and both protocol modes of 2.x play. Without the extra `mcp` its use raises MissingExtra.
"""
