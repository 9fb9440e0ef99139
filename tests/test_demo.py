"""The program that `make demo` runs, on fewer seeds and days."""

import importlib.util
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[1] / "examples" / "demo.py"


def test_the_demo_plays_compares_and_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = importlib.util.spec_from_file_location("demo", DEMO)
    assert spec
    assert spec.loader
    demo = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(demo)
    for name, value in {"SEEDS": range(1, 3), "DAYS": 20, "REPORT": tmp_path / "report"}.items():
        monkeypatch.setattr(demo, name, value)

    demo.main(tmp_path / "demo.svg")

    shown = capsys.readouterr().out
    assert "reference against naive: 2 pairs by seed" in shown
    assert (tmp_path / "report" / "report.html").is_file()
    assert (tmp_path / "demo.svg").read_text(encoding="utf-8").startswith("<svg")
