"""What stands beside the code agrees with `pyproject.toml`."""

import re
import tomllib
from pathlib import Path

import yaml
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BADGES = ROOT / "docs" / "images"


def versions() -> list[str]:
    prefix = "Programming Language :: Python :: "
    return [name.removeprefix(prefix) for name in PROJECT["classifiers"] if name.startswith(prefix)]


def test_badges_are_true() -> None:
    """Python versions and licence are those of the package; the type checker is strict."""
    oldest, *_, newest = versions()
    python = (BADGES / "badge-python.svg").read_text(encoding="utf-8")
    assert f"<title>python: {oldest} to {newest}</title>" in python
    assert PROJECT["requires-python"] == f">={oldest}"
    assert f"<title>licence: {PROJECT['license']}</title>" in (BADGES / "badge-licence.svg").read_text(encoding="utf-8")
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert settings["tool"]["basedpyright"]["typeCheckingMode"] == "strict"


def test_version_is_that_of_the_release_or_ahead_of_it() -> None:
    """What is not released has a version of its own: a ledger or a message that names a release means that release."""
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    newest = next(heading.split()[0] for heading in headings if heading != "Unreleased")
    if headings[0] == "Unreleased":
        assert PROJECT["version"].endswith(".dev0")
        assert Version(PROJECT["version"]) > Version(newest)
    else:
        assert PROJECT["version"] == newest


def test_citation_names_the_newest_release() -> None:
    """Version and date are those of the changelog's newest heading with a date."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    dated = re.search(r"^## (\d\S*) \((\d{4}-\d\d-\d\d)\)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    if dated:
        assert (citation["version"], str(citation["date-released"])) == dated.groups()
    assert citation["license"] == PROJECT["license"]
