"""Lessons of a business of several sites. They name no product and no supplier: every seed has its own."""
