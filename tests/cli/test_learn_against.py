"""`akinai learn --against`: others on the same tasks, with as many tokens, by rules and over the wire."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from colours_by_wire import FACTS, Pupil, role_of, write_questions

import akinai as package
from akinai.core.errors import UsageError
from akinai.core.models import Reply
from akinai.core.presentation.tables import Grid
from akinai.report.figures.against import against_svg
from akinai.report.tables.learned import against_lines
from akinai.report.tables.learning import contest_table, measured_table, scores_table
from akinai.testing.endpoint import Endpoint, ModelCall
from command_line import Akinai

pytestmark = pytest.mark.needs_qa

MODELS = ("gepa", "cheatsheet", "reasoning-bank")
FACT = "; ".join(f"[x] helpful=0 harmful=0 :: Colour of {colour} -> {fruit}" for colour, fruit in FACTS)


class Rival(Pupil):
    """Plays the roles, keeps a cheatsheet and a bank, and proposes instructions; it writes down all the facts."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: dict[str, list[str]] = {name: [] for name in MODELS}

    async def reply(self, call: ModelCall) -> Reply:
        text = "\n".join(message.text for message in call.request.messages)
        for name, sign, reply in (
            ("cheatsheet", '"cheatsheet"', json.dumps({"cheatsheet": FACT})),
            (
                "reasoning-bank",
                '"items"',
                json.dumps({"items": [{"title": "Facts", "description": "", "content": FACT}]}),
            ),
            ("gepa", "```", f"```\n{FACT}\n```"),
        ):
            if sign in text and '"answer"' not in text and '"key_insight"' not in text:
                self.requests[name].append(text)
                return Reply(reply)
        return await super().reply(call)


def rows(document: Any) -> dict[str, Any]:
    return {row["name"]: row for row in document["against"]}


def assert_numbers(table: Grid) -> None:
    """Every figure is a number, and a CSV has the same one, points in hundredths."""
    document: Any = table.to_json()
    _, *lines = csv.reader(io.StringIO(table.csv))
    lines = [line[-len(document["heads"]) + 1 :] for line in lines]
    words = {column.head for column in table.columns if column.words}
    for row, line in zip(document["rows"], lines, strict=True):
        for head, value, cell in [*zip(document["heads"], row, [row[0], *line], strict=True)]:
            if head in words or value is None:
                assert (value or "") == cell
            else:
                assert float(cell) in (pytest.approx(value), pytest.approx(100 * value))


def test_rules_compare_with_placebo_and_raw_examples(akinai: Akinai, folder: Path) -> None:
    """By rules: paired gains for each contender, in the document, on the page and as a figure; the placebo is the
    playbook's control, and raw examples have its tokens."""
    words = ("learn", "qa", "--set", "extra=false", "--against", "placebo,icl")
    answer = akinai(*words, "--json", "--figure", "against.svg")
    assert answer.code == 0, answer.err
    contenders = rows(answer.json)
    assert list(contenders) == ["none", "playbook", "placebo", "icl"]
    assert contenders["playbook"]["over_control"]["gain"] == answer.json["control"]["paired"]["gain"] > 0
    assert [row["saw_right_answers"] for row in contenders.values()] == [None, True, None, True]
    assert contenders["icl"]["of_the_playbook"] == pytest.approx(1, abs=0.05)
    assert contenders["playbook"]["gain"]["gain"] == pytest.approx(answer.json["paired"]["gain"])
    assert contenders["icl"]["playbook_minus"]["gain"] == pytest.approx(
        contenders["playbook"]["score"] - contenders["icl"]["score"]
    )
    assert Path("against.svg").read_text().startswith("<svg")
    table = contest_table(answer.json["against"], None)
    for grid in (table, scores_table(answer.json), measured_table(answer.json)):
        assert_numbers(grid)
    assert scores_table(answer.json).to_json() == answer.json["table"]
    page = akinai(*words, "--playbook", "q.json").out
    assert "raw examples, equal tokens" in page
    assert "placebo: permuted bullets" in page


