"""The market over HTTP: its wire, the run behind it, the app, and a client. Part of the extra `server`."""
