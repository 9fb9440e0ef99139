"""When each agent acts next: a tournament tree over their numbers, so that the first is known and a change is cheap."""

from __future__ import annotations  # rpds classes take no parameters at run time

from typing import NamedTuple

from rpds import HashTrieMap

NEVER = 2**62
"""The time of one who sleeps until mail comes, or is done."""

_NOBODY = (NEVER, 2**62)


class Schedule(NamedTuple):
    """Immutable. Agents are numbered from 0; of two with one time the lower number is first."""

    size: int
    """A power of two, at least the number of agents."""
    tree: HashTrieMap[int, tuple[int, int]]
    """The first of each subtree, 1 the root; `size` + n is agent n. Who was never scheduled is not in it."""

    @staticmethod
    def of(agents: int) -> Schedule:
        """Everybody asleep."""
        return Schedule(1 << max(agents - 1, 0).bit_length(), HashTrieMap())

    @property
    def first(self) -> tuple[int, int]:
        """The earliest time, NEVER when all sleep, and whose it is."""
        return self.tree.get(1, _NOBODY)

    def due(self, agent: int) -> int:
        """When an agent acts next."""
        return self.tree.get(self.size + agent, _NOBODY)[0]

    def at(self, agent: int, time: int) -> Schedule:
        """The schedule with an agent's time changed."""
        node, tree = self.size + agent, self.tree
        best = (time, agent)
        tree = tree.insert(node, best)
        while node > 1:
            best = min(best, tree.get(node ^ 1, _NOBODY))
            node >>= 1
            tree = tree.insert(node, best)
        return Schedule(self.size, tree)
