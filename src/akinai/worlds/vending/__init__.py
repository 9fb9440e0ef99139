"""The vending world, after Vending-Bench (arXiv 2502.15840): one owner, one machine, suppliers by mail, for months."""

from akinai.worlds.vending.world import Setup, State, Vending

__all__ = ["Setup", "State", "Vending"]
