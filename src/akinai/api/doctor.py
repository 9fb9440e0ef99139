"""Checks of this installation: versions, extras, the store, models, a browser."""

import os
import platform
import re
import shlex
import socket
import webbrowser
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Literal, Unpack, cast
from urllib.parse import urlsplit

from akinai import worlds
from akinai.core.canonical import Json, JsonRecord
from akinai.core.errors import AkinaiError, UsageError
from akinai.core.presentation.words import counted
from akinai.core.untrusted.spelling import without_password
from akinai.runtime.config.addresses import StoreRef, in_store, resolve_store
from akinai.runtime.config.calls import with_options
from akinai.runtime.options import WINDOW, DoctorOptions
from akinai.runtime.runs.unreadable import ENOUGH_TOKENS
from akinai.runtime.sync import wait

MODELS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "openai": ("OPENAI_API_KEY", ("OPENAI_BASE_URL", "OPENAI_API_BASE")),
    "anthropic": ("ANTHROPIC_API_KEY", ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_URL")),
    "ollama": ("", ("OLLAMA_HOST",)),
}
"""By provider, the environment variables of its key and of its address."""
OLLAMA = "http://127.0.0.1:11434"
PATIENCE_S = 1.0
NEXT = "next"
"""The name of the check whose value is what to type next."""
FOR_DEVELOPERS = {"dev", "docs"}
State = Literal["ok", "missing", "broken"]


@dataclass(frozen=True, slots=True)
class Check(JsonRecord):
    """The state of one part of the installation."""

    kind: str
    name: str
    state: State
    about: str
    """The finding; for what is missing or broken, also the remedy."""
    value: Json = None
    """The finding as a number or a name, for programs, where it is one."""


@with_options(DoctorOptions)
def doctor(**options: Unpack[DoctorOptions]) -> list[Check]:
    """Look at this installation: versions, extras, the store, models and a browser; or, with `model`, at that model.

    No model is asked but the one that is named, and no key is shown. Only the addresses of models that the environment
    sets are connected to, and that of Ollama on this machine. Nothing is written: a store that does not exist yet is
    `missing`.

    A named model is asked five small questions: the checks say what works with it and its server, which agent to play
    with, the tokens a second, the window, what the server refused, and what to type next. ModelError where its server
    cannot be reached or refuses the first question.
    """
    if options["model"] is not None:
        return _examined(options)
    store = options["store"]
    return [*_versions(), *_extras(), _store(store), *map(_model, MODELS), *_servers(store), _browser()]


def _examined(options: DoctorOptions) -> list[Check]:
    """What five questions to a model show."""
    from akinai.runtime.models.examination import examine

    name = str(options["model"])
    result = wait(
        examine(
            name,
            base_url=options["base_url"],
            temperature=options["temperature"],
            reply_tokens=options["reply_tokens"],
            timeout_s=options["timeout"],
        )
    )
    checks = [
        Check("model", answer.question, "ok" if answer.ok else "missing", answer.about) for answer in result.answers
    ]
    speed, window = result.tokens_a_second, result.window
    told = "unknown: the server does not say" if speed is None else f"{speed:,.1f} tokens of replies a second"
    checks.append(Check("server", "speed", "missing" if speed is None else "ok", told, speed))
    told = "unknown: the server does not say" if window is None else f"{window:,} tokens"
    checks.append(Check("server", "window", "missing" if window is None else "ok", told, window))
    refused: list[Json] = [*result.refused]
    checks.append(Check("server", "refused", "ok", "; ".join(result.refused) or "nothing", refused))
    if not result.agent:
        return [*checks, *_no_agent(options, cut=result.cut)]
    how = "it calls tools" if result.agent == "chat" else "it writes actions as JSON, and calls no tools"
    checks.append(Check("advice", "agent", "ok", f"--agent {result.agent}: {how}", result.agent))
    flags = _flags(options, result.agent, window, cut=result.cut)
    command = shlex.join(["akinai", "run", _first_world(), *flags, "--days", "3", "--name", "first"])
    shown = shlex.join(["akinai", "show", "first-1", "--calls"])
    return [*checks, Check("advice", NEXT, "ok", f"{command}; then {shown}", [command, shown])]


def _first_world() -> str:
    """The world to try first: one with days, where there is one."""
    loaded = [worlds.load(name) for name in worlds.names()]
    daily = [world.name for world in loaded if "days" in world.setup.model_fields]
    return (daily or [world.name for world in loaded])[0].partition("@")[0]


