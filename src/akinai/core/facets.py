"""Facets: what a world can say about itself beyond its rules, each with neutral defaults."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Generic, Literal, Protocol, TypeVar

from pydantic import AfterValidator, BaseModel, Field

from akinai.core.actions import Action, Unreadable
from akinai.core.agents import AgentFactory
from akinai.core.canonical import Json
from akinai.core.errors import UnknownName
from akinai.core.findings import Deal, Finding
from akinai.core.ledger import Genesis, Outcome, Turn
from akinai.core.lessons import AdviceKinds, Lesson
from akinai.core.models import Reply, Request
from akinai.core.presentation.charts import Best, Chart, Published
from akinai.core.presentation.desk import Desk
from akinai.core.presentation.transcript import Crowd, Dealing, EntryView, Item, ItemKind, Place
from akinai.core.presentation.voice import Voice
from akinai.core.scores import Account, Score
from akinai.core.steps import Step, Steps
from akinai.core.untrusted.spelling import short_repr

S = TypeVar("S")

Reader = Callable[[Mapping[str, str]], Json]
"""Turns texts by relative path (one file, or a folder of them) into the value of a setting."""


class Observation(Generic[S]):
    """How an outcome is rendered for its actor, now and later."""

    def observe(self, state: S, turn: Turn, outcome: Outcome) -> Outcome:
        """The outcome of a turn as its actor sees it, from the state after it; by default the outcome itself.

        A world whose outcomes would repeat what its state holds, such as a mailbox, keeps a short outcome in the ledger
        and renders the rest here.
        """
        return outcome

    def observe_late(self, state: S, actor: str, outcome: Outcome) -> Outcome:
        """The outcome of its last turn as an actor sees it when it comes to act again; by default unchanged.

        Like a view it must stay the same from the moment the actor may act until it does, whatever others do meanwhile:
        the session's clock may rule, and a resumed run renders it again at the place of its next entry.
        """
        return outcome


class Seating(Generic[S]):
    """What a session asks to run a world: who takes part on which side, who plays whom, and who sleeps until when."""

    def group(self, state: S, actor: str) -> str:
        """The side of an actor, one of the groups or helpers of `Sides`; empty for an actor of none."""
        return ""

    def participants(self, state: S) -> Sequence[str]:
        """Everybody who takes part, whether they may act now or not; empty: those who may act now."""
        return ()

    def verbs(self, state: S, actor: str) -> Sequence[type[Action]]:
        """Every action that an actor and its sub-agents can take in the course of a run; empty: all of the world's."""
        return ()

    def own_player(self, state: S, actor: str) -> AgentFactory | None:
        """The factory of an actor's own player, which plays it whatever the run's agent is; None for actors that the
        run's agent or the model of their side plays."""
        return None

    def missing_tools(self, state: S, actor: str) -> Sequence[str]:
        """The names of tools that the settings keep from an actor and that the world's players count on."""
        return ()

    def wake_times(self, state: S) -> Mapping[str, int]:
        """Actors that sleep until a time, with that time in microseconds since the epoch.

        Asked where the session's clock rules; other actors sleep until an action of somebody else wakes them.
        """
        return {}

    def closing_action(self, state: S, actor: str) -> Action | None:
        """The action that ends the task of an actor whose actions for it are spent; None for an actor without a cap.

        The cap is `sub_agent_messages` of the setup.
        """
        return None

    def decide_at_once(self, state: S) -> bool:
        """Whether all who may act now decide by this state, so that their agents may think at the same time.

        Their moves are then taken in the order of the actors. By default each decides by the state after the last.
        """
        return False

    def leaving_action(self, state: S, actor: str, why: str) -> Action | None:
        """The action by which an actor whose agent broke or is done leaves a game that others go on with; None where
        the game ends with it."""
        return None


SAME = "same"
"""Stands for the agent of the run where a setting names an agent."""


def _named_model(model: str) -> str:
    provider, _, name = model.partition(":")
    if not (provider and name):
        raise ValueError("a model is PROVIDER:NAME, such as 'openai:gpt-5-mini'")
    return model


ModelName = Annotated[str, Field(max_length=200), AfterValidator(_named_model)]
"""A model in a setting, such as "openai:NAME"."""


@dataclass(frozen=True, slots=True)
class AddedText:
    """A text that a setting adds to the task of some actors."""

    setting: str
    """The dotted name of the setting."""
    text: str
    groups: Sequence[str]
    """The groups of these actors; "" for actors outside any."""


