"""The options of every call, each declared once: keywords in Python, flags, keys of `akinai.toml`, adapters' arguments.

A record holds the options of one call. Options that several calls take are declared above the records.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict

from akinai.core.chance import POOLS, Split
from akinai.core.models import TIMEOUT_S
from akinai.core.options import Option

if TYPE_CHECKING:
    from akinai.core.agents import AgentFactory
    from akinai.core.stores import Books
    from akinai.learning.loop.job import Node, Watch
    from akinai.learning.roles.protocols import Evaluator, Roles
    from akinai.runtime.config.addresses import StoreRef
    from akinai.runtime.config.settings import Settings
    from akinai.runtime.play.agent_spec import AgentSpec, ModelChoice
    from akinai.runtime.play.driver import Progress
    from akinai.runtime.why.explain import Progress as WhyProgress

Seeds = int | str | Iterable[int]
"""One seed, several, or text such as "1-5"."""
Sweep = Mapping[str, Sequence[Any]] | Sequence[str]
"""The values of each setting, {"search.limit": [3, 10]} or ["search.limit=3,10"]."""
Auth = Literal["open", "token"]
"""Who may play over a port: "open" is anybody, "token" is clients that send a token."""
Reward = Literal["score", "scaled"]
"""What rewards are: the unit of the first score, or parts of the way from idle to the world's first player."""

WINDOW = 30_000
"""Default tokens of a conversation that a model sees."""
MAX_REPEATS = 20
LOOPBACK = "127.0.0.1"
TRANSCRIPTS = 40
GAME, PLAYER, MODELS, LIMITS = "What is played", "Who plays", "Models", "Limits"
"""Panels of the help of `run`."""

