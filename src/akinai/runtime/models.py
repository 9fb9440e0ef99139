"""Models: language models of any provider, through LangChain, which lives in this file and nowhere else."""

import hashlib
import json
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, assert_never, cast

from akinai.core.canonical import Json, bad_text, canonical, keepable
from akinai.core.errors import UnknownName, UsageError
from akinai.core.models import Message, Reply, Request, ToolCall, Tools, Usage
from akinai.runtime.addresses import checked_address, on_this_machine
from akinai.runtime.connections import Direct, reading
from akinai.runtime.keys import without_keys
from akinai.runtime.pacing import REAL, Clock, Pace
from akinai.runtime.tries import LONGEST_SENTENCE, PATIENT, Patience, persist
from akinai.runtime.unread import unwrapped, wrapped

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage

Close = Callable[[], Awaitable[None]]

PLACEHOLDER_KEY = "no-key"
"""What a server on this machine is sent where the environment holds no key: the packages insist on one."""
AT_ONCE = 64
"""Calls of a model under way at once, unless it is said otherwise."""

TIMEOUT_S = 180.0
"""Seconds from a request to the last byte of its answer, unless it is said otherwise."""
LONGEST_LABEL = 64
"""Characters that OpenAI takes of whom a request is for."""
EXTRA = "akinai[models]"


@dataclass(frozen=True, slots=True)
class _Provider:
    """What is known of a provider beyond what LangChain knows."""

    key: str | None = None
    """The variable of the environment that holds the key, where it needs one."""
    addresses: tuple[str, ...] = ()
    """The variables that its package reads an address from."""
    label: Callable[[str], Mapping[str, Any]] = lambda _: {}
    """How a request says whom it is for."""


_PROVIDERS: Mapping[str, _Provider] = {
    "openai": _Provider("OPENAI_API_KEY", ("OPENAI_API_BASE", "OPENAI_BASE_URL"), lambda label: {"user": label}),
    "anthropic": _Provider(
        "ANTHROPIC_API_KEY",
        ("ANTHROPIC_API_URL", "ANTHROPIC_BASE_URL"),
        lambda label: {"extra_body": {"metadata": {"user_id": label}}},
    ),
    "ollama": _Provider(None, ("OLLAMA_HOST",)),
}


@dataclass(frozen=True, slots=True)
class _Asked:
    """What `open_model` was asked for."""

    provider: str
    model: str
    base_url: str | None
    sampling: Mapping[str, Json]
    timeout_s: float

    @property
    def name(self) -> str:
        return f"{self.provider}:{self.model}"

    @property
    def local(self) -> bool:
        """Whether the model is served on this machine."""
        from_environment = (os.environ.get(name) for name in _known(self.provider).addresses)
        return on_this_machine(self.base_url or next(filter(None, from_environment), ""))


def open_model(
    name: str,
    *,
    base_url: str | None = None,
    temperature: float | None = None,
    max_tokens: int | None = None,
    seed: int | None = None,
    timeout_s: float = TIMEOUT_S,
    max_concurrency: int = AT_ONCE,
    calls_per_minute: int = 0,
    patience: Patience = PATIENT,
    clock: Clock = REAL,
) -> "LangChainModel":
    """The model that LangChain knows as `name`: "openai:NAME", "anthropic:NAME", "ollama:NAME" and others.

    One is opened for each name and address in a process and shared by all its runs: the limits (0 is none) count the
    calls of all. `timeout_s` is for one try. Keys come from the environment. UsageError for a missing key or package,
    an address that is none and what the provider does not take; UnknownName for an unknown provider.
    """
    provider, colon, model = name.partition(":")
    if not (colon and provider and model):
        raise UsageError(f"a model is PROVIDER:NAME, such as 'openai:gpt-5-mini' or 'ollama:qwen3', not {name!r:.100}")
    given = {"temperature": temperature, "max_tokens": max_tokens, "seed": seed}
    sampling = {key: value for key, value in given.items() if value is not None}
    asked = _Asked(provider, model, checked_address(base_url), sampling, timeout_s)
    pace = Pace(at_once=max_concurrency, per_minute=calls_per_minute, clock=clock)
    chat, close = _opened(asked)
    return LangChainModel(asked, chat, close, patience, pace, clock)


