"""Redacts keys, so that no text that leaves a model call holds one."""

import os
import re

REMOVED = "[key removed]"
SHORTEST_SECRET = 8
"""Characters of the shortest value of a variable that counts as a secret; a shorter one may be a common word."""

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
    for secret in sorted(_secrets(), key=len, reverse=True):
        text = text.replace(secret, REMOVED)
    return _LOOKS_LIKE_A_KEY.sub(REMOVED, text)


def strike_keys(text: str) -> str:
    """The text with a mark in place of the value of any key in the environment; what only looks like a key stays."""
    for secret in sorted(_secrets(), key=len, reverse=True):
        text = text.replace(secret, REMOVED)
    return text


def _secrets() -> set[str]:
    """The values of environment variables whose names say that they hold a secret."""
    return {
        value
        for name, value in os.environ.items()
        if _SECRET_NAME.search(name.upper()) and len(value) >= SHORTEST_SECRET
    }