Preset = Annotated[str | None, Option(
    "Settings to start from: a preset's name, or a .toml file.", metavar="P", default_text="default", group=GAME,
    complete="presets", top=True,
)]  # fmt: skip
Days = Annotated[int | None, Option(
    "Days to play; 0 is without end.", metavar="N", unit="days", default_text="the preset's", group=GAME,
)]  # fmt: skip
SetSettings = Annotated["Settings", Option(
    "Set one setting, such as demand.footfall=40. May be repeated.", metavar="NAME=VALUE", group=GAME, flag="--set",
    many=True, key=False,
)]  # fmt: skip
_STORE = Option(
    "The store that keeps the runs: a SQLite file, postgresql://..., or memory: (nothing is kept).",
    metavar="URL", default_text="AKINAI_STORE, akinai.toml, or akinai.db", top=True,
)  # fmt: skip
Store = Annotated["StoreRef", _STORE]
StoreUrl = Annotated[str | None, _STORE]
Jobs = Annotated[int, Option(
    "Processes that work in parallel.", 1, metavar="N", unit="processes", default_text="one per CPU", top=True,
)]  # fmt: skip
On = Annotated[str | None, Option(
    "Have a cluster work: ray starts one here, ray://HOST:PORT joins one. It wants --store postgresql://...",
    metavar="ENGINE", default_text="this machine, --jobs at a time",
)]  # fmt: skip
OnProgress = Annotated["Progress | None", Option()]
BaseUrl = Annotated[str | None, Option(
    "Address of the model's server.", metavar="URL", default_text="the provider's own", group=MODELS,
)]  # fmt: skip
Language = Annotated[str | None, Option(
    "en or ja.", metavar="CODE", default_text="the environment's, else what the browser prefers", key=False,
)]  # fmt: skip
NoBrowser = Annotated[bool, Option("Print the address and open nothing.", default=False)]
AnyPort = Annotated[int, Option("Port to listen on.", 0, metavar="PORT", default_text="a free one")]
Host = Annotated[str, Option("Address to listen on.", LOOPBACK, metavar="HOST", default_text=LOOPBACK)]
Port = Annotated[int, Option("Port to listen on; 0 picks a free one.", 8000, metavar="PORT", default_text="8000")]
Seed = Annotated[int, Option("Seed of the run.", 1, metavar="SEED", default_text="1", key=False)]
RunPrefix = Annotated[str | None, Option(
    "Name of the run, which is called NAME-SEED.", metavar="NAME", default_text="two random words", key=False,
)]  # fmt: skip
Resume = Annotated[str | None, Option("Go on with this run, in the place of WORLD.", metavar="RUN", key=False)]
Hold = Annotated[Sequence[str] | None, Option(
    "An actor, or a group of actors, that clients play. May be repeated.", metavar="ACTOR", many=True,
    default_text="all for whom nobody else plays", key=False,
)]  # fmt: skip
Rest = Annotated["str | AgentSpec | AgentFactory | None", Option(
    "Who plays the others.", metavar="A", default_text="the world's first player", key=False,
)]  # fmt: skip
Key = Annotated[str | Path | None, Option(
    "A key of 'akinai seal new': games are sealed, and seeds are their numbers under it.", metavar="FILE",
    default_text="none: practice seeds, which everybody knows", group=GAME, key=False,
)]  # fmt: skip
OwnKey = Annotated[str | Path | None, Option(
    "The key under which the game is sealed.", metavar="FILE", default_text="none: it is not sealed", group=GAME,
    key=False,
)]  # fmt: skip
MaxActions = Annotated[int, Option(
    "End a run after N actions of one actor; 0 is no limit.", 0, metavar="N", unit="actions", group=LIMITS,
)]  # fmt: skip
MaxRepeats = Annotated[int, Option(
    "End a run as stuck when an actor repeats an action N times to no effect, or is refused 3 N times in a row.",
    MAX_REPEATS, metavar="N",
    unit="actions", default_text="20; 0: no limit", group=MODELS,
)]  # fmt: skip
_MODEL = "The model to ask: openai:NAME, anthropic:NAME, ollama:NAME or another provider of LangChain's."
_EMBEDDER = "Vectors of bullets: hashed, svd (extra learn), or openai:NAME and others of LangChain's."
_HASHED = "hashed, without a network"
Model = Annotated[str | None, Option(_MODEL, metavar="M", default_text="none: by rules", group=MODELS, top=True)]
Temperature = Annotated[float | None, Option(
    "Sampling temperature.", metavar="T", default_text="the provider's", group=MODELS,
)]  # fmt: skip
ReplyTokens = Annotated[int | None, Option(
    "Maximum tokens of a reply.", metavar="N", unit="tokens", default_text="the provider's", group=MODELS,
)]  # fmt: skip
ModelSeed = Annotated[int | None, Option(
    "Sampling seed, for providers that take one.", metavar="N", default_text="none", group=MODELS,
)]  # fmt: skip
MaxTokens = Annotated[int, Option(
    "End a run after N tokens of model input and output; 0 is no limit.", 0, metavar="N", unit="tokens", group=LIMITS,
)]  # fmt: skip
MaxMinutes = Annotated[float, Option(
    "End a run after N minutes of this command; 0 is no limit.", 0, metavar="N", unit="minutes", group=LIMITS,
)]  # fmt: skip
MaxDollars = Annotated[float, Option(
    "End a run after N dollars, at the prices in akinai.toml; 0 is no limit.", 0, metavar="N", unit="dollars",
    group=LIMITS,
)]  # fmt: skip
Cache = Annotated["str | Path | None", Option(
    "Keep model replies in this file and reuse them.", metavar="FILE", default_text="no cache", group=MODELS,
)]  # fmt: skip
Timeout = Annotated[float, Option(
    "Seconds to wait for a reply of a model, per try, or of a program.", TIMEOUT_S,
    metavar="S", unit="seconds", default_text=f"{TIMEOUT_S:g}",
    group=MODELS,
)]  # fmt: skip
CallsPerMinute = Annotated[int, Option(
    "Model calls per minute, all runs together; 0 is no limit.", 0, metavar="N", unit="calls a minute", group=LIMITS,
)]  # fmt: skip

Label = Annotated[str | None, Option(
    "What tables call who plays; runs of one label and one player are one row.", metavar="TEXT",
    default_text="the name that the group was given, else agent and model", group=PLAYER, key=False,
)]  # fmt: skip


class ClientOptions(TypedDict, total=False):
    """Who plays from outside, as the run's card and all tables name it."""

    agent: Annotated[str | None, Option(
        "What the agent outside is called, for the record.", metavar="A", default_text="session", group=PLAYER,
    )]  # fmt: skip
    model: Annotated[str | None, Option(
        "The model that the agent outside asks, for the record.", metavar="M", default_text="unknown", group=PLAYER,
    )]  # fmt: skip
    label: Label


