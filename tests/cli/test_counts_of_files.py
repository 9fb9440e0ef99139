"""Laws of the first lines of a run: they count what was read from each file that was named."""

import json
from pathlib import Path

import pytest

from command_line import Akinai


@pytest.mark.parametrize("words", [(), ("--sweep", "fee_permille=0,10")])
def test_run_counts_a_population(akinai: Akinai, words: tuple[str, ...]) -> None:
    """Each side by itself, once, before anything is played."""
    akinai("market", "generate", "-o", "people", "--customers", "1", "--businesses", "2")
    first = akinai("run", "market", "--set", "data=people", *words).out.splitlines()
    assert sorted(first[:2]) == ["1 customers from people", "2 businesses from people"]
    assert "from people" not in first[2]


def test_run_counts_questions_replies_and_prices(akinai: Akinai, folder: Path) -> None:
    """Of a file of questions, a script, and the prices of a run that asks a model; a document holds no such line."""
    question = {"q_id": 1, "question": "q", "choices": ["a", "b"], "label": 0}
    (folder / "q.jsonl").write_text("".join(json.dumps({**question, "q_id": id}) + "\n" for id in range(1200)))
    (folder / "s").write_text('{"action": "ADVANCE_DAY"}\n' * 2)
    (folder / "akinai.toml").write_text('[prices."openai:x"]\ninput_per_million = 1\noutput_per_million = 2\n')
    run = ("run", "vending", "--days", "2", "--agent", "script:s")
    assert akinai("run", "qa", "--set", "data=q.jsonl", "--set", "draw=1").out.startswith(
        "1,200 questions from q.jsonl\n"
    )
    assert akinai(*run).out.startswith("2 replies from s\n")
    assert json.loads(akinai(*run, "--json").out)["runs"]
    assert "1 prices from akinai.toml" in akinai("run", "vending", "--model", "openai:x", "--dry-run").out


def test_run_counts_no_file_of_the_package(akinai: Akinai) -> None:
    """A preset that comes with a world was named as a preset."""
    assert " from " not in akinai("run", "vending", "--preset", "quarter", "--days", "1").out.splitlines()[0]
