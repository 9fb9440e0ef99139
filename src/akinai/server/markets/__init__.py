"""Many markets on one server, each in a process of its own. docs/design/server.md gives the reasons."""
