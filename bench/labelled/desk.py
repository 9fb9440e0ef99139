"""Where moves are played by the world's real rules: what comes of it is a sound ledger, chained and replayable."""

from dataclasses import dataclass, field
from functools import cache

from akinai.core.ledger import Entry, Genesis, Ledger, Outcome, Turn
from akinai.core.worlds import step
from akinai.runtime.config import prepare
from akinai.worlds.vending import Vending
from labelled.moves import Act
from labelled.truth import told, written

WORLD = Vending()


@dataclass(frozen=True, slots=True)
class Setting:
    """How a run is set up."""

    seed: int = 1
    days: int = 0
    """Days to play; 0 is no horizon."""
    preset: str | None = None
    sets: tuple[str, ...] = ()
    """As `--set` on the command line: "start_cents=6000"."""

    @property
    def genesis(self) -> Genesis:
        return Genesis(WORLD.name, self.seed, _setup(self.days, self.preset, self.sets))


@cache
def _setup(days: int, preset: str | None, sets: tuple[str, ...]):
    return prepare(WORLD, preset=preset, days=days, settings=sets).setup


@dataclass
class Desk:
    """One run under way."""

    setting: Setting
    entries: list[Entry] = field(default_factory=list[Entry])
    marked: list[int] = field(default_factory=list[int])

    def __post_init__(self) -> None:
        self.genesis = self.setting.genesis
        self.state = WORLD.begin(self.genesis)

    @property
    def actor(self) -> str | None:
        """Whose turn it is; None when the run is over."""
        return next(iter(WORLD.actors(self.state)), None)

    def do(self, act: Act, *, checked: bool = True) -> Outcome:
        """Play a move. ValueError when its outcome is not the one it must meet: then the case is not what it says."""
        actor = self.actor or "owner"
        before = self.entries[-1] if self.entries else None
        at = max(before.at if before else 0, WORLD.now(self.state))
        action = WORLD.verbs.settled(written(act.action, self.state))
        turn = Turn(len(self.entries) + 1, at, actor, action, told(act.said, self.state))
        self.state, outcome = step(WORLD, self.state, turn)
        if checked and outcome.code != act.code:
            raise ValueError(
                f"entry {turn.seq} is {action!r}, which was to be {act.code or 'accepted'}, and the world says "
                f"{outcome.code or 'ok'}: {outcome.text}"
            )
        self.entries.append(Entry.of(before.digest if before else self.genesis.digest, turn, outcome))
        if act.marked:
            self.marked.append(turn.seq)
        return outcome

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.genesis, tuple(self.entries))
