"""Worlds as tasks of Inspect AI, played by its own loop with a scripted model."""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as evaluate
from inspect_ai import eval_async
from inspect_ai.log import EvalLog, EvalSample, read_eval_log
from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, Model, ModelOutput, ModelUsage, get_model
from inspect_ai.tool import ToolCall

import akinai
from akinai import worlds
from akinai.core.actions import Unreadable
from akinai.testing.endpoint import Endpoint, ScriptResponder, tool_call

pytestmark = [  # Inspect's own: it uses an old name of tenacity's, and leaves streams to the garbage collector
    pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
USAGE = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
"""Outputs without usage have Inspect count their tokens, for which it fetches a file."""


def output(*calls: tuple[str, dict[str, Any]], text: str = "", parse_error: str | None = None) -> ModelOutput:
    """A reply with these tool calls."""
    tool_calls = [
        ToolCall(id=f"call-{number}", function=name, arguments=arguments, parse_error=parse_error)
        for number, (name, arguments) in enumerate(calls)
    ]
    message = ChatMessageAssistant(content=text, tool_calls=tool_calls or None)
    return ModelOutput(model="mock", choices=[ChatCompletionChoice(message=message)], usage=USAGE)


def scripted(outputs: Sequence[ModelOutput] | Iterator[ModelOutput] | Callable[..., ModelOutput]) -> Model:
    return get_model("mockllm/model", custom_outputs=outputs if callable(outputs) else iter(outputs))


def actions_of(run: akinai.Run, actor: str = "") -> list[tuple[str, dict[str, Any]]]:
    """The recorded actions as tools and arguments."""
    verbs = worlds.load(run.world).verbs
    entries = [entry for entry in run.ledger.entries if entry.actor.startswith(actor)]
    actions = [verbs.recorded(entry.name, entry.parameters) for entry in entries]
    return [(action.tool_name(), action.encode()) for action in actions]


@pytest.fixture
def logs(tmp_path: Path) -> str:
    return str(tmp_path / "logs")


def played(task: str, model: Model, logs: str, **options: Any) -> EvalLog:
    (log,) = evaluate(task, model=model, log_dir=logs, display="none", **options)
    return log


def sample_of(log: EvalLog) -> EvalSample:
    assert log.status == "success", log.error
    assert log.samples is not None
    return log.samples[0]


@pytest.mark.slow
def test_the_reference_player_has_the_same_digest(logs: str) -> None:
    """Thirty days of its actions through Inspect's loop; the log has its scores, and Inspect reads it back."""
    run = akinai.run("vending", agent="reference", days=30, preset="classic")[0]
    model = scripted([output(action) for action in actions_of(run)])
    log = played("akinai/vending", model, logs, task_args={"seeds": 1, "days": 30, "preset": "classic"})
    sample = sample_of(log)
    score = (sample.scores or {})["scores"]
    assert (score.metadata or {})["digest"] == run.digest
    assert score.as_dict() == {score.name: score.value for score in run.scores}
    assert log.results is not None
    means = {score.name: score.metrics["mean"].value for score in log.results.scores}
    assert means["net_worth"] == run.scores[0].value
    assert means.items() >= score.as_dict().items()
    assert (sample.id, log.eval.task, log.eval.task_version) == ("seed-1", "akinai/vending", "3")
    tools = [event for event in sample.events if event.event == "tool"]
    assert len(tools) == run.entries
    assert read_eval_log(log.location).status == "success"


def test_rewards_sum_to_what_the_score_gained(logs: str) -> None:
    """In the metadata of the answers, which models are not shown; prose and calls after the end among them."""
    run = akinai.run("vending", agent="reference", days=3, preset="classic")[0]
    with akinai.open("vending", days=3, preset="classic") as session:
        began = session.scores()[0].value
    *replies, last = [output(action) for action in actions_of(run)]
    last.message.tool_calls = [
        *(last.message.tool_calls or []),
        *(output(("advance_day", {})).message.tool_calls or []),
    ]
    model = scripted([output(text="Let me think."), *replies, last])
    arguments = {"seeds": 1, "days": 3, "preset": "classic"}
    sample = sample_of(played("akinai/vending", model, logs, task_args=arguments))
    answers = [message for message in sample.messages if (message.metadata or {}).get("akinai/reward") is not None]
    assert len(answers) == run.entries + 1
    assert sum((message.metadata or {})["akinai/reward"] for message in answers) == run.scores[0].value - began


def test_whatever_a_model_does_is_in_the_ledger(logs: str, tmp_path: Path) -> None:
    """Prose, an unknown tool, wrong and broken arguments, a megabyte, several calls in a reply: refused, and played on."""
    day = ("advance_day", {})
    model = scripted(
        [
            output(text="Let me think."),
            output(("sell_kidney", {}), text="An idea."),
            output(("wait_until", {"hour": "noon"})),
            output(day, parse_error="it ends too early"),
            output(("notepad_write", {"text": "x" * 2**20})),
            output(("get_money_balance", {}), ("nonsense", {"a": 1}), day, text="At once."),
            *[output(day)] * 2,
        ]
    )
    store = str(tmp_path / "runs.db")
    log = played("akinai/vending", model, logs, task_args={"seeds": 1, "days": 3, "store": store})
    sample = sample_of(log)
    (run,) = akinai.runs(sample.metadata["run"], store=store)
    codes = [entry.outcome.code for entry in run.ledger.entries]
    wrong = ["no_action", "no_action", "bad_parameters", "bad_parameters", "bad_parameters"]
    assert codes == [*wrong, None, "no_action", None, None, None]
    assert [run.ledger.entries[seq].said for seq in (1, 5)] == ["An idea.", "At once."]
    assert run.ledger.entries[0].name == Unreadable.__name__
    tools = [message for message in sample.messages if message.role == "tool"]
    errors = [message.error.message.partition(":")[0] for message in tools if message.error]
    assert errors == [f"Refused ({code})" for code in (*wrong[1:], "no_action")]
    assert tools[-1].text.endswith("The run is over: horizon.")
    assert (sample.scores or {})["scores"].as_dict() == {score.name: score.value for score in run.scores}


def test_limits_of_inspect_are_honoured(logs: str, tmp_path: Path) -> None:
    """The sample is scored as the run stands, which can be resumed."""
    store = str(tmp_path / "runs.db")
    model = scripted(lambda *_: output(("advance_day", {})))
    arguments = {"seeds": 1, "days": 30, "store": store}
    log = played("akinai/vending", model, logs, task_args=arguments, message_limit=8)
    sample = sample_of(log)
    assert sample.limit is not None
    assert sample.limit.type == "message"
    (run,) = akinai.runs(sample.metadata["run"], store=store)
    assert (run.status, 2 <= run.entries <= 4) == ("open", True)
    assert (sample.scores or {})["scores"].as_dict()["net_worth"] == run.score("net_worth")
    with akinai.open(resume=run.id, store=store) as session:
        assert session.act("advance_day").ok


def test_a_model_that_dies_loses_nothing(logs: str, tmp_path: Path) -> None:
    """The sample is an error, every answered action is kept, and the run can be resumed."""
    store = str(tmp_path / "runs.db")
    model = scripted([output(("advance_day", {}))] * 3)
    log = played("akinai/vending", model, logs, task_args={"seeds": 1, "days": 30, "store": store})
    assert log.status == "error"
    (run,) = akinai.runs(store=store)
    assert (run.status, run.entries) == ("open", 3)
    with akinai.open(resume=run.id, store=store) as session:
        assert session.act("advance_day").ok


def test_seats_of_a_market_have_conversations_of_their_own(logs: str) -> None:
    """The customers' actions of a run, each played by a model that knows its own name, give its digest."""
    run = akinai.run("market")[0]
    names = ("customer_0001", "customer_0002")
    queues = {name: iter(actions_of(run, name)) for name in names}

    def reply(messages: Sequence[Any], *_: Any) -> ModelOutput:
        name = next(name for name in names if name in messages[0].text)
        return output(next(queues[name]))

    sample = sample_of(played("akinai/market", scripted(reply), logs, task_args={"seeds": 1}))
    assert ((sample.scores or {})["scores"].metadata or {})["digest"] == run.digest


@pytest.mark.parametrize("name", worlds.names())
def test_every_world_is_a_task(name: str, logs: str) -> None:
    """With the tools that its preset can use as Inspect describes them, seeds as samples, and its own arguments."""
    with akinai.open(name) as session:
        usable = [verb.tool_name() for verb in session.verbs(session.actor)]
    log = played(
        f"akinai/{name}", scripted([output(text="No.")] * 8), logs, task_args={"seeds": "1-2", "max_repeats": 2}
    )
    assert log.status == "success", log.error
    assert log.eval.dataset.sample_ids == ["seed-1", "seed-2"]
    sample = sample_of(log)
    event = next(event for event in sample.events if event.event == "model")
    assert [tool.name for tool in event.tools] == usable
    assert ((sample.scores or {})["scores"].metadata or {})["ending"] == "unreadable"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"preset": "yaer"}, "year"),
        ({"seeds": "5-1"}, "backwards"),
        ({"settings": "fee=1"}, "setting"),
    ],
)
async def test_wrong_arguments_are_named(arguments: dict[str, Any], error: str, logs: str) -> None:
    """Before anything is played."""
    with pytest.raises(Exception, match=error):
        await eval_async("akinai/vending", model=scripted([]), log_dir=logs, task_args=arguments)


