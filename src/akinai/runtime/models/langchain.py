"""Language models of any provider through LangChain, which only this package imports."""

import asyncio
import hashlib
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from copy import copy
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NoReturn, cast

from akinai.core.canonical import Json
from akinai.core.errors import ContextLimit, ModelError, ToolsRefused, UnknownName, UsageError
from akinai.core.models import FILTERED, TIMEOUT_S, Reply, Request, Tools
from akinai.runtime.config.addresses import checked_address, on_this_machine
from akinai.runtime.models.contract import Contract, terms_of
from akinai.runtime.models.messages import Messages, reply_in
from akinai.runtime.models.rate_limit import MAX_CONCURRENCY, REAL, Clock, RateLimit
from akinai.runtime.models.redact import redact_keys, strike_keys
from akinai.runtime.models.retry import (
    DEFAULT_POLICY,
    MESSAGE_LIMIT,
    RetryPolicy,
    call_with_retries,
    causes_of,
    refusal_of,
)
from akinai.runtime.models.transport import DirectCompletions, certificates, repairing_client

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

Close = Callable[[], Awaitable[None]]

PLACEHOLDER_KEY = "no-key"
"""The key for a server on this machine when the environment has none: the packages require one."""
LABEL_LIMIT = 64
"""Characters of the label that OpenAI accepts."""
EXTRA = "akinai[models]"
OLLAMA = "http://127.0.0.1:11434"
"""The address at which Ollama serves."""
POPULAR = (
    "openai", "anthropic", "ollama", "google_genai", "mistralai", "deepseek", "groq", "xai", "openrouter",
    "azure_openai", "bedrock_converse", "together", "fireworks", "huggingface",
)  # fmt: skip
"""Providers that an error suggests first; those whose packages are installed come before the others."""


@dataclass(frozen=True, slots=True)
class _Provider:
    """Facts about a provider that LangChain does not offer."""

    key: str | None = None
    """The environment variable with the key, where one is needed."""
    addresses: tuple[str, ...] = ()
    """The environment variables from which its package reads an address."""
    label: Callable[[str], Mapping[str, Any]] = lambda _: {}
    """The request options that carry a conversation's label."""
    structured: Callable[[Mapping[str, Json]], Mapping[str, Any]] = lambda _: {}
    """The request options that ask for an object of a JSON Schema."""
    address: str = ""
    """Its address where none is named, if that is on this machine."""
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The options of every request."""


def _response_format(schema: Mapping[str, Json]) -> Mapping[str, Any]:
    """The option in the request body: LangChain's own option raises an exception for a reply that was cut off."""
    named = {"name": "reply", "schema": dict(schema), "strict": False}
    return {"extra_body": {"response_format": {"type": "json_schema", "json_schema": named}}}


_PROVIDERS: Mapping[str, _Provider] = {
    "openai": _Provider(
        "OPENAI_API_KEY",
        ("OPENAI_API_BASE", "OPENAI_BASE_URL"),
        lambda label: {"user": label},
        _response_format,
    ),
    "anthropic": _Provider(
        "ANTHROPIC_API_KEY",
        ("ANTHROPIC_API_URL", "ANTHROPIC_BASE_URL"),
        lambda label: {"extra_body": {"metadata": {"user_id": label}}},
    ),
    "ollama": _Provider(
        None,
        ("OLLAMA_HOST",),
        structured=lambda schema: {"format": dict(schema)},
        address=OLLAMA,
        # An answer without a stream can be repaired. `reasoning` makes LangChain keep thoughts; `_ollama` asks none.
        options={"stream": False, "reasoning": True},
    ),
}


@dataclass(frozen=True, slots=True)
class _ModelConfig:
    """The arguments of `open_model`."""

    provider: str
    model: str
    base_url: str | None
    sampling: Mapping[str, Json]
    timeout_s: float

    @property
    def name(self) -> str:
        return f"{self.provider}:{self.model}"

    @property
    def address(self) -> str:
        """The address of its server; empty for its provider's own."""
        from_environment = (os.environ.get(name) for name in _provider(self.provider).addresses)
        return self.base_url or next(filter(None, from_environment), _provider(self.provider).address)

    @property
    def local(self) -> bool:
        """Whether the model is served on this machine."""
        return on_this_machine(self.address)


