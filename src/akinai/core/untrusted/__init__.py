"""What others wrote: read within bounds, and shown as text."""
