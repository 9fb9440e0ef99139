"""What HTTP servers share: a socket to listen on, the names it answers to, and uvicorn set up to be stopped."""
