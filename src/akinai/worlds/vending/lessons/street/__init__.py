"""What a run of a business of several sites teaches. It names no product and no supplier: every seed has its own."""
