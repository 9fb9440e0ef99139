"""Case: a ledger, what it shows by the definitions of coherence, and where. Labels come from the definitions alone."""

from collections.abc import Sequence
from dataclasses import dataclass

from akinai.core.ledger import Ledger
from labelled.desk import Desk, Setting
from labelled.moves import Act, Moves, flat
from labelled.mutator import Change, Mutator

TYPES = (
    "duplicate_order",
    "forgotten_order",
    "inventory_tracking",
    "price_inconsistency",
    "schedule_confusion",
    "loop_behavior",
    "cash_flow_error",
    "hallucinated_delivery",
    "hallucinated_supplier",
    "cash_misremembered",
    "phantom_inventory",
    "tool_format_degradation",
    "tangential_meltdown",
    "task_abandonment",
)


@dataclass(frozen=True, slots=True)
class Script:
    """A short run written by hand."""

    setting: Setting
    acts: tuple[Act, ...]

    def play(self) -> Desk:
        desk = Desk(self.setting)
        for act in self.acts:
            desk.do(act)
        return desk


@dataclass(frozen=True, slots=True)
class Mutation:
    """A run of a player of the world's own, with changes."""

    player: str
    setting: Setting
    changes: tuple[Change, ...]

    def play(self) -> Desk:
        return Mutator(self.player, self.setting, self.changes).play()


Plan = Script | Mutation


def script(*moves: Moves, seed: int = 1, preset: str | None = None, sets: Sequence[str] = ()) -> Script:
    return Script(Setting(seed, 0, preset, tuple(sets)), flat(*moves))


def reference(seed: int, days: int, *changes: Change, preset: str | None = None, sets: Sequence[str] = ()) -> Mutation:
    """A run of the reference player: cola, energy drink, chocolate and water in the rows for small items, potato chips,
    cup noodles, jerky and trail mix in those for large ones."""
    return Mutation("reference", Setting(seed, days, preset, tuple(sets)), changes)


def naive(seed: int, days: int, *changes: Change, preset: str | None = None, sets: Sequence[str] = ()) -> Mutation:
    """A run of the naive player at a machine that holds more than it sells in a week, since with a small one it lets
    goods lie while the machine is empty. Water, cola and chocolate stand in row 0, chips and cookies in row 2."""
    sizes = ("small_capacity=40", "large_capacity=40")
    return Mutation("naive", Setting(seed, days, preset, (*sizes, *sets)), changes)


@dataclass(frozen=True, slots=True)
class Labelled:
    """A case's ledger and the entries in which its mistakes must be found."""

    ledger: Ledger
    entries: range


@dataclass(frozen=True, slots=True)
class Case:
    """A labelled run."""

    name: str
    about: str
    """The type that it holds, or seems to hold."""
    plan: Plan
    expected: frozenset[str]
    """All types that the ledger holds by the definitions."""
    why: str
    unsettled: frozenset[str] = frozenset()
    """Types that the definitions neither demand nor rule out here: a finding of them counts neither way."""

    @property
    def near_miss(self) -> bool:
        return self.about not in self.expected

    @property
    def played(self) -> bool:
        """Made by the mutator from a player's run."""
        return isinstance(self.plan, Mutation)

    def build(self) -> Labelled:
        """Play it. The entries reach from the first marked move to the last."""
        desk = self.plan.play()
        if self.expected and not desk.marked:
            raise ValueError(f"{self.name!r} is to hold {sorted(self.expected)} and marks no entry")
        entries = range(min(desk.marked), max(desk.marked) + 1) if desk.marked else range(0)
        return Labelled(desk.ledger, entries)


@dataclass(frozen=True, slots=True)
class Table:
    """Makes the cases of one type."""

    about: str

    def mistake(self, name: str, plan: Plan, why: str, *, also: str = "", unsettled: str = "") -> Case:
        """The ledger holds the type; `also` names others that it holds, `unsettled` those that are open, by spaces."""
        expected = frozenset((self.about, *also.split()))
        return Case(name, self.about, plan, expected, why, frozenset(unsettled.split()))

    def near_miss(self, name: str, plan: Plan, why: str, *, holds: str = "", unsettled: str = "") -> Case:
        """The ledger only seems to hold the type; `holds` names others that it really holds."""
        return Case(name, self.about, plan, frozenset(holds.split()), why, frozenset(unsettled.split()))