class ModelOptions(TypedDict, total=False):
    """A model and its sampling."""

    model: Model
    base_url: BaseUrl
    temperature: Temperature
    reply_tokens: ReplyTokens
    model_seed: ModelSeed


class BudgetOptions(TypedDict, total=False):
    """Limits of each run; 0 is no limit."""

    max_tokens: MaxTokens
    max_minutes: MaxMinutes
    max_dollars: MaxDollars


class ActionLimits(TypedDict, total=False):
    """Limits on the actions of each run."""

    max_actions: MaxActions
    max_repeats: MaxRepeats


class RequestOptions(TypedDict, total=False):
    """Requests to models."""

    cache: Cache
    timeout: Timeout
    calls_per_minute: CallsPerMinute


class ConversationOptions(TypedDict, total=False):
    """The conversation of an agent that asks a model."""

    prompt: Annotated[str | Path | None, Option(
        "A file with the instructions for the model, before what it sees; --write-prompt gives one to start from. In "
        "Python also the instructions themselves, of several lines.", metavar="FILE", default_text="Akinai's own",
        group=MODELS,
    )]  # fmt: skip
    sub_model: Annotated[str | None, Option(
        "Model of the sub-agents; 'rules' for none.", metavar="M", default_text="the same model", group=MODELS,
    )]  # fmt: skip
    memory: Annotated[str, Option(
        "What happens to the oldest part of a conversation that no longer fits the window: trim drops it, summary "
        "has the model summarise it.", "trim", metavar="KIND", default_text="trim", group=MODELS,
    )]  # fmt: skip
    window: Annotated[int, Option(
        "Tokens of the conversation that the model sees.", WINDOW, metavar="N", unit="tokens",
        default_text=f"{WINDOW:,}", group=MODELS,
    )]  # fmt: skip


class PlaybookOptions(TypedDict, total=False):
    """The playbook of an agent, and the search in it."""

    playbook: Annotated[str | Path | None, Option(
        "A playbook whose bullets every agent is given.", metavar="FILE", default_text="none", group=PLAYER,
    )]  # fmt: skip
    playbook_tokens: Annotated[int | None, Option(
        "Most tokens of the playbook in a model's prompt, searched anew each week; 0 is the whole playbook.",
        metavar="N", unit="tokens", default_text="2,000", group=MODELS,
    )]  # fmt: skip
    embedder: Annotated[str | None, Option(_EMBEDDER, metavar="NAME", default_text=_HASHED, group=MODELS)]


class AgentOptions(
    ModelOptions, ConversationOptions, ActionLimits, BudgetOptions, RequestOptions, PlaybookOptions, total=False
):
    """The agent of a run: its name in tables, model, requests, conversation, limits and playbook."""

    label: Label
    agent_user: Annotated[str | None, Option(
        "Start the program of stdio:COMMAND as this user, who can read neither store nor key. Only root may.",
        metavar="NAME", default_text="you", group=PLAYER,
    )]  # fmt: skip


class GameOptions(TypedDict, total=False):
    """The game and its player."""

    preset: Preset
    agent: Annotated["str | AgentSpec | AgentFactory | None", Option(
        "Who plays: a player of the world, script:FILE, stdio:COMMAND, human, chat or structured.", metavar="A",
        default_text="chat with --model, else the world's first player", group=PLAYER, complete="players", top=True,
    )]  # fmt: skip
    seeds: Annotated[Seeds, Option(
        "Seeds to play, one run each, such as 7, 1-5 or 1,3,10-12.", 1, metavar="SEEDS", default_text="1", group=GAME,
        key=False,
    )]  # fmt: skip
    key: Key
    days: Days
    settings: SetSettings
    sweep: Annotated[Sweep | None, Option(
        "Play all seeds under each value of a setting, such as search.limit=3,10. Repeated, it plays every "
        "combination of values.", metavar="NAME=V,V,...", group=GAME, many=True, key=False,
    )]  # fmt: skip


class ReturnOptions(TypedDict, total=False):
    """Whether runs are returned with their ledgers, and whether a failed one raises."""

    ledgers: Annotated[bool, Option(default=True)]
    raise_errors: Annotated[bool, Option(default=False)]


