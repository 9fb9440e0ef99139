"""Learner settings: the table `[learn]` of `akinai.toml`.

[learn]
epochs = 2
bullets_at = "system"
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, Field, ValidationError

from akinai.learning.data_sets import DataSet
from akinai.learning.loop.retriever import PlaybookRetriever
from akinai.learning.loop.state import LoopConfig
from akinai.learning.playbook.bullets import Playbook
from akinai.learning.playbook.file import PlaybookFile
from akinai.learning.roles.requests import UNREADABLE_LIMIT
from akinai.learning.roles.templates import DEFAULT_PLACE, PromptTemplates, prompts_folder
from akinai.learning.search.embedders import EmbedderFitter
from akinai.learning.search.index import PlaybookIndex
from akinai.learning.search.saved_index import index_of
from akinai.learning.search.sudachi import SudachiWords
from akinai.retrieval import ALPHA, Embedder, Tokenizer, tokenize
from akinai.runtime.config.settings import SETTINGS_FILE, expect_table, merged, misfit_error, settings_file
from akinai.runtime.learn.plugins import RETRIEVERS, find_plugin
from akinai.runtime.learn.role_models import RolesSettings

M = TypeVar("M", bound=BaseModel)


class LearnSettings(LoopConfig):
    """Learner settings. Each may be set under `[learn]`."""

    held_out: int = Field(default=0, ge=0)
    """Number of training tasks, from the end, to keep for the gate and for choosing the best playbook, where the data
    set has no held-out tasks."""
    limit: int = Field(default=0, ge=0)
    """Number of training tasks to use, from the start; 0 is all."""
    alpha: float = Field(default=ALPHA, ge=0, le=1)
    words: Literal["plain", "sudachi"] = "plain"
    """"sudachi" is for Japanese, and needs the extra `learn`."""
    embedder: str = ""
    """For search and near duplicates: "hashed", "svd" (of the extra too), "meaning", or "PROVIDER:NAME" of LangChain;
    empty: hashed words, and pairs of words for near duplicates."""
    embedder_base_url: str | None = None
    language: Literal["en", "ja"] | None = None
    """The language of the prompts; None: that of the data set."""
    prompts: str = ""
    """A folder with prompts that replace the packaged ones; "small": those for small models."""
    bullets_at: str = DEFAULT_PLACE
    """The place of the bullets in the Generator's prompt."""
    check: str = ""
    """Replaces the data set's check: "exact", "number", "number:TOLERANCE", "contains", "parts", "regex",
    "command:PROGRAM ...", or "module:function"."""
    feedback: Literal["outcome", "consistency"] = "outcome"
    """The feedback instead of right answers: whether the attempt was right, with the report of the check; or only how
    several attempts at the task agree, for tasks whose answers nobody knows."""
    consistency_tries: int = Field(default=5, ge=2)
    """Attempts that are compared."""
    contrast: int = Field(default=0, ge=0)
    """Attempts at each training task that the Reflector is shown side by side; 0 and 1: a single one."""
    tries: int = Field(default=3, ge=1)
    """Requests to a model before an unreadable reply is given up."""
    structured: bool = True
    """Whether replies are asked for in the roles' JSON Schemas where the provider has structured output."""
    unreadable_limit: int = Field(default=UNREADABLE_LIMIT, ge=0)
    """Unreadable replies in a row that stop the learning, to be resumed; 0: none do."""
    curator_budget_tokens: int = Field(default=8_000, ge=0)
    run_tokens: int = Field(default=6_000, ge=0)
    """Tokens of a run's record that a Reflector with a model is shown; the world's truth may take a third of that
    besides."""
    placebo: str = ""
    """A playbook's file whose bullets are the placebo of a comparison on runs; empty: lessons of another world."""
    method: str = ""
    """Roles from a package, by name in the entry point group `akinai.roles`."""
    retrieval: str = ""
    """A retriever from a package, by name in `akinai.retrievers`; empty: the data set's, or a plain search."""
    refiners: tuple[str, ...] = ()
    """Further changes to the playbook at the end of each epoch, by name in `akinai.refiners`."""
    roles: RolesSettings = RolesSettings()
    """Models by role, in `[learn.roles.generator]` and so on."""
    tasks: Mapping[str, Mapping[str, Any]] = {}
    """Data sets by name: `TaskFiles`, or the arguments of the function of that name in `akinai.tasks`."""

    def templates(self, data_set: DataSet) -> PromptTemplates:
        return PromptTemplates(self.language or data_set.language, prompts_folder(self.prompts), self.bullets_at)

    def retriever(
        self, data_set: DataSet, config: LoopConfig | None = None, file: PlaybookFile | None = None
    ) -> PlaybookRetriever:
        """The data set's own retriever, or a plain search, by these settings or those of `config`. The index of the
        playbook in `file` is kept beside it. MissingExtra for "svd" and "sudachi" without the extra."""
        config = config or self
        if self.retrieval:
            return find_plugin(RETRIEVERS, "retriever", self.retrieval)(config)
        retriever = data_set.retriever(config) if data_set.retriever else None
        if retriever is None:
            return PlaybookRetriever(config, index=_index_maker(self, file))
        return retriever.with_index(_index_maker(self, file)) if self.embedder else retriever

    def embedding(self, tokenizer: Tokenizer = tokenize) -> Embedder | EmbedderFitter | None:
        """The embedder of these settings; None without one. UsageError for one that cannot be opened."""
        from akinai.runtime.models.embeddings import find_embedder

        if not self.embedder:
            return None
        return find_embedder(self.embedder, base_url=self.embedder_base_url, tokenizer=tokenizer)


def learn_settings(overrides: Mapping[str, Any], *, defaults: Mapping[str, Any] | None = None) -> LearnSettings:
    """The settings from `defaults`, `[learn]` of `akinai.toml` and `overrides`, later ones winning.

    UsageError names a setting that does not fit.
    """
    written = expect_table(settings_file().get("learn", {}), f"[learn] in {SETTINGS_FILE}")
    validated(LearnSettings, written, f"the learner, in [learn] of {SETTINGS_FILE}")
    return validated(LearnSettings, merged(merged(defaults or {}, written), overrides), "the learner")


def validated(model: type[M], table: Mapping[str, Any], whose: str) -> M:
    """The model of a table. UsageError names the setting that does not fit, and the owner of the settings, `whose`."""
    try:
        return model.model_validate(table)
    except ValidationError as error:
        raise misfit_error(model, whose, error) from error


def _index_maker(settings: LearnSettings, file: PlaybookFile | None) -> Callable[[Playbook], PlaybookIndex]:
    words = SudachiWords() if settings.words == "sudachi" else tokenize
    embedder = settings.embedding(words)
    options: dict[str, Any] = {"tokenizer": words, "embedder": embedder, "alpha": settings.alpha}

    def index(playbook: Playbook) -> PlaybookIndex:
        own = file is not None and len(playbook) and file.exists() and playbook is file.load()
        return index_of(file, **options) if own and file else PlaybookIndex(playbook, **options)

    return index