@pytest.mark.slow
def test_the_commands_of_the_page_run(tmp_path: Path) -> None:
    """As they stand there, but for the model, which is an endpoint here, and a limit."""
    page = (Path(__file__).parents[2] / "docs" / "inspect.md").read_text(encoding="utf-8")
    lines = [line for line in page.splitlines() if line.startswith("inspect eval ")]
    assert lines
    with Endpoint(ScriptResponder([tool_call("advance_day")] * 50)) as endpoint:
        for line in lines:
            words = shlex.split(line.partition(" --model ")[0])[1:]
            model = ["--model", "openai-api/akinai/m", "--model-base-url", endpoint.openai_url, "--display", "plain"]
            done = subprocess.run(
                [sys.executable, "-m", "inspect_ai", *words, *model, "--limit", "1", "--message-limit", "9"],
                cwd=tmp_path, env={**os.environ, "AKINAI_API_KEY": "x"}, capture_output=True, text=True,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            (log,) = (tmp_path / "logs").glob("*.eval")
            assert "net_worth" in (sample_of(read_eval_log(str(log))).scores or {})["scores"].as_dict()


def test_limits_of_a_game_hold(logs: str, tmp_path: Path) -> None:
    """Its window and its replies, as for Akinai's own chat agent: `sprint` has both."""
    store, sizes = str(tmp_path / "runs.db"), list[int]()

    def reply(messages: Any, tools: Any, *_: Any) -> ModelOutput:
        sizes.append(sum(len(message.text) for message in messages))
        return output(("search_web", {"query": f"suppliers {len(sizes)}"}), ("get_price_lists", {}))

    options = {"seeds": 1, "preset": "sprint", "days": 7, "store": store, "max_repeats": 0}
    sample_of(played("akinai/vending", scripted(reply), logs, task_args={**options, "settings": "max_replies=30"}))
    (run,) = akinai.runs(store=store)
    assert (run.ending, len(sizes), len(run.ledger.entries)) == ("message_cap", 30, 60)
    assert max(sizes) < 10_000 * 2.6


def test_one_of_two_owners_may_be_out_of_replies(logs: str, tmp_path: Path) -> None:
    """Each has as many as the game allows; who is left alone plays on."""
    store, asked = str(tmp_path / "runs.db"), list[int]()

    def reply(*_: Any) -> ModelOutput:
        asked.append(1)
        return output(("close_week", {}))

    options = {"seeds": 1, "preset": "arena-sprint", "days": 28, "store": store, "settings": "max_replies=2"}
    sample_of(played("akinai/vending", scripted(reply), logs, task_args=options))
    (run,) = akinai.runs(store=store)
    assert (run.status, len(asked)) == ("done", 4)


def test_whom_the_settings_name_is_not_played_by_inspect(logs: str) -> None:
    """Where that is everybody, the task is refused."""
    named = {"seeds": 1, "preset": "arena", "days": 2}
    log = played("akinai/vending", scripted(lambda *_: output(("advance_day", {}))), logs,
                 task_args={**named, "settings": "owners.2.agent=idle"})  # fmt: skip
    assert {message.role for message in sample_of(log).messages} >= {"assistant"}
    with pytest.raises(Exception, match="every actor has a player"):
        played("akinai/market", scripted([]), logs, task_args={"seeds": 1, "settings": "customers.agent=careful"})
