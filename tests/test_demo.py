"""What a person sees first: `akinai demo`, and the picture of it."""

import importlib.util
import re
from pathlib import Path

import pytest

import akinai
from akinai.cli import main

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_the_demo_plays_compares_and_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A week as a diary, a row for each player, who is better, and a report."""
    with pytest.raises(SystemExit) as exit:
        main(["demo", "--seeds", "1-2", "--days", "8", "-o", str(tmp_path / "report")])
    assert not exit.value.code
    shown = capsys.readouterr().out
    assert "7 days of the player reference on seed 1" in shown
    for player in ("idle", "naive", "reference"):
        assert f"\n{player} " in shown
    assert "cannot be told apart yet: 2 seeds can show no difference, 6 can." in " ".join(shown.split())
    assert (tmp_path / "report" / "report.html").as_uri() in shown


def test_a_world_without_the_three_players_is_refused(tmp_path: Path) -> None:
    """The sentence names the worlds that have them."""
    with pytest.raises(akinai.AkinaiError, match="needs the player 'idle', which 'market' lacks; it can play vending"):
        akinai.demo("market", output=tmp_path)


def words(picture: Path) -> list[str]:
    """What a picture of a terminal shows, but for its ids."""
    lines = re.findall(r"<text[^>]*>([^<]*)</text>", picture.read_text(encoding="utf-8"))
    return [line for line in lines if line.replace("&#160;", "").strip()]


@pytest.mark.slow
def test_its_picture_is_not_stale(tmp_path: Path) -> None:
    """The picture in the README shows what the demo prints today, and needs no font from elsewhere."""
    spec = importlib.util.spec_from_file_location("demo", ROOT / "examples" / "demo.py")
    assert spec
    assert spec.loader
    demo = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(demo)
    demo.main(tmp_path / "demo.svg", tmp_path / "report")
    assert words(ROOT / "docs" / "images" / "demo.svg") == words(tmp_path / "demo.svg")
    assert any("reference" in line for line in words(tmp_path / "demo.svg"))
    assert "font-face" not in (tmp_path / "demo.svg").read_text(encoding="utf-8")
