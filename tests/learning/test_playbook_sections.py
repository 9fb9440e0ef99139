"""Laws of section definitions: what is packaged, and how a working folder has its own."""

from pathlib import Path

import pytest

from akinai.core.errors import UnknownName, UsageError
from akinai.learning import Playbook, Section, sections_for
from akinai.learning.playbook.sections import all_sections


def write(folder: Path, text: str) -> None:
    (folder / "config").mkdir(exist_ok=True)
    (folder / "config" / "sections.yaml").write_text(text, encoding="utf-8")


def test_the_packaged_sections_are_the_documented_ones(tmp_path: Path) -> None:
    """Six data sets, the first three with the names of the source, each section with a description."""
    packaged = all_sections(tmp_path)
    assert list(packaged) == ["appworld", "alfworld", "custom", "vending", "market", "jcommonsenseqa"]
    assert {name: [s.name for s in packaged[name]] for name in ("appworld", "alfworld", "custom")} == {
        "appworld": [
            "strategies_and_hard_rules",
            "useful_code_snippets_and_templates",
            "troubleshooting_and_pitfalls",
            "api_usage_patterns",
        ],
        "alfworld": ["navigation_strategies", "object_interaction_rules", "common_failure_patterns"],
        "custom": ["domain_knowledge", "best_practices", "error_recovery"],
    }
    for sections in packaged.values():
        assert all(section.description for section in sections)
        assert Playbook().with_sections(sections).section_names == tuple(section.name for section in sections)


def test_a_working_folder_overrides_by_data_set(tmp_path: Path) -> None:
    """What its file names replaces the packaged sections of that name; other data sets stay, new ones come."""
    write(tmp_path, "custom:\n  - name: 料理のコツ\n    description: 味\n  - api-usage\nmine: [a]\n")
    assert sections_for("custom", tmp_path) == (Section("料理のコツ", "味"), Section("api-usage"))
    assert sections_for("mine", tmp_path) == (Section("a"),)
    assert sections_for("appworld", tmp_path) == sections_for("appworld", tmp_path / "elsewhere")


def test_an_unknown_data_set_is_a_users_mistake(tmp_path: Path) -> None:
    """With the closest names and the place to define one."""
    with pytest.raises(UnknownName, match=r"did you mean 'appworld'.*config/sections\.yaml"):
        sections_for("app-world", tmp_path)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("a: [", "cannot be read"),
        ("- a", "under the name of each data set"),
        ("", "holds no section"),
        ("a: b", "a list of sections belongs"),
        ("a: []", "a list of sections belongs"),
        ("a: [5]", "a section belongs"),
        ("a: [{name: x, description: 5}]", "a section belongs"),
        ("a: ['']", "is empty"),
        ("a: [x, x]", "'x' stands twice"),
    ],
)
def test_a_file_that_defines_nothing_usable_is_refused(tmp_path: Path, text: str, error: str) -> None:
    """The message names the file and what is wrong in it."""
    write(tmp_path, text)
    with pytest.raises(UsageError, match=error):
        sections_for("custom", tmp_path)