class Sides(Generic[S]):
    """The sides of a game: their names, the models that may play them, and how long a run takes."""

    who: ClassVar[str] = ""
    """The actors in a few words, such as "customers and businesses"; empty where their names say it."""
    groups: ClassVar[Sequence[str]] = ()
    """The sides of the game, each a table of the setup; its `model`, where one is named, plays that side."""
    helpers: ClassVar[Sequence[str]] = ()
    """Groups beside the players, tables of the setup as well: the rules play them, or their `model` or `agent`."""
    seats: ClassVar[Mapping[str, str]] = {}
    """Groups of a single participant each, by name: the dotted name of the table of the setup that says who plays it,
    with the name of an `agent`, or "same" for that of the run, and a `model`. The headline score of a seat has the name
    of the run's, an underscore and the name of the group."""
    model_settings: ClassVar[Mapping[str, Json]] = {}
    """Settings that replace the setup's defaults where a model plays; whatever a person sets goes over them."""

    def expected_actions(self, state: S, actor: str) -> int:
        """About how many actions an actor takes in a whole run, for estimates of cost; 0 where days tell it."""
        return 0

    def added_texts(self, setup: Mapping[str, Json]) -> Sequence[AddedText]:
        """The texts that settings add to tasks. Models, programs and people read them; players by rules do not."""
        return ()


class Judging(Generic[S]):
    """How a run is judged beyond its scores. Agents never see it."""

    def detect(self, steps: Steps[S]) -> Sequence[Finding]:
        """Mistakes that the record shows, in the order of the ledger."""
        return ()

    def coherence(self, steps: Steps[S], findings: Sequence[Finding]) -> Sequence[Score]:
        """Scores of how coherent the actors were, given the findings of `detect`; a record may lack some of them."""
        return ()

    def account(self, steps: Steps[S], fuzzy: int = 0) -> Account:
        """More figures and tables. Names that agents write and that are within `fuzzy` edits of a right one count as
        it."""
        return Account()

    def deals(self, steps: Steps[S]) -> Sequence[Deal]:
        """Every deal that was offered, with the entries that belong to it; empty in a world without such deals."""
        return ()

    def standing(self, state: S) -> float | None:
        """The headline score so far, without what only the end of the run settles. It is computed from the state alone,
        so that rewards are cheap. None where nothing of it is known before the end."""
        return None

    def settled(self, state: S) -> float | None:
        """The headline score of a run that ends in a state, computed from the state alone; by default `standing`."""
        return self.standing(state)

    def part(self, state: S, actor: str) -> float | None:
        """An actor's own part, in the unit of the headline score, by which it is rewarded beside others; None where all
        are rewarded by the headline score."""
        return None

    def yardstick(self, setup: Mapping[str, Json]) -> str:
        """The name of a player that knows what is hidden, below which runs are placed as they are below `reference`;
        empty for none."""
        return ""

    def bound(self, genesis: Genesis) -> float | None:
        """An upper bound on the expected headline score; None where none is known."""
        return None

    def facts(self, state: S) -> Mapping[str, Json]:
        """The truth about a state in a few named numbers, for reports and comparisons."""
        return {}

    def day_facts(self, state: S) -> Mapping[str, Json]:
        """Facts about the last day that ended, beside `facts`: numbers by name, and tables of numbers such as the
        units sold by product. A table whose name ends in `_by_seat` has a fact of each seat."""
        return {}


class Teaching(Generic[S]):
    """How a run teaches later players without a model: in records of kinds and numbers, each with its sentence."""

    learner: ClassVar[str] = ""
    """The player that follows a playbook; empty in a world that has none."""
    role: ClassVar[str] = ""
    """The role that is taught, such as "customer"; empty in a world with one role."""
    other_roles: "ClassVar[Sequence[Teaching[Any]]]" = ()
    """How the world's other roles are taught."""
    settings: ClassVar[Mapping[str, Json]] = {}
    """Settings by dotted name under which the agent of a run plays this role, below what a person sets."""
    score: ClassVar[str] = ""
    """The figure of the account by which the role is judged; empty: the first score of the first scorer."""
    beside: ClassVar[Sequence[str]] = ()
    """Scores and figures of the account that show how a gain of this role affects others."""
    kinds: ClassVar[AdviceKinds] = AdviceKinds()
    """The kinds of the lessons that have records, which rule-based players are configured by."""
    opponents: ClassVar[Sequence[str]] = ()
    """Players of the other side; the first may follow a playbook. Empty in a world without one."""

    def opposed_by(self, player: str, bullets: Sequence[str]) -> Mapping[str, Json]:
        """The settings, by dotted name, under which a player that follows bullets plays the other side."""
        return {}

    def of_role(self, role: str) -> "Teaching[Any]":
        """How a role is taught. UnknownName for one that is not; empty is the world's first."""
        teachings = {teaching.role: teaching for teaching in (self, *self.other_roles)}
        if role and role not in teachings:
            raise UnknownName("role", role, [name for name in teachings if name])
        return teachings[role] if role else self

    def lessons(self, steps: Steps[S]) -> Sequence[Lesson]:
        """The lessons of a record; their numbers are estimated from it."""
        return ()

    def merge(self, bullet: str, lesson: Lesson) -> str:
        """A bullet after a later lesson about the same thing: both merged by their kind, else the lesson alone."""
        return self.kinds.merge(bullet, lesson.bullet)

    def experiment(self, number: int) -> str:
        """A bullet that makes a player try out something, a different thing for each number, so that its runs teach
        more. Empty where players do not experiment."""
        return ""

    @property
    def teaches(self) -> bool:
        """Whether records of this world can give lessons."""
        return type(self).lessons is not Teaching[Any].lessons


