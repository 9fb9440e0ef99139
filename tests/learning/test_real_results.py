"""The script behind `make real-results`, with a scripted model in place of the real one."""

import json
import re
from pathlib import Path

import pytest

from akinai.core.models import Reply
from akinai.testing.endpoint import Endpoint, ModelCall, ScriptResponder
from real_model import results


class Follower:
    """Answers as the bullets and the examples in its prompt say; without any it takes the first gate."""

    def __init__(self) -> None:
        self.calls = 0

    async def reply(self, call: ModelCall) -> Reply:
        self.calls += 1
        system, *messages = call.request.messages
        whole, task = system.text + messages[0].text, messages[-1].text
        goods = re.findall(r"A crate of (\w+), \d+ kg", task)
        if '"operations"' in system.text:
            lessons = dict.fromkeys(re.findall(r"A crate of \w+ leaves the yard by the \w+ gate\.", task))
            adds = [{"type": "ADD", "section": "gates", "content": text} for text in lessons]
            return Reply(json.dumps({"operations": adds}))
        if '"key_insight"' in system.text:
            insight = f"A crate of {goods[-1]} leaves the yard by the {results.rule()[goods[-1]]}."
            return Reply(json.dumps({"key_insight": insight, "bullet_tags": []}))
        bullet = re.search(rf"A crate of {goods[-1]} leaves the yard by the (\w+ gate)", whole)
        answer = bullet[1] if bullet else results.GATES[0]
        return Reply(json.dumps({"reasoning": "", "bullet_ids": [], "answer": answer}))


def test_items_differ_and_only_the_rule_decides() -> None:
    """Two hundred texts, none twice; each gate is right as often as another, to one in twenty."""
    items = results.tasks()
    assert len({task.text for task in items}) == len(items) == 200
    assert all(
        results.rule()[good] == task.truth for task in items for good in results.GOODS if f" {good}," in task.text
    )
    for gate in results.GATES:
        assert abs(sum(task.truth == gate for task in items) - 50) <= 10
    assert set(results.rule().values()) == set(results.GATES)
    assert not any(results.rule()[good] == results.rule(1)[good] for good in results.GOODS)


@pytest.mark.slow
def test_a_model_that_follows_bullets_shows_it_in_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Right bullets make it right, wrong ones wrong as they say, permuted ones no better than chance, and it learns;
    a second call prints the same and asks nothing."""
    pytest.importorskip("langchain_openai", reason="the extra `models` is not installed")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setattr(results, "ITEMS", 36)
    monkeypatch.setattr(results, "TRAINED", 24)
    monkeypatch.chdir(tmp_path)
    brain, kept = Follower(), results.Results(tmp_path / "results")
    with Endpoint(brain) as endpoint:
        lines = results.rule_table(endpoint.openai_url, kept)
        asked = brain.calls
        assert results.rule_table(endpoint.openai_url, kept) == lines
    assert brain.calls == asked
    shares = {match[1]: float(match[2]) for line in lines if (match := re.match(r"\| (.+?) \| ([\d.]+)% \|", line))}
    assert shares["right bullets"] == 100
    assert shares["wrong bullets: right answers"] == 0
    assert shares["wrong bullets: answers as they say"] == 100
    assert shares["the same bullets, permuted"] < 30
    assert shares["the playbook that it learned from 24 tasks"] > shares["no playbook"]
    assert "raw examples in as many tokens" in "\n".join(lines)


@pytest.mark.slow
def test_the_weeks_of_the_street_are_sealed_and_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both beginnings beside the players by rules; one who leaves every week empty has what the idle player has."""
    pytest.importorskip("langchain_openai", reason="the extra `models` is not installed")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setattr(results, "SEEDS", "1-2")
    monkeypatch.setattr(results, "EIGHT_WEEKS", {**results.EIGHT_WEEKS, "days": 70})
    done = results.Results(tmp_path / "results")
    with Endpoint(ScriptResponder(['{"action": "WEEK"}'] * 100)) as endpoint:
        lines = results.sprint_table(endpoint.openai_url, done)
    assert results.sprint_table("http://127.0.0.1:9/v1", done) == lines
    rows = [line.partition(" | ")[2] for line in lines if line.startswith(("| idle", "| the model"))]
    assert len(rows) == 6
    assert len(set(rows[:3])) == len(set(rows[3:])) == 1
    assert "of the key" in lines[0]


def test_what_is_missing_is_one_line(tmp_path: Path) -> None:
    """No model, and an unknown part."""
    with pytest.raises(SystemExit, match="no model at"):
        results.main(tmp_path, tmp_path, [])
    (tmp_path / results.WEIGHTS_FILE).touch()
    with pytest.raises(SystemExit, match="no part 'rules'; there are rule, sprint, worlds"):
        results.main(tmp_path, tmp_path, ["rules"])
