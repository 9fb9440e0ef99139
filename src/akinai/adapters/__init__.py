"""Frameworks of others, a file each and each an extra: nothing else in Akinai imports one of them."""
