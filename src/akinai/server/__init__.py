"""The market over HTTP: its wire, the hosted run, the app, and a client. Needs the extra `server`."""
