"""The command that learns a playbook and measures what it is worth."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from akinai.cli.options import Json, argument, flag, option, process_count, with_flags
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
)
from akinai.core.errors import UnusedOptions, UsageError
from akinai.core.options import options_of
from akinai.core.presentation.words import counted
from akinai.core.untrusted.spelling import without_password
from akinai.runtime.options import LearnOptions

if TYPE_CHECKING:
    from akinai.runtime.config.settings import Settings
    from akinai.runtime.learn.result import LearnResult
    from akinai.runtime.learn.train_config import TrainConfig

Tasks = Annotated[
    str, argument("TASKS", "A data set (qa, or one from akinai.toml) or a world to learn from (vending, market).")
]
WritePrompts = Annotated[
    Path | None,
    option("--write-prompts", metavar="DIR", help="Write the prompts to this folder, to change them; learn nothing."),
]
FigureFile = Annotated[
    Path | None, option("--figure", metavar="FILE", help="Draw the comparison of --against to an SVG file.")
]
DryRun = Annotated[bool, flag("--dry-run", help="Print the calls, tokens, hours and dollars to expect; learn nothing.")]


@with_flags(LearnOptions)
def learn(
    context: typer.Context,
    tasks: Tasks,
    write_prompts: WritePrompts = None,
    figure: FigureFile = None,
    dry_run: DryRun = False,
    as_json: Json = False,
    **options: Unpack[LearnOptions],
) -> None:
    """Learn a playbook from tasks or runs, and judge it on others. Without a model, by rules."""
    if write_prompts is not None:
        return _write_prompts(tasks, write_prompts, options["settings"])
    if figure is not None and not options["against"]:
        raise UsageError("--figure draws the comparison of --against; name others to compare with, or leave it out")
    try:
        if dry_run:
            return _print_estimate(tasks, options, as_json=as_json)
        learned = _learn(tasks, options, quiet=as_json)
    except UnusedOptions as unused:
        declared = options_of(LearnOptions)
        raise UnusedOptions([declared[name].flag for name in unused.options], unused.reason) from unused
    except KeyboardInterrupt as stop:
        _print_stopped(getattr(stop, "playbook", None), context.obj, options)
        raise typer.Exit(STOPPED) from None
    if figure is not None and learned.against is not None:
        from akinai.report.figures.against import against_figure

        against_figure(learned, figure)
    again = f"the same command{' without --fresh' if options['fresh'] else ''} resumes it"
    return _print_learned(learned, options["store"], as_json=as_json, resume=again if options["checkpoint"] else "")


def _learn(tasks: str, options: LearnOptions, *, quiet: bool) -> "LearnResult":
    from akinai.runtime.learn.learner import learn as learn_playbook

    with learning_bar(quiet=quiet) as watch:
        return learn_playbook(tasks, **{**options, "jobs": _jobs(tasks, options), "watch": watch})


def _print_stopped(playbook: Path | None, words: Sequence[str], options: LearnOptions) -> None:
    """Say what a stopped learning has written, and the command that goes on; `playbook` is None before it is begun."""
    if playbook is None:
        print_error("stopped before anything was learned; nothing was kept or changed")
        print_error(f"begin again with '{without_password(shlex.join(['akinai', *words]))}'")
        return
    from akinai.learning.playbook.file import PlaybookFile

    again = without_password(shlex.join(["akinai", *(word for word in words if word != "--fresh")]))
    file = PlaybookFile(playbook)
    count = len(file.load()) if file.exists() else 0
    print_error(f"stopped; {playbook} holds {counted(count, 'bullet')}")
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
    document = learned.to_json()
    if as_json:
        from akinai.report.tables.learning import scores_table

        print_json({**document, "table": scores_table(document).to_json()})
    else:
        from akinai.report.tables.learned import learned_page

        print_page(lambda width: learned_page(document, width, learned.sentences))
        print_next_steps(_next_steps(learned, store))
    if learned.ending != "done":
        activity = "judging" if learned.judge_only else "learning"
        playbook = "the playbook holds what was learned until then; with --checkpoint FILE it could be resumed"
        outlook = resume or ("" if learned.judge_only else playbook)
        reasons = "; ".join(filter(None, (learned.stopped or learned.ending, outlook)))
        print_error(f"the {activity} ended early: {reasons}")
        raise typer.Exit(FAILED)


def _print_estimate(tasks: str, options: LearnOptions, *, as_json: bool) -> None:
    """Print the calls, tokens and dollars that a learning is expected to take of its models."""
    from akinai.report.tables.learned import estimate_text
    from akinai.runtime.learn.learner import estimate_learning

    expected = estimate_learning(tasks, **options).to_json()
    if as_json:
        print_json(expected)
    else:
        print_line(estimate_text(tasks, expected))


def _write_prompts(tasks: str, folder: Path, settings: "Settings") -> None:
    from akinai.runtime.learn.learner import write_prompts

    files = write_prompts(tasks, folder, settings)
    print_sentence(f"{len(files)} prompts written to {folder}")
    print_next_steps({shlex.join(["akinai", "learn", tasks, "--set", f"prompts={folder}"]): "learn with them"})


def _jobs(tasks: str, options: LearnOptions) -> int | None:
    """The value of --jobs; without it one process per CPU where runs of rules judge, else None."""
    from akinai.runtime.learn.arguments import find_world
    from akinai.runtime.learn.settings import learn_settings

    player = options["model"] or options["generator_model"] or learn_settings({}).roles.generator.model
    asks_model = player or any(".model" in text.partition("=")[0] for text in options["settings"] or ())
    if options["jobs"] is not None or asks_model or find_world(tasks) is None:
        return options["jobs"]
    return process_count(None, "")


def _next_steps(learned: "LearnResult", store: str | None) -> dict[str, str]:
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