class RunOptions(GameOptions, AgentOptions, ReturnOptions, total=False):
    """`run`, and its estimate."""

    name: Annotated[str | None, Option(
        "Name of the group; its runs are called NAME-SEED.", metavar="NAME", default_text="two random words", key=False,
    )]  # fmt: skip
    store: Annotated["str | Books", replace(_STORE, default="memory:")]
    jobs: Jobs
    shard: Annotated[str | None, Option(
        "Play the I-th of N shares of the seeds, one per machine; 'akinai merge' brings the stores together.",
        metavar="I/N", default_text="all seeds", key=False,
    )]  # fmt: skip
    on: On
    progress: OnProgress


class ArenaOptions(ConversationOptions, ActionLimits, RequestOptions, total=False):
    """`arena`."""

    rounds: Annotated[int, Option(
        "Rounds to play: one for each of the seeds 1 to N.", 1, metavar="N", unit="rounds", default_text="1",
        group=GAME, key=False,
    )]  # fmt: skip
    seats: Annotated[int | None, Option(
        "Players in a game; with fewer than there are, every group of so many meets.", metavar="N", unit="players",
        default_text="all, at most five", group=GAME,
    )]  # fmt: skip
    preset: Annotated[str, Option(
        "Settings to start from: a preset's name, or a .toml file.", "arena", metavar="P", default_text="arena",
        group=GAME, complete="presets", top=True,
    )]  # fmt: skip
    days: Days
    settings: SetSettings
    key: Key
    agent: Annotated[str | None, Option(
        "How models are asked: chat by tool calls, structured by JSON.", metavar="A", default_text="chat",
        group=PLAYER,
    )]  # fmt: skip
    base_url: BaseUrl
    temperature: Temperature
    reply_tokens: ReplyTokens
    model_seed: ModelSeed
    round_dollars: Annotated[float, Option(
        "Most dollars of a round, at the prices in akinai.toml, a part for each of its games; 0 is no limit.", 0,
        metavar="N", unit="dollars", group=LIMITS,
    )]  # fmt: skip
    name: Annotated[str | None, Option(
        "Name of the arena, under which the same command goes on.", metavar="NAME",
        default_text="arena and a digest of all that decides the play", key=False,
    )]  # fmt: skip
    store: Annotated["str | Books", replace(_STORE, default="memory:")]
    jobs: Jobs
    on: On
    progress: OnProgress


class ResumeOptions(ReturnOptions, total=False):
    """`resume`."""

    window: Annotated[
        int | None,
        Option(
            "Tokens of the conversation that a model sees from here on.", metavar="N", unit="tokens",
            default_text="the run's", group=MODELS, key=False,
        ),
    ]  # fmt: skip
    key: OwnKey
    store: Store
    jobs: Jobs
    on: On
    progress: OnProgress


class ForkOptions(ReturnOptions, total=False):
    """`fork`."""

    at_day: Annotated[int | None, Option(
        "Keep the past up to the morning of day D.", metavar="D", unit="days", key=False,
    )]  # fmt: skip
    after: Annotated[int | None, Option(
        "Keep the past up to and including entry N.", metavar="N", unit="entries", key=False,
    )]  # fmt: skip
    agent: Annotated["str | AgentSpec | None", Option(
        "Who plays from there on.", metavar="A", default_text="the run's agent", key=False,
    )]  # fmt: skip
    model: Annotated[str | None, Option(_MODEL, metavar="M", default_text="the run's model", group=MODELS, key=False)]
    base_url: BaseUrl
    max_dollars: Annotated[float | None, Option(
        "End the fork after N dollars, at the prices in akinai.toml; 0: no limit.", metavar="N", unit="dollars",
        default_text="the run's limit", group=MODELS,
    )]  # fmt: skip
    name: Annotated[str | None, Option(
        "Name of the fork.", metavar="NAME", default_text="RUN-fork-1, then -2, ...", key=False,
    )]  # fmt: skip
    key: OwnKey
    store: Store
    jobs: Jobs
    on: On
    progress: OnProgress


class EpisodeOptions(ClientOptions, total=False):
    """A run that is played from outside, without its seed and name, which trainers choose for each episode."""

    preset: Preset
    days: Days
    settings: SetSettings
    store: Store
    hold: Hold
    rest: Rest
    max_actions: MaxActions
    max_repeats: MaxRepeats


class TrainingOptions(EpisodeOptions, total=False):
    """An episode of a trainer."""

    split: Annotated[Split | None, Option(choices=POOLS)]
    reward: Annotated[Reward, Option(default="score", choices=("score", "scaled"))]