class LangChainModel(AbstractAsyncContextManager["LangChainModel"]):
    """A language model. It belongs to the event loop of its first call, and is closed there."""

    def __init__(
        self, asked: _Asked, chat: "BaseChatModel", close: Close, patience: Patience, pace: Pace, clock: Clock
    ) -> None:
        """Made by `open_model`."""
        self.name, self.base_url, self.sampling = asked.name, asked.base_url, asked.sampling
        self._timeout_s = asked.timeout_s
        self._chat, self._close = chat, close
        self._patience, self._pace, self._clock = patience, pace, clock
        self._taught: dict[bytes, Any] = {}
        # Of one conversation.
        self._label: Mapping[str, Any] = {}
        self._words = _Words()

    @property
    def card(self) -> dict[str, Json]:
        """What a run card says of it; `open_model(card["name"], base_url=card["base_url"], **card["sampling"])`."""
        return {"name": self.name, "base_url": self.base_url, "sampling": dict(self.sampling)}

    def labelled(self, label: str) -> "LangChainModel":
        """The same model for one conversation: providers that ask whom a request is for are told the label.

        They find by it what they have read of the conversation before.
        """
        if len(label) > LONGEST_LABEL:
            label = f"{label[:31]}-{hashlib.sha256(label.encode()).hexdigest()[:32]}"
        one = copy(self)
        one._label = _known(self.name.partition(":")[0]).label(label)
        one._words = _Words()
        return one

    async def reply(self, request: Request) -> Reply:
        """The answer to one request, after as many tries as it takes. ModelError when there is none."""
        chat, messages = self._with_tools(request.tools), self._words.of(request.messages)

        async def attempt() -> Reply:
            return _reply(await chat.ainvoke(messages, **self._label))

        tried = await persist(
            self.name,
            attempt,
            timeout_s=self._timeout_s,
            patience=self._patience,
            pace=self._pace,
            clock=self._clock,
        )
        return replace(tried.value, latency_s=tried.latency_s, tries=tried.tries)

    async def close(self) -> None:
        """Close its connections; calls under way fail."""
        await self._close()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _with_tools(self, tools: Tools) -> Any:
        """The chat model with its tools; LangChain is told the same ones once."""
        if tools.key not in self._taught:
            try:
                taught = self._chat.bind_tools([dict(tool) for tool in tools]) if tools else self._chat
            except NotImplementedError as error:
                raise UsageError(
                    f"LangChain offers no tools to {self.name}; play it with an agent that writes its actions as JSON"
                ) from error
            self._taught[tools.key] = taught
        return self._taught[tools.key]


def _opened(asked: _Asked) -> "tuple[BaseChatModel, Close]":
    """A chat model of LangChain that retries nothing, and what closes its connections."""
    try:
        from langchain.chat_models import init_chat_model
    except ImportError as error:
        raise UsageError(f"{asked.name!r} needs LangChain: pip install '{EXTRA}'") from error
    _expect_known(asked)
    _expect_key(asked)
    try:
        options, connect = _OPTIONS.get(asked.provider, _others)(asked)
        chat = init_chat_model(asked.model, model_provider=asked.provider, **options)
    except ImportError as error:
        package = f"'{EXTRA}'" if asked.provider in _PROVIDERS else f"langchain-{asked.provider.replace('_', '-')}"
        raise UsageError(f"{asked.name!r} needs a package that is not installed: pip install {package}") from error
    except UsageError:
        raise
    except Exception as error:
        said = without_keys(" ".join(str(error).split()))[:LONGEST_SENTENCE]
        raise UsageError(f"{asked.name!r} cannot be opened; its package says: {said}") from None  # it may hold a key
    if "seed" in asked.sampling and "seed" not in type(chat).model_fields:
        raise UsageError(f"{asked.provider} takes no seed; leave the model's seed out")
    return chat, connect(chat)


Connect = Callable[[Any], Close]
"""Gives a chat model connections of its own, or finds those that it has."""


def _openai(asked: _Asked) -> tuple[dict[str, Any], Connect]:
    import langchain_openai
    import openai

    http = reading(openai.DefaultAsyncHttpxClient)(trust_env=not asked.local)
    options: dict[str, Any] = {
        "timeout": asked.timeout_s,
        "max_retries": 0,
        "http_async_client": http,
        **asked.sampling,
    }
    if "http_socket_options" in langchain_openai.ChatOpenAI.model_fields:
        options["http_socket_options"] = ()  # or it warns that it does not look for a proxy, which ours does
    if asked.base_url:
        # Other servers speak chat completions alone, and many know the older name of the limit alone.
        limit = options.pop("max_tokens", None)
        options |= {"base_url": asked.base_url, "use_responses_api": False}
        options |= {"extra_body": {"max_tokens": limit}} if limit else {}

    def connect(chat: Any) -> Close:
        chat.async_client = Direct(chat.async_client)
        return http.aclose

    return options | _placeholder(asked), connect


def _anthropic(asked: _Asked) -> tuple[dict[str, Any], Connect]:
    import anthropic

    if "seed" in asked.sampling:
        raise UsageError("anthropic takes no seed; leave the model's seed out")
    options: dict[str, Any] = {"timeout": asked.timeout_s, "max_retries": 0, **asked.sampling}
    if asked.base_url:
        options["base_url"] = asked.base_url.removesuffix("/v1")

    def connect(chat: Any) -> Close:
        http = reading(anthropic.DefaultAsyncHttpxClient)(trust_env=not asked.local)
        # The package shares one client among all models of all event loops, and has no argument for another.
        vars(chat)["_async_client"] = chat._async_client.copy(http_client=http)
        return http.aclose

    return options | _placeholder(asked), connect