def _no_agent(options: DoctorOptions, *, cut: bool) -> Iterator[Check]:
    """The advice for a model in whose replies no action is read."""
    more = cut and (options["reply_tokens"] or 0) < ENOUGH_TOKENS
    if not more:
        about = "no action is read from this model, by tools or by JSON: try another, or the tool parser of its server"
        yield Check("advice", "agent", "broken", about)
        return
    yield Check("advice", "agent", "broken", "no action is read: its replies are cut; let them be longer")
    command = shlex.join(["akinai", "doctor", *_flags(options, "", None, cut=True)])
    yield Check("advice", NEXT, "ok", command, [command])


def _flags(options: DoctorOptions, agent: str, window: int | None, *, cut: bool) -> list[str]:
    """The flags with which a run asks the model as this examination did, and what it showed to be needed."""
    limit = options["reply_tokens"]
    if cut:
        limit = max(ENOUGH_TOKENS, 2 * (limit or 0))
    largest = None if window is None else max(2_000, window - min(limit or window // 5, window // 2))
    flags = {
        "--agent": agent or None,
        "--model": options["model"],
        "--base-url": options["base_url"],
        "--temperature": options["temperature"],
        "--reply-tokens": limit,
        "--window": largest if largest is not None and largest < WINDOW else None,
    }
    return [word for flag, value in flags.items() if value is not None for word in (flag, str(value))]


def _versions() -> Iterator[Check]:
    yield Check("version", "akinai", "ok", version("akinai"))
    yield Check("version", "python", "ok", f"{platform.python_version()} on {platform.system()} {platform.machine()}")


def _extras() -> Iterator[Check]:
    needed: dict[str, list[str]] = {}
    for line in requires("akinai") or ():
        match = re.match(r"([\w.-]+).*extra == ['\"]([\w.-]+)['\"]", line)
        if match and match[2] not in FOR_DEVELOPERS and match[1] != "akinai":
            needed.setdefault(match[2], []).append(match[1])
    for extra, packages in sorted(needed.items()):
        absent = [name for name in dict.fromkeys(packages) if not _installed(name)]
        if absent:
            yield Check("extra", extra, "missing", f'pip install "akinai[{extra}]" brings {", ".join(absent)}')
        else:
            yield Check("extra", extra, "ok", ", ".join(f"{name} {version(name)}" for name in dict.fromkeys(packages)))


def _installed(package: str) -> bool:
    try:
        return bool(version(package))
    except PackageNotFoundError:
        return False


def _store(store: StoreRef) -> Check:
    address = ""
    try:
        books = resolve_store(store)
        address = without_password(books) if isinstance(books, str) else "an open store"
        return Check("store", address, "ok", counted(len(in_store(books, lambda opened: opened.runs())), "run"))
    except UsageError as error:
        return Check("store", address, "missing", str(error))
    except AkinaiError as error:
        return Check("store", address, "broken", str(error))


def _servers(store: StoreRef) -> Iterator[Check]:
    """What the servers of models refused in the runs of the store, from their cards."""
    from akinai.runtime.models.contract import SERVERS

    try:
        headers = in_store(store, lambda books: books.runs())
    except AkinaiError:
        return  # told by the check of the store
    refused: dict[str, dict[str, None]] = {}
    for header in headers:
        for model, sentences in cast("Mapping[str, Sequence[str]]", header.card.get(SERVERS) or {}).items():
            refused.setdefault(model, {}).update(dict.fromkeys(sentences))
    for model, sentences in sorted(refused.items()):
        yield Check("server", model, "ok", "; ".join(sentences))


def _model(provider: str) -> Check:
    key, names = MODELS[provider]
    address = next((os.environ[name] for name in names if os.environ.get(name)), "" if key else OLLAMA)
    keyed = f"{key} is {'set' if os.environ.get(key) else 'not set'}" if key else ""
    if not address:
        return Check("models", provider, "ok" if os.environ.get(key) else "missing", keyed)
    reached = _reachable(address if "://" in address else f"http://{address}")
    where = f"{address} {'answers' if reached else 'does not answer'}"
    return Check("models", provider, "ok" if reached else "missing", ", ".join(filter(None, [where, keyed])))


def _reachable(address: str) -> bool:
    """Whether something listens at an address."""
    try:
        parts = urlsplit(address)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        with socket.create_connection((parts.hostname or "", port), timeout=PATIENCE_S):
            return True
    except (OSError, ValueError):
        return False


def _browser() -> Check:
    try:
        return Check("browser", getattr(webbrowser.get(), "name", "") or "default", "ok", "akinai studio opens it")
    except webbrowser.Error:
        return Check("browser", "none", "missing", "akinai studio --no-browser prints the address to open elsewhere")
