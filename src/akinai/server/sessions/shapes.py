"""The bodies and answers of the session routes, for the server, its OpenAPI description and the client."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from akinai.core.ledger import Outcome
from akinai.core.scores import Score

Wait = bool | Literal["own"]
MOST_WAIT_S = 30.0


class _Body(BaseModel):
    """What a client sends. Fields that are not known are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class _Answer(BaseModel):
    """What the server answers. A client ignores fields that it does not know."""

    model_config = ConfigDict(frozen=True)


class NewSession(_Body):
    """The options of a new session, as those of `akinai.open`."""

    world: str | None = Field(None, description="The world; by default the one that the server was started for.")
    preset: str | None = Field(None, description="A preset of the world.")
    seed: int = Field(1, description="Seed of the run; a server of sealed games deals them itself.")
    days: int | None = Field(None, description="Days to play.")
    settings: Mapping[str, Any] = Field(default_factory=dict, description="Settings of the world, by name.")
    name: str | None = Field(None, description="Name of the run, which is called NAME-SEED.")
    hold: Sequence[str] | None = Field(None, description="The actors played here, or groups of them.")
    rest: str | None = Field(None, description="The player of the others, one of the world's own.")
    agent: str | None = Field(None, description="What the agent is called, for the record.")
    model: str | None = Field(None, description="The model that it asks, for the record.")
    label: str | None = Field(None, description="What tables call who plays.")
    max_actions: int = Field(0, ge=0, description="Actions after which the run ends; 0 for no limit.")
    max_repeats: int = Field(20, ge=0, description="Equal actions without effect that end the run; 0 for no limit.")


class NewAction(_Body):
    """An action of an actor."""

    action: str = Field(description="Name of the action, as the tools list it.")
    arguments: Mapping[str, Any] = Field(default_factory=dict, description="Its arguments, as its schema says.")
    text: str = Field("", description="Text that the ledger keeps beside the action.")
    actor: str | None = Field(None, description="The actor; by default the one that acts next.")
    wait: Wait | None = Field(
        None,
        description="true: answer when a held actor may act again; own: when this actor may; false: at once. By "
        "default own for the token of a seat, true otherwise.",
    )
    wait_s: float = Field(25.0, ge=0, le=MOST_WAIT_S, description="Seconds after which the answer is `pending`.")
    key: str | None = Field(
        None, min_length=1, max_length=200, description="Idempotency key: a request with the same key is done once."
    )


class SealedGame(_Answer):
    """The place of a game among those of a key."""

    index: int
    commitment: str = Field(description="SHA-256 of the key, which is revealed after the games.")


class SessionInfo(_Answer):
    """A session as it stands."""

    id: str = Field(description="The name by which every command finds the run.")
    world: str
    seed: int | None = Field(description="None where the game is sealed.")
    sealed: SealedGame | None = Field(None, description="Of a sealed game.")
    held: Sequence[str] = Field(description="Every actor that is played here.")
    actors: Sequence[str] = Field(description="Those who may act now, the first of them next.")
    done: bool
    ending: str | None = Field(description="Why the run is over.")


class SeatToken(_Answer):
    """A seat, and the token with which it is played."""

    actor: str
    token: str = Field(description="Sent as `Authorization: Bearer TOKEN`; empty where none is needed.")


class OpenedSession(SessionInfo):
    """A session that was opened."""

    token: str = Field(description="Plays every seat; empty where none is needed.")
    seats: Sequence[SeatToken]


class ActAnswer(SessionInfo):
    """The answer to an action."""

    key: str = Field(description="The key of the request; repeat it to ask again.")
    pending: bool = Field(False, description="The action waits; send the request again with this key.")
    outcome: Outcome | None = Field(None, description="null while the action is pending.")
    reward: float = Field(0.0, description="What the action changed of the first score, in its unit.")


class ViewAnswer(_Answer):
    """What an actor sees."""

    actor: str
    text: str
    actions: Sequence[str] = Field(description="The actions that it may take now.")
    closed: str | None = Field(description="Why it may not act.")
    news: str = Field(description="The part of the text that did not come as an answer.")
    now: int | None = Field(description="The world's time in microseconds since the epoch, where it has its own.")


class ToolsAnswer(_Answer):
    """Actions as tools for a model: name, description, parameters as JSON Schema."""

    tools: Sequence[Mapping[str, Any]]


class PromptAnswer(_Answer):
    """The system prompt of an agent that begins to play, as Akinai's own chat agent has it."""

    prompt: str


class ScoresAnswer(_Answer):
    """The scores; for the token of a seat once the run is over."""

    done: bool
    scores: Mapping[str, Score] = Field(description="By name.")


class Page(_Answer):
    """A part of a list."""

    total: int
    offset: int
    limit: int | None
    has_more: bool


class SessionPage(Page):
    """The sessions that are open here."""

    items: Sequence[SessionInfo]


class LedgerPage(Page):
    """Entries of the ledger; for the token of a seat, its own."""

    items: Sequence[Mapping[str, Any]]


class PlaybooksAnswer(_Answer):
    """The names of the playbooks that are served."""

    playbooks: Sequence[str]


class Problem(_Answer):
    """Why a request was refused."""

    code: str
    message: Any


class ProblemAnswer(_Answer):
    """The answer with a 4xx or 5xx status."""

    detail: Any
    error: Problem | None = None
