"""Checks of answers by name: those of the package, a command, or a function beside `akinai.toml`."""

import importlib.util
import json
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from akinai.core.errors import UnknownName, UsageError
from akinai.learning.roles.tasks import CHECKS, Check, Grade, number_within

COMMAND_TIMEOUT_S = 60.0
"""Seconds that a command may take for one answer."""
REPORT_LIMIT = 2_000
"""Characters of a command's output that a Reflector is shown."""
_FORMS = "or 'number:TOLERANCE', 'command:PROGRAM ...', or a function of (truth, answer) as 'module:function'"


def find_check(name: str) -> Check:
    """The check of answers of this name. UsageError for an unknown one, or one that cannot be loaded."""
    if name in CHECKS:
        return CHECKS[name]
    kind, colon, argument = name.partition(":")
    if kind == "number" and colon:
        return number_within(_tolerance(argument))
    if kind == "command" and colon:
        return CommandCheck(tuple(_command_words(argument)))
    if not colon:
        raise UnknownName("check of answers", name, CHECKS, _FORMS)
    return _load_function(name, kind, argument)


@dataclass(frozen=True)
class CommandCheck:
    """Runs a program for each answer, with {"truth", "answer"} as JSON on its standard input.

    Exit code 0 is right and 1 wrong. A first line that is a number from 0 to 1 is the score; the other lines are the
    report. UsageError for another exit code, or a program that cannot be run or does not end.
    """

    words: tuple[str, ...]
    blocks = True
    """Run in a thread of its own."""

    def __call__(self, truth: str, answer: str) -> Grade:
        document = json.dumps({"truth": truth, "answer": answer}).encode()
        command = shlex.join(self.words)
        try:
            done = subprocess.run(
                self.words, input=document, capture_output=True, timeout=COMMAND_TIMEOUT_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise UsageError(f"the check {command!r} did not answer ({error}); mend it and try again") from error
        if done.returncode not in (0, 1):
            why = " ".join(done.stderr.decode("utf-8", "replace").split())[-300:]
            raise UsageError(f"the check {command!r} ended with code {done.returncode} ({why}); 0 is right and 1 wrong")
        first, _, report = done.stdout.decode("utf-8", "replace").strip().partition("\n")
        try:
            score = float(first)
        except ValueError:
            return Grade(float(done.returncode == 0), f"{first}\n{report}".strip()[:REPORT_LIMIT])
        return Grade(score, report.strip()[:REPORT_LIMIT])


def _command_words(text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"the check 'command:{text}' cannot be read: {error}; close its quotation marks") from error
    if not words:
        raise UsageError("the check 'command:' names no program; give one, such as 'command:python check.py'")
    if shutil.which(words[0]) is None:
        raise UsageError(f"the check 'command:{text}' cannot be run: there is no program {words[0]!r}; check its path")
    return words


def _tolerance(text: str) -> float:
    try:
        tolerance = float(text)
    except ValueError:
        tolerance = -1.0
    if not 0 <= tolerance < 1:
        raise UsageError(f"the check 'number:{text}' wants a relative tolerance from 0 to 1, such as 'number:0.01'")
    return tolerance


def _load_function(name: str, module: str, function: str) -> Check:
    """A user's function, which returns whether an answer is right, a score from 0 to 1, or a `Grade`."""
    try:
        loaded: object = getattr(_import_module(module), function)
    except Exception as error:  # importing runs somebody's code
        why = f"{type(error).__name__}: {error}" if not isinstance(error, ImportError | AttributeError) else error
        raise UsageError(
            f"the check {name!r} cannot be loaded: {why}; put it where Python finds it, or beside akinai.toml"
        ) from error
    if not callable(loaded):
        raise UsageError(f"the check {name!r} is {loaded!r:.60}; give a function of (truth, answer)")

    def check(truth: str, answer: str) -> bool | float | Grade:
        try:
            value: object = loaded(truth, answer)
        except Exception as error:  # somebody's code
            raise UsageError(
                f"the check {name!r} failed on the answer {answer!r:.80}: {type(error).__name__}: {error}"
            ) from error
        if not isinstance(value, bool | int | float | Grade):
            raise UsageError(f"the check {name!r} returned {value!r:.60}; return a bool, a score or a Grade")
        return cast("bool | float | Grade", value)

    return check


def _import_module(name: str) -> Any:
    """The module in a file of the working folder, where `akinai.toml` is; else an installed one."""
    file = Path.cwd() / f"{name.replace('.', '/')}.py"
    if not file.is_file():
        return import_module(name)
    spec = importlib.util.spec_from_file_location(f"akinai_checks_{name.replace('.', '_')}", file)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module