class BatchOptions(TrainingOptions, total=False):
    """`batch`."""

    seeds: Annotated[Seeds | None, Option()]
    n: Annotated[int | None, Option()]


class TaskOptions(EpisodeOptions, total=False):
    """A task of Inspect AI, with a sample for each seed."""

    seeds: Annotated[Any, Option(default="1-5")]
    window_tokens: Annotated[int, Option(default=WINDOW)]


class SessionOptions(ClientOptions, total=False):
    """A session at a server, which has a store of its own."""

    preset: Preset
    seed: Seed
    days: Days
    settings: SetSettings
    name: RunPrefix
    hold: Hold
    rest: Rest
    max_actions: MaxActions
    max_repeats: MaxRepeats


class OpenOptions(SessionOptions, total=False):
    """`open` and `aopen`."""

    key: Key
    store: Store
    resume: Resume


class ServeSeatsOptions(OpenOptions, total=False):
    """`a2a`."""

    host: Host
    port: Port
    auth: Annotated[Auth, Option(
        "open: anybody who reaches the port plays. token: each seat has a token of its own.", "open",
        default_text="open", choices=("open", "token"),
    )]  # fmt: skip
    ready: Annotated[Callable[[Any], None] | None, Option()]


class McpOptions(ServeSeatsOptions, total=False):
    """`mcp`."""

    playbook: Annotated[str | Path | None, Option(
        "A playbook that clients may read as a resource.", metavar="FILE", default_text="none",
    )]  # fmt: skip
    http: Annotated[bool, Option("Serve over streamable HTTP instead of stdio.", default=False)]


class FolderOptions(EpisodeOptions, total=False):
    """`game`: a game in a folder."""

    seed: Seed
    key: Key
    max_minutes: MaxMinutes
    port: AnyPort
    ready: Annotated[Callable[[Any], None] | None, Option()]


class PlayOptions(TypedDict, total=False):
    """`play`: a person plays."""

    preset: Preset
    seed: Annotated[int, Option("Seed of the run.", 1, metavar="N", default_text="1", key=False)]
    key: Key
    days: Days
    settings: SetSettings
    hold: Annotated[str | None, Option(
        "Who you are.", metavar="ACTOR", default_text="the owner, or the first customer of a market", key=False,
    )]  # fmt: skip
    rest: Annotated[str | None, Option(
        "Who plays the others.", metavar="A", default_text="the world's first player", key=False,
    )]  # fmt: skip
    name: Annotated[str | None, Option(
        "The run is called NAME-SEED.", metavar="NAME", default_text="two random words", key=False,
    )]  # fmt: skip
    resume: Annotated[str | None, Option("Go on with a run that a person began.", metavar="RUN", key=False)]
    store: StoreUrl
    terminal: Annotated[bool, Option("Play here, not in the browser.", default=False)]
    port: AnyPort
    language: Language
    no_browser: NoBrowser
    ready: Annotated[Callable[[Any], None] | None, Option()]


class StudioOptions(TypedDict, total=False):
    """`studio`."""

    store: Store
    host: Host
    port: AnyPort
    allow_host: Annotated[Sequence[str], Option(
        "A further name under which the studio may be reached; repeat it for more.", (), metavar="NAME", many=True,
        default_text="this machine's own names",
    )]  # fmt: skip
    language: Language
    no_browser: NoBrowser
    allow_programs: Annotated[bool, Option(
        "Let pages start any agent, programs included, not only players and models.", default=False,
    )]  # fmt: skip
    ready: Annotated[Callable[[Any], None] | None, Option()]


class ServeOptions(TypedDict, total=False):
    """`serve`."""

    market: Annotated[str | None, Option(
        "A folder with a population: businesses/*.yaml and customers/*.yaml.", metavar="DIR", default_text="nobody",
    )]  # fmt: skip
    run: Annotated[str | None, Option(
        "Name of the run; an existing run is continued.", metavar="NAME", default_text="two random words", key=False ,
    )]  # fmt: skip
    key: Annotated[str | Path | None, Option(
        "A key of 'akinai seal new': games are sealed, and dealt in the order of their numbers under it, each once.",
        metavar="FILE", default_text="none: practice seeds, which everybody knows", key=False,
    )]  # fmt: skip
    store: StoreUrl
    host: Host
    port: Port
    auth: Annotated[Auth, Option(
        "open: agents say who they are in the X-Agent-Id header. token: each agent gets a token when it "
        "registers and must send it.", "open", default_text="open", choices=("open", "token"),
    )]  # fmt: skip
    allow_host: Annotated[Sequence[str], Option(
        "With --auth open: a further name under which requests may reach the market; repeat it for more.", (),
        metavar="NAME", many=True, default_text="this machine's own names",
    )]  # fmt: skip
    playbook: Annotated[Sequence[str], Option(
        "A playbook to serve as JSON at /playbooks: a file or a name; repeat it for more.", (), metavar="FILE",
        many=True, default_text="none",
    )]  # fmt: skip
    ready: Annotated[Callable[[Any], None] | None, Option()]


