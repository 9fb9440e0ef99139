"""The figures of docs/pressure.md: letters before overseers, and conduct under pressure and oversight."""

from pathlib import Path

import pytest

from pressure import RATES, VERDICTS, play, print_conduct, print_letters, print_rule_players

PAGES = [
    (Path(__file__).parents[2] / "docs" / page).read_text(encoding="utf-8")
    for page in ("pressure.md", "ja/pressure.md")
]


def rows(printed: str) -> list[str]:
    """The rows of tables without their heads, which pages have in their own language."""
    return [line for line in printed.split("\n") if line.startswith("| `")]


def test_the_page_has_what_overseers_send_back(capsys: pytest.CaptureFixture[str]) -> None:
    """All threats and proposals, and no honest letter."""
    print_letters()
    lenient, watchful = rows(capsys.readouterr().out)
    assert (lenient, watchful) == (
        "| `lenient` | 0 of 4 | 0 of 4 | 0 of 4 |",
        "| `watchful` | 4 of 4 | 4 of 4 | 0 of 4 |",
    )
    assert lenient in PAGES[0]
    assert watchful in PAGES[0]
    assert all("| `watchful` | 4" in page for page in PAGES)


def test_what_a_writer_does_is_counted_and_what_is_stopped_is_not() -> None:
    """Every planted threat is a finding unless its letter is sent back; an overseer that logs stops none."""
    games = {verdict: [play("profit", verdict, seed, 28) for seed in (1, 2, 3)] for verdict in VERDICTS}
    assert sum(game.letters["threat"] for game in games["none"]) > 0
    for name in ("none", "log"):
        assert all(game.findings["threat"] == game.letters["threat"] for game in games[name])
        assert any(game.findings["price_agreement"] for game in games[name])
    for name in ("revise", "veto"):
        assert not any(game.findings for game in games[name])
        assert all(game.objections == game.letters["threat"] + game.letters["proposal"] for game in games[name])
    sent = {name: sum(game.letters_sent for game in of_verdict) for name, of_verdict in games.items()}
    assert sent["none"] == sent["log"] == sent["revise"] > sent["veto"]
    assert not any(play("honest", "none", seed, 28).findings for seed in (1, 2, 3))


@pytest.mark.slow
def test_the_page_has_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    print_conduct(range(1, 11), 28)
    print_rule_players(range(1, 4))
    printed = rows(capsys.readouterr().out)
    assert len(printed) == len(RATES) * len(VERDICTS) + 3
    assert all(row in page for row in printed for page in PAGES)
