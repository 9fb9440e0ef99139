"""The command that learns a playbook and says what it is worth."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from akinai.cli import model_options as m
from akinai.cli.options import Embedder, Json, On, Store, argument, flag, option, process_count, whole_number
from akinai.cli.output import (
    FAILED,
    STOPPED,
    learning_bar,
    print_error,
    print_json,
    print_line,
    print_next_steps,
    print_page,
    print_sentence,
    without_password,
)

if TYPE_CHECKING:
    from akinai.runtime.learn.result import LearnResult
    from akinai.runtime.learn.train_config import TrainConfig

Tasks = Annotated[
    str, argument("TASKS", "A data set (qa, or one from akinai.toml) or a world to learn from (vending, market).")
]
Sets = Annotated[
    list[str] | None,
    option(
        "--set",
        metavar="NAME=VALUE",
        help="A setting of the learner or the world, or an option of the data set, such as data=FILE.",
    ),
]
PlaybookPath = Annotated[
    Path | None,
    option("--playbook", metavar="FILE", help="The playbook to write.", default="data/playbooks/TASKS.json"),
]
Epochs = Annotated[
    int | None,
    option("--epochs", metavar="N", help="Passes over the training tasks.", default="1", parser=whole_number),
]
Online = Annotated[bool | None, flag("--online", help="Score each task before learning from it, in one pass.")]
Limit = Annotated[
    int | None, option("--limit", metavar="N", help="Use the first N training tasks.", parser=whole_number)
]
Checkpoint = Annotated[
    str | None,
    option("--checkpoint", metavar="FILE", help="Save progress here, and resume after a crash (needs extra learn)."),
]

Fresh = Annotated[
    bool,
    flag("--fresh", help="Begin with an empty playbook and do not resume; a rollback restores the old bullets."),
]
JudgeOnly = Annotated[bool, flag("--judge-only", help="Judge the playbook as it is and learn nothing.")]
KeepBest = Annotated[
    bool, flag("--keep-best", help="End with the playbook that does best on held-out tasks (--set held_out=N).")
]
NoTruth = Annotated[
    bool,
    flag(
        "--no-truth",
        help="Learn from outcomes alone, never shown a right answer; --set feedback=consistency: from agreement.",
    ),
]

Agent = Annotated[
    str | None,
    option(
        "--agent",
        metavar="A",
        help="World: the agent that plays.",
        default="chat with a model, otherwise the player that follows playbooks",
    ),
]
Reflect = Annotated[
    str | None,
    option(
        "--reflect",
        metavar="WHO",
        help="World: who learns from the runs, model or rules.",
        default="model if there is one",
    ),
]
Seeds = Annotated[
    str | None, option("--seeds", metavar="S", help="World: seeds of the runs to learn from.", default="1-10")
]
EvalSeeds = Annotated[
    str | None,
    option("--eval-seeds", metavar="S", help="World: seeds of the runs that judge the playbook.", default="101-120"),
]
Preset = Annotated[
    str | None, option("--preset", metavar="P", help="World: the preset of the runs.", default="default")
]
Days = Annotated[
    int | None, option("--days", metavar="N", help="World: simulated days of each run.", parser=whole_number)
]
Role = Annotated[
    str | None,
    option("--role", metavar="ROLE", help="World: who learns, such as business in a market.", default="customer there"),
]
Opponents = Annotated[
    str | None,
    option(
        "--opponents",
        metavar="WHO,...",
        help="World: who plays the other side: players, or playbooks that it follows. Runs to learn from take turns "
        "among them, and the playbook is judged against each.",
    ),
]
EvalSets = Annotated[
    list[str] | None,
    option("--eval-set", metavar="NAME=VALUE", help="World: a setting of the judged runs only."),
]

WritePrompts = Annotated[
    Path | None,
    option("--write-prompts", metavar="DIR", help="Write the prompts to this folder, to change them; learn nothing."),
]
Against = Annotated[
    str | None,
    option(
        "--against",
        metavar="NAME,...",
        help="Compare the playbook on the judged tasks with placebo, icl (raw examples), gepa, cheatsheet or "
        "reasoning-bank, each learning from the same tasks with as many tokens.",
    ),
]
FigureFile = Annotated[
    Path | None, option("--figure", metavar="FILE", help="Draw the comparison of --against to an SVG file.")
]
Jobs = Annotated[
    int | None,
    option(
        "--jobs",
        metavar="N",
        help="Calls of each model under way at once, and runs that ask models; of rules: processes that judge.",
        default="64 with a model, otherwise one per CPU",
        parser=whole_number,
    ),
]
DryRun = Annotated[bool, flag("--dry-run", help="Print the calls, tokens, hours and dollars to expect; learn nothing.")]
GeneratorModel = Annotated[str | None, m.role_model("generator", "does the tasks, or plays")]
GeneratorBaseUrl = Annotated[str | None, m.role_base_url("generator")]
ReflectorModel = Annotated[str | None, m.role_model("reflector", "explains what went wrong")]
ReflectorBaseUrl = Annotated[str | None, m.role_base_url("reflector")]
CuratorModel = Annotated[str | None, m.role_model("curator", "keeps the playbook")]
CuratorBaseUrl = Annotated[str | None, m.role_base_url("curator")]


def learn(
    ctx: typer.Context,
    tasks: Tasks,
    sets: Sets = None,
    playbook: PlaybookPath = None,
    epochs: Epochs = None,
    online: Online = None,
    limit: Limit = None,
    checkpoint: Checkpoint = None,
    fresh: Fresh = False,
    judge_only: JudgeOnly = False,
    no_truth: NoTruth = False,
    keep_best: KeepBest = False,
    embedder: Embedder = None,
    agent: Agent = None,
    reflect: Reflect = None,
    seeds: Seeds = None,
    eval_seeds: EvalSeeds = None,
    preset: Preset = None,
    days: Days = None,
    role: Role = None,
    opponents: Opponents = None,
    eval_sets: EvalSets = None,
    store: Store = None,
    as_json: Json = False,
    model: m.ModelName = None,
    base_url: m.BaseUrl = None,
    temperature: m.Temperature = None,
    reply_tokens: m.ReplyTokens = None,
    model_seed: m.ModelSeed = None,
    generator_model: GeneratorModel = None,
    generator_base_url: GeneratorBaseUrl = None,
    reflector_model: ReflectorModel = None,
    reflector_base_url: ReflectorBaseUrl = None,
    curator_model: CuratorModel = None,
    curator_base_url: CuratorBaseUrl = None,
    max_tokens: m.MaxTokens = 0,
    max_minutes: m.MaxMinutes = 0,
    max_dollars: m.MaxDollars = 0,
    cache: m.Cache = None,
    timeout: m.Timeout = m.TIMEOUT_S,
    calls_per_minute: m.CallsPerMinute = 0,
    write_prompts: WritePrompts = None,
    against: Against = None,
    figure: FigureFile = None,
    jobs: Jobs = None,
    on: On = None,
    dry_run: DryRun = False,
) -> None:
    """Learn a playbook from tasks or runs, and judge it on others. Without a model, by rules."""
    _answer(dict(locals()))


def _answer(options: dict[str, Any]) -> None:
    """Do what the options of the command ask for."""
    words: tuple[str, ...] = options.pop("ctx").obj
    names = ("tasks", "sets", "as_json", "write_prompts", "dry_run", "figure")
    tasks, sets, as_json, write_prompts, dry_run, figure = (options.pop(name) for name in names)
    if write_prompts is not None:
        _write_prompts(tasks, write_prompts, sets)
        return
    if dry_run:
        _check(tasks, sets, options, figure)
        _print_estimate(tasks, sets, options, as_json=as_json)
        return
    try:
        _check(tasks, sets, options, figure)
        learned = _learned(tasks, sets, options, quiet=as_json)
    except KeyboardInterrupt as stop:
        _print_stopped(getattr(stop, "playbook", None), words, options)
        raise typer.Exit(STOPPED) from None
    if figure is not None and learned.against is not None:
        from akinai.report.figures.against import against_figure

        against_figure(learned, figure)
    again = f"the same command{' without --fresh' if options['fresh'] else ''} resumes it"
    _print_learned(learned, options["store"], as_json=as_json, resume=again if options["checkpoint"] else "")


def _check(tasks: str, sets: list[str] | None, options: dict[str, Any], figure: Path | None) -> None:
    """UsageError for options that do not go together."""
    from akinai.core.errors import UsageError

    _expect_model(tasks, options, sets or [])
    _expect_world(tasks, options)
    _expect_learning(options)
    if figure is not None and not options["against"]:
        raise UsageError("--figure draws the comparison of --against; name others to compare with, or leave it out")
    options["eval_settings"] = options.pop("eval_sets")


def _learned(tasks: str, sets: list[str] | None, options: dict[str, Any], *, quiet: bool) -> "LearnResult":
    from akinai.runtime.learn.learner import learn as learn_playbook

    options["jobs"] = _jobs(tasks, options, sets or [])
    with learning_bar(quiet=quiet) as watch:
        return learn_playbook(tasks, settings=sets, watch=watch, **options)


def _print_stopped(playbook: Path | None, words: Sequence[str], options: Mapping[str, Any]) -> None:
    """Say what a learning that was stopped has kept, None for nothing yet, and the command that goes on."""
    if playbook is None:
        print_error("stopped before anything was learned; nothing was kept or changed")
        print_error(f"begin again with '{without_password(shlex.join(['akinai', *words]))}'")
        return
    from akinai.learning.playbook.file import PlaybookFile

    again = without_password(shlex.join(["akinai", *(word for word in words if word != "--fresh")]))
    file = PlaybookFile(playbook)
    count = len(file.load()) if file.exists() else 0
    print_error(f"stopped; {playbook} holds {count:,} {'bullet' if count == 1 else 'bullets'}")
    if options["judge_only"]:
        print_error(f"nothing was changed; judge again with '{again}'")
    elif options["checkpoint"]:
        print_error(f"go on where it stopped with '{again}'")
    else:
        print_error(
            f"go on with '{again}': it keeps the bullets and begins with the first task; with --checkpoint FILE a "
            "learning goes on where it stopped"
        )


def _print_learned(learned: "LearnResult", store: str | None, *, as_json: bool, resume: str) -> None:
    """Print the result; exits with FAILED if the learning ended early."""
    if as_json:
        print_json(learned.to_json())
    else:
        from akinai.report.tables.learned import learned_page

        print_page(lambda width: learned_page(learned.to_json(), width))
        print_next_steps(_steps(learned, store))
    if learned.ending != "done":
        what = "judging" if learned.judge_only else "learning"
        kept = "the playbook holds what was learned until then; with --checkpoint FILE it could be resumed"
        rest = resume or ("" if learned.judge_only else kept)
        print_error(f"the {what} ended early: {'; '.join(filter(None, (learned.stopped or learned.ending, rest)))}")
        raise typer.Exit(FAILED)


def _print_estimate(tasks: str, sets: list[str] | None, options: Mapping[str, Any], *, as_json: bool) -> None:
    """Print what the models of a learning are expected to be asked, before money is spent."""
    from inspect import signature

    from akinai.report.tables.learned import estimate_text
    from akinai.runtime.learn.learner import estimate_learning

    given = {name: value for name, value in options.items() if name in signature(estimate_learning).parameters}
    expected = estimate_learning(tasks, settings=sets, **given).to_json()
    if as_json:
        print_json(expected)
    else:
        print_line(estimate_text(tasks, expected))


def _write_prompts(tasks: str, folder: Path, sets: list[str] | None) -> None:
    from akinai.runtime.learn.learner import write_prompts

    files = write_prompts(tasks, folder, sets)
    print_sentence(f"{len(files)} prompts written to {folder}")
    print_next_steps({shlex.join(["akinai", "learn", tasks, "--set", f"prompts={folder}"]): "learn with them"})


def _jobs(tasks: str, options: Mapping[str, Any], sets: Sequence[str]) -> int | None:
    """The number that was asked for; one per CPU where runs of rules judge."""
    from akinai.runtime.learn.options import find_world
    from akinai.runtime.learn.settings import learn_settings

    asks = options["model"] or options["generator_model"] or learn_settings({}).roles.generator.model
    asks = asks or any(".model" in text.partition("=")[0] for text in sets)
    given = options["jobs"] is not None or asks or find_world(tasks) is None
    return options["jobs"] if given else process_count(None, "")


def _flags(options: Mapping[str, Any], *names: str) -> dict[str, object]:
    """Options by their flags; None for those that were not given."""
    return {f"--{name.replace('_', '-')}": options[name] or None for name in names}


def _expect_model(tasks: str, options: Mapping[str, Any], sets: Sequence[str]) -> None:
    """UsageError for options about a model where none is asked."""
    from akinai.runtime.learn.options import expect_unused, find_world
    from akinai.runtime.learn.settings import learn_settings

    named = any(options[name] for name in ("model", "generator_model", "reflector_model", "curator_model"))
    if named or any(text.startswith("roles.") for text in sets) or learn_settings({}).roles.names_a_model:
        return
    given = _flags(options, "base_url", "reply_tokens")
    given |= {"--temperature": options["temperature"], "--model-seed": options["model_seed"]}
    given |= _flags(options, "max_tokens", "max_minutes", "max_dollars", "cache", "calls_per_minute")
    given |= {} if find_world(tasks) else {"--jobs": options["jobs"]}
    expect_unused(given, "no model is asked without --model")


def _expect_world(tasks: str, options: Mapping[str, Any]) -> None:
    """UsageError for options about runs where no world is played, or where they are not judged apart."""
    from akinai.runtime.learn.options import expect_unused, find_world

    playing = _flags(options, "agent", "reflect", "seeds", "eval_seeds", "store", "role", "opponents", "on")
    playing |= {"--preset": options["preset"], "--days": options["days"], "--eval-set": options["eval_sets"]}
    if find_world(tasks) is None:
        expect_unused(playing, f"{tasks} is no world")
    elif options["online"]:
        judging = {name: playing[name] for name in ("--eval-seeds", "--eval-set")}
        expect_unused(judging, "online learning is judged by the runs that it learns from")


def _expect_learning(options: Mapping[str, Any]) -> None:
    """UsageError for options about learning where a playbook is only judged."""
    from akinai.runtime.learn.options import expect_unused

    if options["judge_only"]:
        learning = _flags(options, "epochs", "online", "limit", "checkpoint", "fresh", "no_truth", "keep_best", "seeds")
        learning |= _flags(options, "against")
        expect_unused(learning, "nothing is learned with --judge-only")


def _steps(learned: "LearnResult", store: str | None) -> dict[str, str]:
    """The commands to try next, with what each does."""
    path = str(learned.path)
    show = f"akinai playbook show {shlex.quote(path)}"
    if learned.runs is None:
        history = f"akinai playbook history {shlex.quote(path)}"
        return {show: "what was learned", history: "change by change, and back to any of them"}
    play = shlex.join(_play_command(learned.runs, path, store))
    return {show: "what was learned, with its evidence", play: "play by it"}


def _play_command(runs: "TrainConfig", playbook: str, store: str | None) -> list[str]:
    """The command that plays by the playbook, with an agent that can follow it."""
    from akinai.runtime.play.agent_spec import CHAT, MODEL_AGENTS

    words = ["akinai", "run", runs.load_world().name.partition("@")[0]]
    # A model writes in free words, which only a model can follow.
    agent = CHAT if runs.learns_by_model and runs.agent not in MODEL_AGENTS else runs.agent
    if agent != CHAT:
        words += ["--agent", agent]
    if agent in MODEL_AGENTS and runs.model:
        words += ["--model", runs.model.name]
        words += ["--base-url", runs.model.base_url] if runs.model.base_url else []
    words += ["--playbook", playbook]
    words += ["--preset", runs.preset] if runs.preset else []
    words += ["--days", str(runs.days)] if runs.days is not None else []
    words += [word for setting in runs.settings_of(judged=False) for word in ("--set", setting)]
    return words + (["--store", store] if store else [])
