"""The same requests to the public server and to ours: what differs is in the table of differences, and nothing else."""

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from corpus import corpus
from differential import Comparison, compare_all

ROWS: Sequence[Mapping[str, Any]] = tomllib.loads(
    (Path(__file__).parent / "differences.toml").read_text(encoding="utf-8")
)["difference"]


def kind(answer: Any) -> str:
    """An answer in a word, as the rows name it."""
    status, body = answer
    if status != 200 or not (isinstance(body, dict) and "is_error" in body):
        return str(status)
    if not body["is_error"]:
        return "ok"
    return "invalid_proposal" if body["content"] == "invalid_proposal" else "refused"


def kinds(comparison: Comparison) -> str:
    """Both answers; "other" where they are of one kind and their bodies differ."""
    public, ours = kind(comparison.public), kind(comparison.ours)
    return "other" if public == ours else f"{public} | {ours}"


def covers(row: Mapping[str, Any], comparison: Comparison) -> bool:
    """Whether a row is about this difference."""
    named = any(fnmatchcase(comparison.request.name, pattern) for pattern in row["requests"])
    return named and kinds(comparison) in row["answers"]


async def test_every_difference_is_in_the_table(tmp_path: Path) -> None:
    """Each of the differing answers belongs to a row, and each pattern and answer of a row is met by one at least."""
    requests = corpus()
    assert len(requests) >= 300
    differing = [pair for pair in await compare_all(requests, tmp_path) if pair.public != pair.ours]
    unknown = [pair for pair in differing if not any(covers(row, pair) for row in ROWS)]
    assert not unknown, [(pair.request.name, kinds(pair), pair.public, pair.ours) for pair in unknown][:5]
    for row in ROWS:
        met = [pair for pair in differing if covers(row, pair)]
        patterns = Counter(
            pattern for pair in met for pattern in row["requests"] if fnmatchcase(pair.request.name, pattern)
        )
        assert not set(row["requests"]) - set(patterns), (row["public"], set(row["requests"]) - set(patterns))
        assert {kinds(pair) for pair in met} == set(row["answers"]), row["public"]


def test_the_corpus_meets_every_field() -> None:
    """Each field of each model is sent as it should be, left out, null, and with other values."""
    names = {request.name for request in corpus()}
    for model in ("SendMessage", "OrderProposal", "OrderItem", "Payment", "FetchMessages", "Search", "Log", "Business"):
        fields = {name.split(".")[1] for name in names if name.startswith(f"{model}.")} - {"all"}
        assert fields
        assert all(f"{model}.{field}.{case}" in names for field in fields for case in ("absent", "null", "number"))
