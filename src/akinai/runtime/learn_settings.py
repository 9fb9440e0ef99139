"""What the learner is told: the table `[learn]` of `akinai.toml`, and data sets by name.

[learn]
epochs = 2
bullets_at = "system"

[learn.tasks.capitals]
train = "capitals.jsonl"
task = "What is the capital of {country}?"
truth = "capital"
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from akinai import worlds
from akinai.core.actions import complaint
from akinai.core.errors import UnknownName, UsageError
from akinai.learning.embedders import Fitting
from akinai.learning.index import PlaybookIndex
from akinai.learning.loop_records import MOST_ROUNDS, RULES_BATCH, Plan
from akinai.learning.loop_shelf import Shelf
from akinai.learning.tasks import CHECKS, Check, DataSet, Split, Task, read_tasks
from akinai.learning.templates import DEFAULT_PLACE, PromptTemplates
from akinai.retrieval import ALPHA
from akinai.runtime.config import SETTINGS_FILE, settings_file

GROUP = "akinai.tasks"
"""Entry points: name -> a function of the table `[learn.tasks.NAME]` that returns a `DataSet`."""


class TaskFiles(BaseModel):
    """A data set in files, by configuration alone."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    train: str
    """A file of JSON lines or CSV."""
    held_out: str = ""
    validation: str = ""
    test: str = ""
    id: str = ""
    """The field that names a task; without one it is the file and its place in it."""
    task: str = "task"
    """A field, or a text with fields in braces."""
    truth: str = "answer"
    check: str = "exact"
    """ "exact", "number", or "module:function" of (truth, answer)."""
    language: Literal["en", "ja"] = "en"


class LearnSettings(BaseModel):
    """How is learned; every field can stand in `[learn]`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    epochs: int = Field(1, ge=1)
    online: bool = False
    batch: int = Field(0, ge=0)
    """Tasks with the same playbook and one delta; 0: one with a model, 500 without."""
    rounds: int = Field(1, ge=0, le=MOST_ROUNDS)
    new_tries: bool | None = None
    """Whether a failed task is tried anew after a reflection; left out: with a model."""
    reflect_on_success: bool = False
    gate: bool = False
    held_out: int = Field(0, ge=0)
    """The last N training tasks that are kept for the gate, where the data set brings none."""
    limit: int = Field(0, ge=0)
    """The first N training tasks; 0 is all."""
    dedup: bool = True
    prune: bool = False
    """At the end of each epoch; off, since `akinai playbook prune` shows first what it would take."""
    top_k: int = Field(10, ge=0)
    budget_tokens: int = Field(2_000, ge=0)
    """Of the bullets in one context; 0 is no bound."""
    min_confidence: float = Field(0.3, ge=0, le=1)
    whole: bool = False
    alpha: float = Field(ALPHA, ge=0, le=1)
    words: Literal["plain", "sudachi"] = "plain"
    vectors: Literal["hashed", "svd"] = "hashed"
    """"svd" and "sudachi" want the extra `learn`."""
    language: Literal["en", "ja"] | None = None
    """Of the prompts; left out: that of the data set."""
    prompts: str = ""
    """A folder with prompts of one's own."""
    bullets_at: str = DEFAULT_PLACE
    """The place in the Generator's prompt where the bullets go."""
    check: str = ""
    """In place of the data set's own: "exact", "number", or "module:function"."""
    tries: int = Field(3, ge=1)
    """Times that a model is asked before an unreadable reply is given up."""
    curator_budget_tokens: int = Field(8_000, ge=0)
    run_tokens: int = Field(6_000, ge=0)
    """Of a run's record as a model is shown it that reflects on the run; what the world knows may take a third more."""
    tasks: Mapping[str, Mapping[str, Any]] = {}
    """Data sets: `TaskFiles`, or what the function of that name in `akinai.tasks` takes."""

    def plan(self, *, thinks: bool) -> Plan:
        """The plan of the loop, for roles that ask a model or do not."""
        return Plan(
            epochs=self.epochs,
            online=self.online,
            batch=self.batch or (1 if thinks else RULES_BATCH),
            rounds=self.rounds,
            new_tries=thinks if self.new_tries is None else self.new_tries,
            reflect_on_success=self.reflect_on_success,
            gate=self.gate,
            dedup=self.dedup,
            prune=self.prune,
            top_k=self.top_k,
            budget_tokens=self.budget_tokens or None,
            min_confidence=self.min_confidence,
            whole=self.whole,
        )

    def templates(self, data_set: DataSet) -> PromptTemplates:
        folder = Path(self.prompts) if self.prompts else None
        return PromptTemplates(self.language or data_set.language, folder, self.bullets_at)

    def shelf(self, plan: Plan) -> Shelf:
        """Where bullets are looked for. MissingExtra for "svd" and "sudachi" without the extra."""
        return Shelf(plan, index=_index_maker(self))