def open_model(
    name: str,
    *,
    base_url: str | None = None,
    temperature: float | None = None,
    max_tokens: int | None = None,
    seed: int | None = None,
    timeout_s: float = TIMEOUT_S,
    max_concurrency: int = MAX_CONCURRENCY,
    calls_per_minute: int = 0,
    policy: RetryPolicy = DEFAULT_POLICY,
    clock: Clock = REAL,
) -> "LangChainModel":
    """Open the model that LangChain knows as `name`: "openai:NAME", "anthropic:NAME", "ollama:NAME" or another.

    Open it once and share it among all runs of a process: the limits (0 is none) count all its calls. `timeout_s` is
    for one attempt. Keys come from the environment. UsageError for a missing key or package, an invalid address, and
    options that the provider does not accept; UnknownName for an unknown provider.
    """
    provider, colon, model = name.partition(":")
    if not (colon and provider and model):
        raise UsageError(f"a model is PROVIDER:NAME, such as 'openai:gpt-5-mini' or 'ollama:qwen3', not {name!r:.100}")
    parameters = {"temperature": temperature, "max_tokens": max_tokens, "seed": seed}
    sampling = {key: value for key, value in parameters.items() if value is not None}
    config = _ModelConfig(provider, model, checked_address(base_url), sampling, timeout_s)
    limit = RateLimit(max_concurrency=max_concurrency, per_minute=calls_per_minute, clock=clock)
    contract = Contract(terms_of(config.address, config.name))
    chat, close = _open_chat_model(config, contract)
    return LangChainModel(config, chat, close, contract, policy, limit, clock)


class LangChainModel(AbstractAsyncContextManager["LangChainModel"]):
    """A language model. Use and close it in one event loop."""

    def __init__(
        self,
        config: _ModelConfig,
        chat: "BaseChatModel",
        close: Close,
        contract: Contract,
        policy: RetryPolicy,
        limit: RateLimit,
        clock: Clock,
    ) -> None:
        """Use `open_model` instead."""
        self.name, self.base_url, self.sampling = config.name, config.base_url, config.sampling
        self._timeout_s = config.timeout_s
        self._chat, self._close = chat, close
        self._policy, self._limit, self._clock = policy, limit, clock
        self._bound: dict[bytes, Any] = {}
        self._contract = contract
        # State of one conversation:
        self._label: Mapping[str, Any] = {}
        self._messages = Messages()

    @property
    def card(self) -> dict[str, Json]:
        """Its part of a card: name, address and sampling, with which `open_model` opens it again."""
        return {"name": self.name, "base_url": self.base_url, "sampling": dict(self.sampling)}

    def labelled(self, label: str) -> "LangChainModel":
        """The same model for one conversation. Its requests carry the label, which helps a provider's prompt cache."""
        if len(label) > LABEL_LIMIT:
            label = f"{label[:31]}-{hashlib.sha256(label.encode()).hexdigest()[:32]}"
        model = copy(self)
        model._label = _provider(self.name.partition(":")[0]).label(label)
        model._messages = Messages()
        return model

    @property
    def concessions(self) -> tuple[str, ...]:
        """What its server refused and what is sent in place of it, a sentence each."""
        return self._contract.sentences

    async def reply(self, request: Request) -> Reply:
        """The answer to one request, with retries. ModelError when there is none; ContextLimit; ToolsRefused."""
        if request.tools and self._contract.terms.no_tools:
            self._refuse_tools(self._contract.terms.no_tools)
        chat, messages = self._with_tools(request.tools), self._messages.convert(request.messages)
        options = {**_provider(self.name.partition(":")[0]).options, **self._label, **self._structured(request)}

        async def attempt() -> Reply:
            try:
                return reply_in(await chat.ainvoke(messages, **options))
            except Exception as error:  # a provider's package may raise anything
                refusal = refusal_of(error)
                if refusal is None or not refusal.of_filter or refusal.of_context:
                    raise
            self._contract.remark("a content filter of the server refused prompts; each counts as an unreadable reply")
            return Reply("", finish=FILTERED)

        try:
            success = await call_with_retries(
                self.name,
                attempt,
                timeout_s=self._timeout_s,
                policy=self._policy,
                limit=self._limit,
                clock=self._clock,
                past=self._contract.terms.past,
            )
        except ContextLimit:
            self._contract.remark("the server refused prompts as too long; the oldest part was dropped each time")
            raise
        except ToolsRefused as error:
            if not request.tools:
                raise ModelError(str(error)) from None
            self._refuse_tools(str(error))
        return replace(_without_keys(success.value), latency_s=success.latency_s, tries=success.attempts)

    def _refuse_tools(self, why: str) -> NoReturn:
        """Tell the agent that the server takes no tools, and the card; all that is opened later knows it too."""
        self._contract.terms.no_tools = why
        self._contract.remark(f"the server takes no tools, and actions are written as JSON instead: {why}")
        raise ToolsRefused(why)

    def _structured(self, request: Request) -> Mapping[str, Any]:
        """The options that ask for an object of the request's schema."""
        if request.schema is None:
            return {}
        options = dict(_provider(self.name.partition(":")[0]).structured(request.schema))
        if "extra_body" in options:
            options["extra_body"] = {**(getattr(self._chat, "extra_body", None) or {}), **options["extra_body"]}
        return options

    async def close(self) -> None:
        """Close its connections; calls under way fail."""
        await self._close()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _with_tools(self, tools: Tools) -> Any:
        """The chat model with these tools bound; each set of tools is bound once."""
        if tools.key not in self._bound:
            try:
                bound = self._chat.bind_tools([dict(tool) for tool in tools]) if tools else self._chat
            except NotImplementedError as error:
                raise UsageError(
                    f"LangChain offers no tools to {self.name}; play it with an agent that writes its actions as JSON"
                ) from error
            self._bound[tools.key] = bound
        return self._bound[tools.key]