class Presentation(Generic[S]):
    """How people read runs of the world.

    A report has figures without it: the first score of the world's first scorer is the headline, it is drawn over the
    days if `facts` gives it by its name, or by its name and `_cents`, and actions and findings are drawn for every
    world.
    """

    releases: ClassVar[Mapping[str, str]] = {}
    """The release that plays each earlier version of the world: {"lemonade@1": "lemonade 1.4.0"}."""
    charts: ClassVar[Sequence[Chart]] = ()
    """Further figures, in their order: charts of days in the section on days, others beside the scores."""
    compared: ClassVar[Sequence[str]] = ()
    """Figures of the account in which groups are compared as in the first score, such as what a treatment moves."""
    best: ClassVar[Best | None] = None
    """The figures that say how near the first score came to the best possible."""
    published: ClassVar[Published | None] = None
    """Results of others that are shown beside those of runs when asked."""

    finding_titles: ClassVar[Mapping[str, str]] = {}
    """Types of findings in words; a type that is not here is shown with its underscores as spaces."""

    def card(self, setup: Mapping[str, Json]) -> Mapping[str, Json]:
        """What of a setup stands on the card of its runs, by name, such as a text that is added to a task."""
        return {}

    def unit(self, setup: Mapping[str, Json]) -> Literal["day", "week"]:
        """The unit in which people read a run: a week where actors decide once a week, on its first day."""
        return "day"

    def names(self, state: S) -> Mapping[str, str]:
        """Names that stand beside the ids of actors where people read them; documents for programs keep the ids."""
        return {}

    def items(self, state: S) -> Sequence[Item]:
        """The products of the world; empty where there are none."""
        return ()

    def show(self, steps: Steps[S], index: int) -> EntryView:
        """The entry at an index of the steps, from 0, as a transcript shows it; by default verb and parameters."""
        entry = steps[index].entry
        kind: ItemKind = "unreadable" if entry.name == Unreadable.__name__ else "other"
        parameters = ", ".join(f"{name} {short_repr(value, 80)}" for name, value in entry.parameters.items())
        verb = steps[index].turn.action.tool_name().replace("_", " ")
        return EntryView(kind, f"{verb}: {parameters}" if parameters else verb)

    def place(self, state: S, before: S | None = None, previous: Place | None = None) -> Place:
        """The place in a state: its figures, shelves and listings, drawn beside the transcript.

        `previous` is the place of the state `before`: parts of it that did not change may be used again, so that going
        through a whole run costs little.
        """
        return Place()

    def dealings(self, steps: Steps[S]) -> Sequence[Dealing]:
        """What seats sent one another, in the order of the ledger; empty in a world without seats."""
        return ()

    def day_note(self, state: S) -> str:
        """A word on the day that ended last, such as its weather."""
        return ""

    def crowd(self, steps: Steps[S]) -> Crowd:
        """Participants and conversations of a run; empty in a world without sides."""
        return Crowd()

    def voice(self, state: S, actor: str) -> Voice:
        """The words in which a person who plays an actor reads its texts; by default with names in place of ids."""
        return Voice(self.names(state))

    def desk(self, state: S, actor: str, met: Collection[str] = ()) -> Desk:
        """How the forms look with which a person plays an actor, from what that actor knows. `met` are words in the
        data of its outcomes, such as ids that a search gave."""
        return Desk()


class ModelCall(Protocol):
    """A model call of a run, as exporters read it."""

    @property
    def actor(self) -> str: ...
    @property
    def number(self) -> int:
        """The actor's n-th call, from 1."""
        ...

    @property
    def at(self) -> int:
        """When the reply was recorded, in microseconds since the epoch."""
        ...

    @property
    def model(self) -> str:
        """The name that was asked for, such as "openai:NAME"."""
        ...

    @property
    def request(self) -> Request: ...
    @property
    def reply(self) -> Reply: ...


