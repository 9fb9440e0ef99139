"""Parts of the learner that packages bring, by name, through entry points."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from akinai.core.errors import UnknownName, UsageError
from akinai.core.models import Asker
from akinai.learning.roles.protocols import RoleName, Roles
from akinai.learning.roles.templates import PromptTemplates
from akinai.plugins import plugins

METHODS = "akinai.roles"
"""Functions of a `RoleContext` that return `Roles`."""
RETRIEVERS = "akinai.retrievers"
"""Functions of a `LoopConfig` that return a `PlaybookRetriever`."""
REFINERS = "akinai.refiners"
"""Functions of a playbook that return a `Refinement` or an `Edit`."""
CONTENDERS = "akinai.contenders"
"""Instances of `Rival`, for `--against`."""


@dataclass(frozen=True, slots=True)
class RoleContext:
    """The roles and settings from which a package makes its own roles."""

    roles: Roles
    """The roles that play without the method; it keeps those that it does not replace."""
    ask: Callable[[RoleName], Asker] | None
    """Returns the asker of a role's model; None where rules play alone."""
    templates: PromptTemplates
    budget_tokens: int
    """The intended size of the playbook."""
    tries: int
    """Requests before an unreadable reply is given up."""


def find_plugin(group: str, kind: str, name: str) -> Any:
    """The plugin of a group by its name; `kind` is the word for it in errors.

    UnknownName with close matches; UsageError for a package that cannot be imported.
    """
    entries = plugins(group)
    if name not in entries:
        raise UnknownName(kind, name, entries, f"packages bring them through the entry point group {group}")
    try:
        return entries[name].load()
    except ImportError as error:
        raise UsageError(f"the {kind} {name!r} cannot be loaded ({error}); install what it needs") from error
