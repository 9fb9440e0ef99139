"""Reports: data in, text or files out."""