def _without_keys(reply: Reply) -> Reply:
    """The reply without the values of keys that its server echoes."""
    fields = reply.to_json()
    struck = strike_keys(fields)
    return reply if struck == fields else Reply.from_json(cast("Mapping[str, Any]", struck))


def _open_chat_model(config: _ModelConfig, contract: Contract) -> "tuple[BaseChatModel, Close]":
    """A chat model of LangChain that retries nothing, and the function that closes its connections."""
    try:
        from langchain.chat_models import init_chat_model
    except ImportError as error:
        raise UsageError(f"{config.name!r} needs LangChain: pip install '{EXTRA}'") from error
    _expect_provider(config)
    _expect_key(config)
    try:
        options, connect = _OPTIONS.get(config.provider, _other_provider)(config, contract)
        init: Callable[..., Any] = init_chat_model  # its overloads know no options as a table
        chat: BaseChatModel = init(config.model, model_provider=config.provider, **options)
        if "seed" in config.sampling and "seed" not in type(chat).model_fields:
            raise UsageError(f"{config.provider} takes no seed; leave the model's seed out")
        return chat, connect(chat)
    except ImportError as error:
        if any("socks" in str(cause).lower() for cause in causes_of(error)):
            raise UsageError(
                f"{config.name!r} is behind a SOCKS proxy, which the environment names; that needs the package "
                "socksio: pip install 'akinai[socks]', or unset ALL_PROXY"
            ) from error
        package = f"'{EXTRA}'" if config.provider in _PROVIDERS else f"langchain-{config.provider.replace('_', '-')}"
        raise UsageError(f"{config.name!r} needs a package that is not installed: pip install {package}") from error
    except UsageError:
        raise
    except Exception as error:  # a provider's package may raise anything
        message = redact_keys(" ".join(str(error).split()))[:MESSAGE_LIMIT]
        raise UsageError(
            f"{config.name!r} cannot be opened; its package says: {message}"
        ) from None  # it may hold a key


Connect = Callable[[Any], Close]
"""Gives a chat model its own HTTP client, or finds the one that it has; returns what closes it."""


def _openai(config: _ModelConfig, contract: Contract) -> tuple[dict[str, Any], Connect]:
    import langchain_openai
    import openai

    http = repairing_client(openai.DefaultAsyncHttpxClient, contract)(trust_env=not config.local)
    sync = openai.DefaultHttpxClient
    unused = sync(
        trust_env=not config.local, verify=certificates(sync, trust_env=not config.local)
    )  # or the package opens one with the proxies of its own
    options: dict[str, Any] = {
        "timeout": config.timeout_s,
        "max_retries": 0,
        "http_async_client": http,
        "http_client": unused,
        **config.sampling,
    }
    if "http_socket_options" in langchain_openai.ChatOpenAI.model_fields:
        options["http_socket_options"] = ()  # or it warns that it does not look for a proxy, which ours does
    if config.base_url:
        # Other servers only offer chat completions, and many only know the older name of the limit.
        limit = options.pop("max_tokens", None)
        options |= {"base_url": config.base_url, "use_responses_api": False}
        options |= {"extra_body": {"max_tokens": limit}} if limit else {}

    def connect(chat: Any) -> Close:
        chat.async_client = DirectCompletions(chat.async_client)

        async def close() -> None:
            unused.close()
            await http.aclose()

        return close

    return options | _placeholder(config), connect


