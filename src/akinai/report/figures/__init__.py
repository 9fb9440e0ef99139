"""Figures: data in, SVG drawings out."""