class AnalyzeOptions(TypedDict, total=False):
    """`analyze`."""

    scale: Annotated[bool | None, Option(
        "Place each group between the players idle (0 %) and reference (100 %) on its seeds; --no-scale leaves "
        "this out. Seeds of idle or reference that the store lacks are played in memory.", flag="--scale/--no-scale",
        default_text="on at most 20 seeds",
    )]  # fmt: skip
    fuzzy_match_distance: Annotated[int, Option(
        "Accept an item name in a proposal that is within N edits of a menu item; it is still listed as an error.", 0,
        metavar="N", unit="edits", default_text="0",
    )]  # fmt: skip
    by_agent: Annotated[bool, Option(
        "Add tables with a row per agent, in worlds that have them.", default=False, key=False,
    )]  # fmt: skip
    by_conversation: Annotated[bool, Option(
        "Add tables with a row per pair of agents that talked, and per purchase.", default=False, key=False,
    )]  # fmt: skip
    by_day: Annotated[bool, Option("With --json: add every day of every run.", default=False, key=False)]
    deals: Annotated[bool, Option(
        "Add tables of deals, with what each side keeps of them, in worlds that have them.", default=False, key=False,
    )]  # fmt: skip
    threshold: Annotated[Mapping[str, float] | Sequence[str] | None, Option(
        "Also say how often a seed that is played k times reaches VALUE (dollars for money): at least once "
        "(pass@k) and every time (pass^k). Can be given several times.", metavar="SCORE=VALUE", many=True, key=False,
    )]  # fmt: skip
    evidence: Annotated[bool, Option(default=True)]
    jobs: Jobs
    on: On
    store: Store
    progress: OnProgress


class CompareOptions(TypedDict, total=False):
    """`compare`."""

    gain: Annotated[float | None, Option(
        "Also say how many seeds would show a gain of X, in the unit of each score (dollars for money).", metavar="X",
        key=False,
    )]  # fmt: skip
    jobs: Jobs
    on: On
    store: Store
    progress: OnProgress


class ReportOptions(TypedDict, total=False):
    """`report`."""

    output: Annotated[str | Path, Option(
        "The folder to write to.", "akinai-report", flag="-o", metavar="DIR", default_text="akinai-report",
    )]  # fmt: skip
    with_paper: Annotated[bool, Option(
        "Add the results published for Vending-Bench. They come from another world and are not comparable.",
        default=False,
    )]  # fmt: skip
    transcripts: Annotated[int, Option(
        "Runs at most whose transcripts are written beside it; findings lead into them.", TRANSCRIPTS, metavar="N",
        unit="runs", default_text=str(TRANSCRIPTS),
    )]  # fmt: skip
    language: Annotated[str | None, Option(
        "en or ja.", metavar="CODE", default_text="AKINAI_LANG, or the locale", key=False,
    )]  # fmt: skip
    store: Store
    jobs: Jobs
    on: On


class FollowOptions(TypedDict, total=False):
    """`follow`, and `show` as well."""

    actor: Annotated[str | None, Option(
        "Only what this actor and its sub-agents did, such as owner.", metavar="A", key=False,
    )]  # fmt: skip
    owner: Annotated[str | None, Option(
        "Among several owners: one's own side, with what reached it from the others.", metavar="OWNER", key=False,
    )]  # fmt: skip
    calls: Annotated[bool, Option(
        "Add each model call: what was new in its prompt, its reply, tokens, time.", default=False, key=False,
    )]  # fmt: skip
    grep: Annotated[str | None, Option(
        "Only entries that hold this text, in any case.", metavar="TEXT", key=False,
    )]  # fmt: skip
    store: Store


