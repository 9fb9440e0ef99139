"""Python is the command line: every command has a function in `akinai` with the same name, options and defaults."""

import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import typer

import akinai
from akinai.cli.app import app
from akinai.runtime.export.generate import generating_worlds
from together import together

PRESENTATION = {"as_json", "as_csv", "rows", "help"}
"""Options about what is printed."""
POSITIONAL = {
    "a2a": ["world"],
    "analyze": ["names"], "arena": ["players"], "compare": ["a", "b"], "delete": ["names"], "demo": ["world"], "diff": ["a", "b"], "doctor": [], "explain": ["term"], "export": ["run"], "fork": ["run"],
    "game": ["folder", "world"],
    "leaderboard": ["names"], "learn": ["tasks"], "plan": [],
    "mcp": ["world"], "merge": ["out", "stores"], "play": ["world"], "replay": ["run"], "report": ["names"], "restore": ["names"], "resume": ["run"], "run": ["world"], "runs": [],
    "serve": ["world"], "show": ["run"], "studio": ["runs"], "studio bundle": ["runs"], "verify": ["names"], "why": ["run"], "worlds": ["world"], "market generate": [],
    "playbook show": ["playbook", "bullet"], "playbook search": ["playbook", "words"],
    "playbook add": ["playbook", "text"], "playbook history": ["playbook"], "playbook diff": ["playbook", "a", "b"],
    "playbook rollback": ["playbook", "n"], "playbook dedup": ["playbook"], "playbook prune": ["playbook"],
    "playbook import": ["playbook", "source"], "playbook export": ["playbook", "target"],
    "playbook recover": ["playbook"],
    "seal new": ["file"], "seal show": ["file"], "seal reveal": ["file", "boards"],
}  # fmt: skip
"""The functions' names for the words after each command, in their order."""
NAMES = {"set": "settings", "eval_set": "eval_settings", "import": "import_", "from": "from_"}
"""A flag or command, and its name in Python, where a word of Python is in the way or a list has a plural."""
OTHER_FUNCTIONS = {
    ("run", "dry_run"): "estimate",
    ("arena", "dry_run"): "estimate_arena",
    ("run", "write_prompt"): "write_prompt",
    ("analyze", "deal"): "deal",
    ("compare", "cluster"): "compare_logs",
    ("compare", "format"): "compare_logs",
    ("compare", "columns"): "compare_logs",
    ("show", "follow"): "follow",
    ("learn", "figure"): "against_figure",
    ("learn", "dry_run"): "estimate_learning",
    ("learn", "write_prompts"): "write_prompts",
}
"""A flag that has a function of its own: a function that returns two kinds of things would help nobody."""
OTHER_DEFAULTS = {
    ("run", "store"): "Python keeps runs in memory unless it is told otherwise: a notebook leaves no file behind",
    ("arena", "store"): "as for run",
    ("*", "jobs"): "a script that starts processes needs a guard, so Python plays in its own process unless asked",
    ("export", "output"): "Python returns the lines that the command prints",
}
"""Options whose defaults differ, and why; `*` is every command."""


def commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        if hasattr(command, "commands"):
            if default := getattr(command, "default", None):  # `akinai studio` is a command and has commands
                yield f"{before}{name}", command.commands[default]
            yield from commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


COMMANDS = dict(commands(typer.main.get_command(app)))


def function_of(command: str) -> Callable[..., Any]:
    attribute: Any = akinai
    for word in command.split():
        attribute = getattr(attribute, NAMES.get(word, word))
    return attribute


def options_of(command: str) -> dict[str, Any]:
    """The visible options of a command by their names in Python, with their defaults."""
    defaults: dict[str, Any] = {}
    for parameter in COMMANDS[command].params:
        if parameter.param_type_name != "option" or parameter.hidden or parameter.name in PRESENTATION:
            continue
        long = max(parameter.opts, key=len).lstrip("-").replace("-", "_")
        if (command, long) not in OTHER_FUNCTIONS:
            defaults[NAMES.get(long, long)] = inspect.Parameter.empty if parameter.required else parameter.default
    return defaults


def plain(value: object) -> object:
    """Defaults as they compare: a path as its text, a number as text, nothing given as None."""
    return None if value in (None, (), []) else str(value)


@together("command", COMMANDS)
def test_every_command_is_a_function(command: str) -> None:
    """The function takes the command's words by position and its options by name, with the same defaults."""
    signature = inspect.signature(function_of(command))
    positional = [name for name in signature.parameters if name in POSITIONAL[command]]
    assert positional == POSITIONAL[command]
    for name, default in options_of(command).items():
        assert name in signature.parameters, f"akinai.{command} has no {name}"
        if (command, name) not in OTHER_DEFAULTS and ("*", name) not in OTHER_DEFAULTS:
            assert plain(signature.parameters[name].default) == plain(default), name


def test_differences_are_needed() -> None:
    """Each documented difference is one: of a command that there is, with another default or another function."""
    for (command, name), reason in OTHER_DEFAULTS.items():
        assert reason
        assert command == "*" or name in options_of(command)
    for (command, name), function in OTHER_FUNCTIONS.items():
        assert any(f"--{name.replace('_', '-')}" in parameter.opts for parameter in COMMANDS[command].params)
        assert callable(getattr(akinai, function))
    assert POSITIONAL.keys() == COMMANDS.keys()


def test_public_names_are_all_there() -> None:
    """Every public name can be imported, and `import akinai` loads none of them."""
    assert all(hasattr(akinai, name) for name in akinai.__all__)
    assert set(akinai.COMMANDS) <= set(akinai.__all__)
    assert set(akinai.COMMAND_GROUPS) <= set(akinai.__all__)
    groups = {*akinai.COMMAND_GROUPS, *generating_worlds()}
    assert {word for command in COMMANDS for word in command.split()[:1]} == {*akinai.COMMANDS, *groups}
    with pytest.raises(AttributeError, match="no attribute 'rum'"):
        akinai.rum  # noqa: B018 - asked for to be refused
    for name in ("report", "studio", "worlds"):
        assert callable(sys.modules[f"akinai.{name}"])
