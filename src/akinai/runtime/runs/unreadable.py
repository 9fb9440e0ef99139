"""Runs that ended as `unreadable`: which replies could not be read, and what to try next."""

from collections.abc import Mapping
from typing import cast

from akinai.agents.protocols import CUT_NUDGE, FILTER_NUDGE, NUDGE
from akinai.core.replies.moves import EXPECTED
from akinai.core.stores import RunHeader
from akinai.runtime.play.agent_spec import CHAT, STRUCTURED, spec_of
from akinai.runtime.play.repeats import UNREADABLE

MORE_TOKENS = 4
"""How many times longer replies are to be, where they were cut at `--reply-tokens`."""
ENOUGH_TOKENS = 8_000
"""The limit to try where none was set."""


def unread_sentence(header: RunHeader) -> str:
    """Why a run ended as `unreadable` and what to try, in one sentence; empty for other endings."""
    why = why_unread(header)
    return f"{why}; {advice(header)}" if why else ""


def why_unread(header: RunHeader) -> str:
    """Why a run ended as `unreadable`, in a sentence; empty for other endings."""
    unread = header.card.get(UNREADABLE)
    if header.ending != UNREADABLE or not isinstance(unread, Mapping):
        return ""
    actor, replies, entries, why = (unread.get(name) for name in ("actor", "replies", "entries", "why"))
    refusal = str(why).partition(";")[0]
    return f'no action could be read in {replies} of {entries} entries, replies of {actor} ("{refusal}")'


def advice(header: RunHeader) -> str:
    """What to try next with a run that ended as `unreadable`; empty for other endings."""
    if header.ending != UNREADABLE:
        return ""
    agent = header.player
    why = str(cast("Mapping[str, object]", header.card.get(UNREADABLE) or {}).get("why", ""))
    if why.startswith(CUT_NUDGE):
        model = spec_of(header).model
        limit = model.max_tokens if model else None
        return f"try --reply-tokens {limit * MORE_TOKENS if limit else ENOUGH_TOKENS}, or a model that thinks less"
    if why.startswith(FILTER_NUDGE):
        return "try another model: the filter of this one's server withholds its replies"
    if agent == CHAT and why == NUDGE:
        return (
            "try --agent structured, or switch on the tool parser of the model's server; "
            "'akinai doctor --model MODEL --base-url URL' says what it can do"
        )
    if agent == STRUCTURED or (agent == CHAT and why.endswith(EXPECTED)):
        return "try --agent chat, if its server takes tools, or a larger model"
    if agent == CHAT:
        return "try --agent structured"
    return "each reply is one JSON object with an action: docs/write-an-agent.md shows them"