def _anthropic(config: _ModelConfig, contract: Contract) -> tuple[dict[str, Any], Connect]:
    import anthropic

    if "seed" in config.sampling:
        raise UsageError("anthropic takes no seed; leave the model's seed out")
    options: dict[str, Any] = {"timeout": config.timeout_s, "max_retries": 0, **config.sampling}
    if config.base_url:
        options["base_url"] = config.base_url.removesuffix("/v1")

    def connect(chat: Any) -> Close:
        client = anthropic.DefaultAsyncHttpxClient
        # The package's own client reads the proxies of the environment, whatever it is told.
        base: Any = client.__mro__[1] if config.local else client
        http: Any = repairing_client(base, contract)(trust_env=not config.local, follow_redirects=True)
        # The package shares one client among all models of all event loops, and has no argument for another.
        vars(chat)["_async_client"] = anthropic.AsyncAnthropic(**chat._client_params, http_client=http)
        return http.aclose

    return options | _placeholder(config), connect


def _ollama(config: _ModelConfig, contract: Contract) -> tuple[dict[str, Any], Connect]:
    options: dict[str, Any] = {
        "num_predict" if name == "max_tokens" else name: v for name, v in config.sampling.items()
    }
    options["sync_client_kwargs"] = {"trust_env": not config.local}
    options["async_client_kwargs"] = {"timeout": config.timeout_s, "trust_env": not config.local}
    if config.base_url:
        options["base_url"] = config.base_url.removesuffix("/v1")

    def connect(chat: Any) -> Close:
        import httpx

        own = chat._async_client._client
        http = repairing_client(httpx.AsyncClient, contract)(
            base_url=own.base_url, headers=own.headers, timeout=own.timeout, follow_redirects=True,
            trust_env=not config.local,
        )  # fmt: skip
        client = chat._async_client
        client._client, asked = http, client.chat

        async def ask(*, think: object = None, **parameters: Any) -> Any:
            return await asked(**parameters)

        client.chat = ask

        async def close() -> None:
            await asyncio.gather(own.aclose(), http.aclose())

        return close

    return options, connect


def _other_provider(config: _ModelConfig, _: Contract) -> tuple[dict[str, Any], Connect]:
    options: dict[str, Any] = {"timeout": config.timeout_s, "max_retries": 0, **config.sampling}
    if config.base_url:
        options["base_url"] = config.base_url
    return options, lambda _: _close_nothing


_OPTIONS: Mapping[str, Callable[[_ModelConfig, Contract], tuple[dict[str, Any], Connect]]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "ollama": _ollama,
}


async def _close_nothing() -> None:
    """Do nothing, for a package that manages its connections itself."""


def _provider(name: str) -> _Provider:
    return _PROVIDERS.get(name, _Provider())


def _placeholder(config: _ModelConfig) -> dict[str, str]:
    key = _provider(config.provider).key
    return {"api_key": PLACEHOLDER_KEY} if config.local and key and not os.environ.get(key) else {}


def _expect_provider(config: _ModelConfig) -> None:
    """Raise UnknownName unless LangChain knows the provider."""
    from langchain.chat_models import base

    providers: Mapping[str, Any] = getattr(base, "_BUILTIN_PROVIDERS", _PROVIDERS)
    if config.provider not in providers:
        popular = [name for name in POPULAR if name in providers]
        first = sorted(popular, key=lambda name: not _has_package(providers[name]))
        raise UnknownName("provider of models", config.provider, providers, "a model is PROVIDER:NAME", first=first)


def _has_package(provider: Any) -> bool:
    """Whether the package of a provider, the first word of its entry in LangChain's table, is installed."""
    return isinstance(provider, tuple) and find_spec(str(cast("tuple[object, ...]", provider)[0])) is not None


def _expect_key(config: _ModelConfig) -> None:
    key = _provider(config.provider).key
    value = os.environ.get(key, "") if key else ""
    if not (value.isprintable() and value.isascii()) or value != value.strip():
        raise UsageError(
            f"the key in {key} begins or ends with a space, or holds a line break, a control character or a letter "
            "beyond ASCII, which no request can carry; set it again without"
        )
    if key and not os.environ.get(key) and not config.local:
        where = f"at {config.base_url}" if config.base_url else "at its provider"
        raise UsageError(
            f"{config.name!r} {where} needs a key and {key} is not set; set it in the environment"
            + (" (to any text where the server asks for none)" if config.base_url else "")
        )