@dataclass(frozen=True, slots=True)
class DatabaseTable:
    """A table of a SQLite database."""

    name: str
    columns: Mapping[str, str]
    """SQL types by name."""
    rows: Iterable[Mapping[str, str | int | float | None]]
    """Values by column; a column that a row lacks is NULL. They are read once."""
    indexes: Sequence[str] = ()
    """Columns with an index."""


Exporter = Callable[[Steps[Any], Sequence[ModelCall]], Sequence[DatabaseTable]]
"""Turns the steps and the model calls of a run into the tables of a database."""


@dataclass(frozen=True, slots=True)
class Generated:
    """Files that a world generated, with a summary."""

    files: Mapping[str, str]
    """Texts by relative path."""
    title: str
    """The content in words, such as "2 customers and 6 businesses"."""
    document: Mapping[str, Json]
    """The summary for programs."""
    heads: tuple[str, str]
    values_cents: Mapping[str, int]
    """A table under `heads`: amounts of money by name."""


@dataclass(frozen=True, slots=True)
class Generator:
    """Makes files with which the world can be set up."""

    about: str
    """A sentence on what it makes."""
    options: type[BaseModel]
    """Its options. A field's description is the help of its flag, its title the default in words."""
    generate: Callable[[Any, Genesis], Generated]
    """Makes the files from options, with the chance of a genesis without a setup. UsageError for options that do not
    fit."""
    setting: str
    """The setting that reads the files."""


class Files(Generic[S]):
    """Presets, settings that are read from files, and other files that a world can make. It opens none itself."""

    default_preset: ClassVar[str] = "default"
    """The preset of a run that names none; the name `default` always means it."""
    readers: ClassVar[Mapping[str, Reader]] = {}
    """By setting, the function that turns the texts of its files into its value."""
    kinds: ClassVar[Mapping[str, str]] = {}
    """By setting whose value is a list, the plural of what it holds, such as "questions"."""
    inline: ClassVar[frozenset[str]] = frozenset()
    """The settings among them whose text is the value itself where no file or folder has that name."""
    playbooks: ClassVar[frozenset[str]] = frozenset()
    """The settings among them that are a playbook's file or name in any form; their functions get it as JSON."""
    exporters: ClassVar[Mapping[str, Exporter]] = {}
    """Further export formats of this world, by name, each a database of a run."""
    generator: ClassVar[Generator | None] = None
    """The generator of `akinai NAME generate`, for a world whose name is an entry point of `akinai.generators` too."""


class Explaining(Generic[S]):
    """How to tell which decisions of a run mattered: whether an action decides something, and other futures of it."""

    def decides(self, action: Action) -> bool:
        """Whether an action decides something; a look does not."""
        return True

    def waits(self, action: Action) -> bool:
        """Whether an action that decides nothing lets others act, or time pass, in place of a look."""
        return False

    def gain(self, state: S, actor: str) -> Score | None:
        """The score of one participant among several; None for an actor that has no score of its own."""
        return None

    def words(self, step: Step[S]) -> str:
        """A decision in words that follow a day: "ordered 24 units of Cola from Harbor Wholesale"."""
        parameters = ", ".join(f"{name} {short_repr(value, 80)}" for name, value in step.turn.action.encode().items())
        verb = step.turn.action.tool_name().replace("_", " ")
        return f"{verb}: {parameters}" if parameters else verb

    def unmade(self, state: S, action: Action) -> Outcome:
        """The answer to a player that would have taken an action which the run did not take; by default a refusal."""
        return Outcome.refused("not_taken", "this was not done")

    def honest(self, step: Step[S], finding: Finding) -> Sequence[Action] | None:
        """What an honest actor would have done in place of an entry that shows misconduct, such as paying in place of
        promising; empty: nothing. None for an entry that decided none of it."""
        return () if self.decides(step.turn.action) else None

    def redraw(self, state: S, salt: int) -> S:
        """The state with another future: the chance of its day and of later days is drawn anew, all else stays.

        The same salt draws the same. By default the state itself: nothing that is to come is left to chance.
        """
        return state


@dataclass(frozen=True, slots=True)
class Facets:
    """All that a world says about itself beyond its rules."""

    observation: Observation[Any] = field(default_factory=Observation[Any])
    seating: Seating[Any] = field(default_factory=Seating[Any])
    sides: Sides[Any] = field(default_factory=Sides[Any])
    judging: Judging[Any] = field(default_factory=Judging[Any])
    teaching: Teaching[Any] = field(default_factory=Teaching[Any])
    presentation: Presentation[Any] = field(default_factory=Presentation[Any])
    files: Files[Any] = field(default_factory=Files[Any])
    explaining: Explaining[Any] = field(default_factory=Explaining[Any])
