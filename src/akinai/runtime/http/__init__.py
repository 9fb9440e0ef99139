"""Parts that HTTP servers share: a listening socket, allowed host names, and uvicorn with a clean stop."""
