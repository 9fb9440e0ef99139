"""Finds embedders by name: this package's own, which need no network, and LangChain's."""

import os
from typing import Any

from akinai.core.errors import UnknownName, UsageError
from akinai.learning.search.embedders import EmbedderFitter, LangChainVectors, TfidfSvd, WordVectors
from akinai.retrieval import Embedder, HashedTermVectors, Tokenizer, tokenize
from akinai.runtime.config.addresses import checked_address, on_this_machine
from akinai.runtime.models.langchain import EXTRA, PLACEHOLDER_KEY
from akinai.runtime.models.redact import redact_keys
from akinai.runtime.models.retry import MESSAGE_LIMIT

HASHED, SVD, MEANING = "hashed", "svd", "meaning"
_ADDRESSES = ("OPENAI_API_BASE", "OPENAI_BASE_URL")


def find_embedder(
    name: str, *, base_url: str | None = None, tokenizer: Tokenizer = tokenize
) -> Embedder | EmbedderFitter:
    """The embedder of a name: "hashed", "svd" (extra `learn`), "meaning" (extra `meaning`), or "PROVIDER:NAME" of
    LangChain, such as "openai:text-embedding-3-small".

    UsageError for an embedder that cannot be opened. Keys come from the environment; nothing is embedded yet.
    """
    if name == HASHED:
        return HashedTermVectors(tokenizer=tokenizer)
    if name == SVD:
        return TfidfSvd(tokenizer=tokenizer)
    if name == MEANING:
        return WordVectors()
    provider, colon, model = name.partition(":")
    if not (colon and provider and model):
        raise UnknownName(
            "embedder", name, (HASHED, SVD, MEANING), "or PROVIDER:NAME, such as 'openai:text-embedding-3-small'"
        )
    return LangChainVectors(_open(name, provider, checked_address(base_url)), name)


def _open(name: str, provider: str, base_url: str | None) -> Any:
    try:
        from langchain.embeddings import init_embeddings
    except ImportError as error:
        raise UsageError(f"the embedder {name!r} needs LangChain: pip install '{EXTRA}'") from error
    options: dict[str, Any] = {"base_url": base_url} if base_url else {}
    if provider == "openai":
        # Servers like OpenAI's take texts, not its tokens, for which its package would download a tokenizer.
        options["check_embedding_ctx_length"] = False
        address = base_url or next(filter(None, map(os.environ.get, _ADDRESSES)), "")
        if not os.environ.get("OPENAI_API_KEY") and on_this_machine(address):
            options["api_key"] = PLACEHOLDER_KEY
    try:
        return init_embeddings(name, **options)
    except ImportError as error:
        package = f"langchain-{provider.replace('_', '-')}"
        raise UsageError(
            f"the embedder {name!r} needs a package that is not installed: pip install {package}"
        ) from error
    except Exception as error:  # a provider's package may raise anything
        message = redact_keys(" ".join(str(error).split()))[:MESSAGE_LIMIT]
        raise UsageError(f"the embedder {name!r} cannot be opened; its package says: {message}") from None
