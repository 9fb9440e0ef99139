"""Redacts keys, so that no text that leaves a model call holds one."""

import os
import re
from collections.abc import Mapping, Sequence
from typing import cast

from akinai.core.canonical import Json

REMOVED = "[key removed]"
SHORTEST_SECRET = 8
"""Characters of the shortest value of a variable that counts as a secret wherever it stands."""
SHORTEST_WORD = 4
"""Characters of the shortest value that counts as a secret where it stands as a word of its own."""

_MIXED = re.compile(r"(?=.*[^\W\d_])(?=.*(?:\d|[^\w\s./'-])).*")
"""A letter, and a digit or a sign that words do not hold.

Short values without are words and numbers that replies hold for other reasons: to strike them would change what a model
did, and the mark would tell the key.
"""

_SECRET_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$")
_LOOKS_LIKE_A_KEY = re.compile(
    r"""
      (?<=://)[^/\s@]+(?=@)                # user and password in an address
    | (?i:\bbearer\s+)[^\s"',}]+
    | (?i:\b(?:x-)?(?:api[-_\s]?key|authorization|(?:access|auth)[-_]token|secret|password)\b["']?)
      \s*[:=]\s*["']?(?i:basic\s+|bearer\s+)?[^\s"',}]+
    | (?<![A-Za-z0-9])(?:sk|pk|rk|gsk|xai|pplx|nvapi|csk|hf|r8|lsv2|ghp|glpat|github_pat)[-_][A-Za-z0-9_\-*.]{6,}
    | \bAIza[A-Za-z0-9_\-]{10,}
    | \b(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]{32,}\b      # long and opaque, as most other keys are
    """,
    re.VERBOSE,
)


def redact_keys(text: str) -> str:
    """The text with a mark in place of anything that is or looks like a key: providers may echo requests."""
    return _LOOKS_LIKE_A_KEY.sub(REMOVED, _without_secrets(text, _secrets()))


def strike_keys(value: Json) -> Json:
    """The value with a mark in place of the value of any key in the environment; what only looks like a key stays."""
    secrets = _secrets()
    return _struck(value, secrets) if secrets else value


def _struck(value: Json, secrets: Sequence[str]) -> Json:
    if isinstance(value, str):
        return _without_secrets(value, secrets)
    if isinstance(value, Mapping):
        table = cast("Mapping[str, Json]", value)
        return {_without_secrets(key, secrets): _struck(inner, secrets) for key, inner in table.items()}
    if isinstance(value, list | tuple):
        return [_struck(item, secrets) for item in cast("Sequence[Json]", value)]
    return value


def _without_secrets(text: str, secrets: Sequence[str]) -> str:
    for secret in secrets:
        if len(secret) >= SHORTEST_SECRET:
            text = text.replace(secret, REMOVED)
        elif secret in text:
            text = re.sub(rf"(?<![\w-]){re.escape(secret)}(?![\w-])", REMOVED, text)
    return text


def _secrets() -> Sequence[str]:
    """The values of environment variables whose names say that they hold a secret, the longest first."""
    values = {value for name, value in os.environ.items() if _SECRET_NAME.search(name.upper())}
    secrets = (
        value
        for value in values
        if len(value) >= SHORTEST_SECRET or (len(value) >= SHORTEST_WORD and _MIXED.fullmatch(value))
    )
    return sorted(secrets, key=len, reverse=True)