def _ollama(asked: _Asked) -> tuple[dict[str, Any], Connect]:
    options: dict[str, Any] = {"num_predict" if name == "max_tokens" else name: v for name, v in asked.sampling.items()}
    options["async_client_kwargs"] = {"timeout": asked.timeout_s, "trust_env": not asked.local}
    if asked.base_url:
        options["base_url"] = asked.base_url.removesuffix("/v1")
    return options, lambda chat: chat._async_client._client.aclose


def _others(asked: _Asked) -> tuple[dict[str, Any], Connect]:
    options: dict[str, Any] = {"timeout": asked.timeout_s, "max_retries": 0, **asked.sampling}
    if asked.base_url:
        options["base_url"] = asked.base_url
    return options, lambda _: _nothing


_OPTIONS: Mapping[str, Callable[[_Asked], tuple[dict[str, Any], Connect]]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "ollama": _ollama,
}


async def _nothing() -> None:
    """What closes a package whose connections are its own business."""


def _known(provider: str) -> _Provider:
    return _PROVIDERS.get(provider, _Provider())


def _placeholder(asked: _Asked) -> dict[str, str]:
    key = _known(asked.provider).key
    return {"api_key": PLACEHOLDER_KEY} if asked.local and key and not os.environ.get(key) else {}


def _expect_known(asked: _Asked) -> None:
    """UnknownName unless LangChain knows the provider."""
    from langchain.chat_models import base

    known: Iterable[str] = getattr(base, "_BUILTIN_PROVIDERS", _PROVIDERS)
    if asked.provider not in known:
        raise UnknownName("provider of models", asked.provider, known, "a model is PROVIDER:NAME")


def _expect_key(asked: _Asked) -> None:
    key = _known(asked.provider).key
    if key and not os.environ.get(key) and not asked.local:
        where = f"at {asked.base_url}" if asked.base_url else "at its provider"
        raise UsageError(
            f"{asked.name!r} {where} needs a key and {key} is not set; set it in the environment"
            + (" (to any text where the server asks for none)" if asked.base_url else "")
        )


class _Words:
    """A conversation in LangChain's words. Where a request goes on from the one before, only the end is turned."""

    def __init__(self) -> None:
        self._before: tuple[Message, ...] = ()
        self._turned: list[BaseMessage] = []

    def of(self, messages: tuple[Message, ...]) -> "list[BaseMessage]":
        """The messages. What the system says behind others a user says, since few servers take it there."""
        from langchain_core.messages import SystemMessage

        begin = len(self._before)
        turned = [*self._turned] if messages[:begin] == self._before else []
        for message in messages[len(turned) :]:
            leads = not turned or isinstance(turned[-1], SystemMessage)
            system = message.speaker == "system" and leads
            turned.append(SystemMessage(keepable(message.text)) if system else _turned(message))
        self._before, self._turned = messages, turned
        return [*turned]


def _turned(message: Message) -> "BaseMessage":
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

    text = keepable(message.text)
    match message.speaker:
        case "system" | "user":
            return HumanMessage(text)
        case "assistant":
            calls = [{"type": "tool_call", "id": one.id, "name": one.name, "args": _args(one)} for one in message.calls]
            return AIMessage(text, tool_calls=calls)
        case "tool":
            return ToolMessage(text, tool_call_id=message.call_id)
        case _:
            assert_never(message.speaker)


def _args(call: ToolCall) -> dict[str, Any]:
    args = wrapped(call.arguments)
    text = canonical(args)
    return args if bad_text(text) is None else json.loads(keepable(text))


def _reply(message: "AIMessage") -> Reply:
    """What LangChain heard, in our words."""
    told = message.response_metadata
    finish = told.get("finish_reason") or told.get("stop_reason") or told.get("done_reason")
    return Reply(
        text=str(message.text) or message.additional_kwargs.get("refusal") or "",
        calls=tuple(_calls([*message.tool_calls, *message.invalid_tool_calls])),
        usage=_usage(message),
        model=str(told.get("model_name") or told.get("model") or ""),
        finish=str(finish or ""),
    )


def _calls(raw_calls: Sequence[Any]) -> Iterable[ToolCall]:
    """The calls, each with an id of its own: some servers give none, or all the same."""
    taken: set[str] = set()
    for number, raw in enumerate(raw_calls, 1):
        id = raw.get("id") or ""
        if not id or id in taken:
            id = f"{id or 'call'}_{number}"
        taken.add(id)
        yield ToolCall(id, raw.get("name") or "", unwrapped(raw.get("args")))


def _usage(message: "AIMessage") -> Usage:
    counted = message.usage_metadata
    if counted is None:
        return Usage()
    details = cast("dict[str, int | None]", counted.get("input_token_details") or {})
    # A priority or flex tier puts its name before the word.
    cached = sum(count or 0 for name, count in details.items() if name.endswith("cache_read"))
    return Usage(counted["input_tokens"], counted["output_tokens"], cached)