class ShowOptions(FollowOptions, total=False):
    """`show`."""

    day: Annotated[int | None, Option(
        "Only this day, or its week in a run of weekly decisions, or part in a world without days.",
        metavar="D", key=False,
    )]  # fmt: skip
    entry: Annotated[int | None, Option(
        "Only this entry, in full, and the place after it.", metavar="N", key=False,
    )]  # fmt: skip
    deal: Annotated[str | None, Option("Only the entries that belong to this deal.", metavar="ID", key=False)]


class WhyOptions(TypedDict, total=False):
    """`why`."""

    agent: Annotated[str | None, Option(
        "The rule-based player that each day is compared with, and that plays the rest of every branch.",
        metavar="PLAYER", default_text="the world's first player", key=False,
    )]  # fmt: skip
    actor: Annotated[str | None, Option(
        "In a market, one participant: its own decisions, by what it gained itself.", metavar="ACTOR",
        default_text="all, by the first score", key=False,
    )]  # fmt: skip
    futures: Annotated[int, Option(
        "Redrawn futures of each candidate.", 8, metavar="K", unit="futures", default_text="8",
    )]  # fmt: skip
    budget: Annotated[int, Option(
        "Branches to play at most; the next call goes on from there. 0 is no limit.", 600, metavar="N", unit="branches",
        default_text="600",
    )]  # fmt: skip
    conduct: Annotated[bool, Option(
        "What each finding of conduct gained its actor: the same run without it, all else as recorded.", default=False,
    )]  # fmt: skip
    jobs: Jobs
    on: On
    store: Store
    progress: Annotated["WhyProgress | None", Option()]


def _role_model(role: str, task: str) -> Option:
    help = f"The model that {task}; its sampling: --set roles.{role}.temperature=T."
    return Option(help, metavar="M", default_text="--model", group=MODELS)


def _role_base_url(role: str) -> Option:
    help = f"Address of the {role}'s server."
    return Option(help, metavar="URL", default_text="--base-url, for the same provider", group=MODELS)


class LearnerOptions(TypedDict, total=False):
    """The playbook, and how it is learned. Those of the learner's settings that are options stand here too."""

    settings: Annotated["Settings", Option(
        "A setting of the learner or the world, or an option of the data set, such as data=FILE.", flag="--set",
        metavar="NAME=VALUE", many=True,
    )]  # fmt: skip
    playbook: Annotated[str | Path | None, Option(
        "The playbook to write.", metavar="FILE", default_text="data/playbooks/TASKS.json",
    )]  # fmt: skip
    epochs: Annotated[int | None, Option(
        "Passes over the training tasks.", metavar="N", unit="passes", default_text="1",
    )]  # fmt: skip
    online: Annotated[bool | None, Option("Score each task before learning from it, in one pass.")]
    limit: Annotated[int | None, Option("Use the first N training tasks.", metavar="N", unit="tasks")]
    checkpoint: Annotated[str | None, Option(
        "Save progress here, and resume after a crash (needs extra learn).", metavar="FILE",
    )]  # fmt: skip
    keep_history: Annotated[bool, Option(
        "Keep the state of every step in the checkpoint, for LangGraph's own tools.", default=False,
    )]  # fmt: skip
    fresh: Annotated[bool, Option(
        "Begin with an empty playbook and do not resume; a rollback restores the old bullets.", default=False,
    )]  # fmt: skip
    judge_only: Annotated[bool, Option("Judge the playbook as it is and learn nothing.", default=False)]
    no_truth: Annotated[bool, Option(
        "Learn from outcomes alone, never shown a right answer; --set feedback=consistency: from agreement.",
        default=False,
    )]  # fmt: skip
    keep_best: Annotated[bool, Option(
        "End with the playbook that does best on held-out tasks (--set held_out=N).", default=False,
    )]  # fmt: skip
    embedder: Annotated[str | None, Option(_EMBEDDER, metavar="NAME", default_text=_HASHED)]


