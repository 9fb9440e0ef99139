"""The vending world, after Vending-Bench (arXiv 2502.15840): one to five owners run machines, for weeks or a year."""

from akinai.worlds.vending.world import Setup, State, Vending

__all__ = ["Setup", "State", "Vending"]