def learn_settings(given: Mapping[str, Any], *, beneath: Mapping[str, Any] | None = None) -> LearnSettings:
    """What suits the data set (`beneath`), `[learn]` of `akinai.toml` over it, and what was asked for over both.

    UsageError names what does not fit.
    """
    table = settings_file().get("learn", {})
    if not isinstance(table, dict):
        raise UsageError(f"[learn] in {SETTINGS_FILE} should be a table")
    return _checked(LearnSettings, {**(beneath or {}), **cast("dict[str, Any]", table), **given}, "the learner")


def find_data_set(name: str, settings: LearnSettings, options: Mapping[str, Any] | None = None) -> DataSet:
    """The data set of this name: files that `[learn.tasks.NAME]` names, or what another package brings.

    `options` go over the table. UnknownName with close matches for one that is not there.
    """
    table = {**settings.tasks.get(name, {}), **(options or {})}
    found = brought_tasks().get(name)
    if found is not None:
        return _brought(found, table)
    if name not in settings.tasks and not table:
        known = {*brought_tasks(), *settings.tasks, *worlds.names()}
        where = f"describe a data set in [learn.tasks.NAME] of {SETTINGS_FILE}"
        raise UnknownName("data set or world", name, known, where)
    return _in_files(name, _checked(TaskFiles, table, f"the data set {name!r}"))


def brought_tasks() -> dict[str, EntryPoint]:
    """The data sets that packages bring, by name; ours among them."""
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def check_named(name: str) -> Check:
    """A check of answers: "exact", "number", or a function as "module:function"."""
    if name in CHECKS:
        return CHECKS[name]
    module, colon, function = name.partition(":")
    if not colon:
        raise UnknownName("check of answers", name, CHECKS, "or a function of (truth, answer) as 'module:function'")
    try:
        return cast("Check", getattr(import_module(module), function))
    except (ImportError, AttributeError) as error:
        raise UsageError(f"the check {name!r} cannot be loaded: {error}; put it where Python finds it") from error


def _brought(found: EntryPoint, table: Mapping[str, Any]) -> DataSet:
    try:
        make = cast("Callable[..., DataSet]", found.load())
    except ImportError as error:
        raise UsageError(f"the data set {found.name!r} cannot be loaded ({error}); install what it needs") from error
    try:
        return make(**table)
    except TypeError as error:
        raise UsageError(f"the data set {found.name!r} does not take {sorted(table)}: {error}") from error


def _in_files(name: str, given: TaskFiles) -> DataSet:
    def load(split: Split) -> list[Task]:
        file = str(getattr(given, split))
        return _read(file, given) if file else []

    return DataSet(name, load, check_named(given.check), language=given.language)


def _read(file: str, given: TaskFiles) -> list[Task]:
    try:
        text = Path(file).expanduser().read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the tasks in {file!r} cannot be read: {error}") from error
    return read_tasks(text, Path(file).name, id=given.id, task=given.task, truth=given.truth)


def _index_maker(settings: LearnSettings) -> Callable[[], PlaybookIndex]:
    from akinai.learning.sudachi import SudachiWords
    from akinai.learning.svd import TfidfSvd
    from akinai.retrieval import tokenize

    words = SudachiWords() if settings.words == "sudachi" else tokenize
    # What it fits has its length as a cached property, which no protocol can say.
    embedder = cast("Fitting", TfidfSvd(tokenizer=words)) if settings.vectors == "svd" else None
    return lambda: PlaybookIndex(tokenizer=words, embedder=embedder, alpha=settings.alpha)


def _checked(model: type[Any], table: Mapping[str, Any], whose: str) -> Any:
    try:
        return model.model_validate(table)
    except ValidationError as error:
        for one in error.errors():
            if one["type"] == "extra_forbidden":
                raise UnknownName("setting", str(one["loc"][-1]), model.model_fields, f"of {whose}") from error
        raise UsageError(f"the settings of {whose} do not fit: {complaint(error)}") from error