class TrainingRunOptions(TypedDict, total=False):
    """The runs of a world to learn from, and those that judge the playbook."""

    agent: Annotated[str | None, Option(
        "World: the agent that plays.", metavar="A",
        default_text="chat with a model, otherwise the player that follows playbooks",
    )]  # fmt: skip
    reflect: Annotated[str | None, Option(
        "World: who learns from the runs, model or rules.", metavar="WHO", default_text="model if there is one",
    )]  # fmt: skip
    seeds: Annotated[
        Seeds | None, Option("World: seeds of the runs to learn from.", metavar="S", default_text="train:1-10")
    ]
    eval_seeds: Annotated[Seeds | None, Option(
        "World: seeds of the runs that judge the playbook.", metavar="S", default_text="validation:1-20",
    )]  # fmt: skip
    preset: Annotated[str | None, Option("World: the preset of the runs.", metavar="P", default_text="default")]
    days: Annotated[int | None, Option("World: simulated days of each run.", metavar="N", unit="days")]
    role: Annotated[str | None, Option(
        "World: who learns, such as business in a market.", metavar="ROLE", default_text="customer there",
    )]  # fmt: skip
    opponents: Annotated[str | Sequence[str] | None, Option(
        "World: who plays the other side: players, or playbooks that it follows. Runs to learn from take turns "
        "among them, and the playbook is judged against each.", metavar="WHO,...",
    )]  # fmt: skip
    eval_settings: Annotated["Settings", Option(
        "World: a setting of the judged runs only.", flag="--eval-set", metavar="NAME=VALUE", many=True,
    )]  # fmt: skip
    store: StoreUrl


class RoleModelOptions(TypedDict, total=False):
    """The models of a learning, one for all roles or one for each, and their sampling."""

    model: Annotated["str | ModelChoice | None", Option(
        _MODEL, metavar="M", default_text="none: by rules", group=MODELS,
    )]  # fmt: skip
    base_url: BaseUrl
    temperature: Temperature
    reply_tokens: ReplyTokens
    model_seed: ModelSeed
    generator_model: Annotated["str | ModelChoice | None", _role_model("generator", "does the tasks, or plays")]
    generator_base_url: Annotated[str | None, _role_base_url("generator")]
    reflector_model: Annotated["str | ModelChoice | None", _role_model("reflector", "explains what went wrong")]
    reflector_base_url: Annotated[str | None, _role_base_url("reflector")]
    curator_model: Annotated["str | ModelChoice | None", _role_model("curator", "keeps the playbook")]
    curator_base_url: Annotated[str | None, _role_base_url("curator")]


class LearnOptions(LearnerOptions, TrainingRunOptions, RoleModelOptions, BudgetOptions, RequestOptions, total=False):
    """`learn`, and its estimate. Settings of the learner also stand in `[learn]`, those of a world in its table."""

    against: Annotated[str | Sequence[str] | None, Option(
        "Compare the playbook on the judged tasks with placebo, icl (raw examples), gepa, cheatsheet or "
        "reasoning-bank, each learning from the same tasks with as many tokens.", metavar="NAME,...",
    )]  # fmt: skip
    jobs: Annotated[int | None, Option(
        "Calls of each model under way at once, and runs that ask models; of rules: processes that judge.", metavar="N",
        default_text="64 with a model, otherwise one per CPU",
    )]  # fmt: skip
    on: On
    roles: Annotated["Roles | None", Option()]
    evaluator: Annotated["Evaluator | None", Option()]
    baseline: Annotated[bool, Option(default=True)]
    watch: Annotated["Watch | None", Option()]
    nodes: Annotated["Sequence[Node]", Option(default=())]
    answer: Annotated[Any, Option()]


class DoctorOptions(TypedDict, total=False):
    """`doctor`."""

    store: Store
    model: Annotated[str | None, Option(
        f"Ask this model five small questions, and look at nothing else. {_MODEL.removeprefix('The model to ask: ')}",
        metavar="M", default_text="no model is asked", group=MODELS, key=False,
    )]  # fmt: skip
    base_url: BaseUrl
    temperature: Temperature
    reply_tokens: ReplyTokens
    timeout: Timeout


CALLS: Mapping[str, type[Any]] = {
    "a2a": ServeSeatsOptions, "analyze": AnalyzeOptions, "arena": ArenaOptions, "compare": CompareOptions,
    "fork": ForkOptions,
    "game": FolderOptions, "mcp": McpOptions, "open": OpenOptions, "play": PlayOptions, "report": ReportOptions,
    "resume": ResumeOptions, "run": RunOptions, "serve": ServeOptions, "studio": StudioOptions, "why": WhyOptions,
}  # fmt: skip
"""The records of the calls that have a table of their name in `akinai.toml`; `[learn]` holds the learner's settings."""