@pytest.mark.slow
def test_models_compare_with_every_contender(akinai: Akinai, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over the wire each contender learns from the training tasks alone, within the tokens of the playbook's learning,
    into a playbook of its own; GEPA is its package's own code."""
    pytest.importorskip("langchain_openai", reason="the extra `models` is not installed")
    pytest.importorskip("gepa", reason="the extra `gepa` is not installed")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    setup = write_questions()
    judged = [{"q_id": "e1", "question": "Colour of red? canary", "choice0": "apple", "choice1": "stone", "label": 0}]
    Path("eval.jsonl").write_text("\n".join(map(json.dumps, judged)))
    brain = Rival()
    with Endpoint(brain) as endpoint:
        model = ("--model", "openai:test", "--base-url", endpoint.openai_url)
        against = ("--against", "placebo,icl,gepa,cheatsheet,reasoning-bank")
        answer = akinai("learn", "qa", *setup, *model, *against, "--playbook", "p.json", "--json", "--epochs", "3")
    assert answer.code == 0, answer.err
    contenders = rows(answer.json)
    assert list(contenders) == ["none", "playbook", "placebo", "icl", *MODELS]
    ours = contenders["playbook"]["learning_tokens"]
    for name in MODELS:
        assert brain.requests[name], name
        assert not any("canary" in text for text in brain.requests[name])
        assert 0 < contenders[name]["learning_tokens"] < 2 * ours
        assert contenders[name]["learning_calls"] > 0
    for name in ("cheatsheet", "reasoning-bank"):
        assert [*package.playbook.show(f"p.{name}.json")]
    assert any(role_of(call) == "generator" and FACT in call.request.messages[-1].text for call in endpoint.calls)


def test_it_says_so_when_the_playbook_loses() -> None:
    """The words follow the interval: behind, ahead, or nothing shown; a placebo that gave nothing is none."""

    def row(name: str, gain: float, low: float, high: float, verdict: str, injected: int = 9) -> dict[str, Any]:
        return {
            "name": name,
            "accuracy": 0.5,
            "injected": injected,
            "of_the_playbook": 0.8 if name == "icl" else 1.04,
            "learning_calls": 0,
            "saw_right_answers": name != "gepa",
            "playbook_minus": {"gain": gain, "ci95": [low, high]},
            "verdict": verdict,
        }

    lines = against_lines([
        {**row("playbook", 0, 0, 0, ""), "playbook_minus": None},
        row("icl", -0.03, -0.05, -0.01, "behind"), row("none", 0.1, 0.05, 0.15, "ahead"),
        row("gepa", 0.01, -0.02, 0.04, "open"), row("placebo", 0.1, 0.05, 0.15, "ahead", injected=0),
    ])  # fmt: skip
    assert [*lines] == [
        "The playbook loses to raw examples, equal tokens by 3.0 points (-5.0 to -1.0).",
        "The playbook is 10.0 points ahead of no playbook (+5.0 to +15.0).",
        "No difference from GEPA is shown: +1.0 points (-2.0 to +4.0).",
        "There is no placebo: there are no two bullets that could exchange what they teach.",
        "raw examples, equal tokens had 80% of the playbook's tokens in context.",
        "GEPA saw no right answers, and the playbook's learning did.",
    ]


def test_the_figure_of_runs_scored_in_money_is_in_dollars() -> None:
    """Its axis and its description; a score in another unit has its two decimals."""
    gain = {"gain": 98.784, "ci95": [87.8, 109.76]}
    rows = [{"name": "playbook", "accuracy": None, "injected": 9, "gain": gain}]
    money, units = against_svg(rows, "dollars"), against_svg(rows, "units")
    assert "the playbook +$98.78." in money
    assert "Dollars over no playbook" in money
    assert "the playbook +98.78." in units
    assert "Score over no playbook" in units


@pytest.mark.parametrize(
    ("tasks", "options", "why"),
    [
        ("qa", {"against": "plasebo"}, "no contender 'plasebo'; did you mean 'placebo'"),
        ("qa", {"against": "icl,cheatsheet"}, "cheatsheet cannot learn by rules; name a model"),
        ("qa", {"against": ["icl", "icl"]}, "names a contender twice"),
        ("qa", {"against": "icl", "online": True}, "tasks that nothing was learned from"),
        ("qa", {"against": "icl", "baseline": False}, "tasks that nothing was learned from"),
        ("qa", {"against": "icl", "no_truth": True, "model": "openai:test"}, "icl shows right answers"),
        ("vending", {"against": "gepa"}, "gepa cannot learn by rules"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_anything_is_learned(
    folder: Path, tasks: str, options: dict[str, Any], why: str
) -> None:
    """One clear line, and no playbook."""
    with pytest.raises(UsageError, match=why):
        package.learn(tasks, playbook="p.json", **options)
    assert not Path("p.json").exists()


def test_a_figure_needs_a_comparison(akinai: Akinai, folder: Path) -> None:
    """`--figure` without `--against` is refused, in Python as well."""
    refused = akinai("learn", "qa", "--figure", "x.svg")
    assert (refused.code, "--against" in refused.err) == (2, True)
    learned = package.learn("qa", playbook="p.json", settings={"limit": 4, "extra": "false"})
    with pytest.raises(UsageError, match="nothing to draw"):
        package.against_figure(learned, "x.svg")


def test_the_estimate_counts_every_contender(akinai: Akinai, folder: Path) -> None:
    """A contender adds an attempt at each judged task, and one that learns the calls of the playbook's learning."""
    words = ("learn", "qa", "--model", "openai:m", "--dry-run", "--json", "--limit", "4")
    alone, both = akinai(*words).json, akinai(*words, "--against", "icl,cheatsheet").json
    judged = alone["roles"]["generator"]["calls"] - 4 * 2
    icl, sheet = both["against"]
    assert (alone["against"], icl["name"], icl["calls"]) == (None, "icl", judged // 3)
    assert sheet["calls"] == icl["calls"] + alone["calls"] - judged
    assert both["calls"] == alone["calls"] + icl["calls"] + sheet["calls"]
    assert "against icl  " in akinai(*words[:5], *words[6:], "--against", "icl").out
    refused = akinai(*words, "--against", "plasebo")
    assert (refused.code, "placebo" in refused.err) == (2, True)


def test_runs_of_a_world_compare_with_lessons_of_another_and_with_their_own_records(folder: Path) -> None:
    """By rules both are worth nothing, for the player follows sentences of its own world alone; neither is given more
    tokens than the playbook; scores are money, not shares. Sentences with invented numbers are the control."""
    learned = package.learn("market", seeds="1", eval_seeds="2-3", against="placebo,icl", settings={"customers": 3})
    contenders = rows(learned.to_json())
    assert [*contenders] == ["none", "playbook", "invented", "placebo", "icl"]
    assert contenders["playbook"]["gain"]["gain"] > 0
    assert contenders["playbook"]["over_control"] == {
        name: learned.to_json()["control"]["paired"][name] for name in ("gain", "ci95", "wins", "losses")
    }
    for name in ("placebo", "icl"):
        assert contenders[name]["gain"]["gain"] == 0
        assert 0 < contenders[name]["injected"] <= contenders["playbook"]["injected"]
        assert contenders[name]["accuracy"] is None
    with pytest.raises(UsageError, match="kept in memory"):
        package.learn("market", seeds="1", eval_seeds="2", against="icl", store="memory:", playbook="m.json")
