"""`akinai playbook`: each command as a person and as a program would use it, and what is told of a mistake."""

import json
from pathlib import Path

import pytest

from akinai.learning import BulletTag, Delta, PlaybookFile, Tagging
from command_line import Akinai

MILK, PRICE = "牛乳を買う -> 店", "Raise the price of cola before a hot weekend"


@pytest.fixture
def playbook(akinai: Akinai) -> str:
    """A playbook with two bullets in two sections, by its name."""
    assert akinai("playbook", "add", "mine", MILK, "--section", "concepts", "--keywords", "店, 買い物").code == 0
    assert akinai("playbook", "add", "mine", PRICE, "--section", "pricing", "--reason", "seen in May").code == 0
    return "mine"


def contents(akinai: Akinai, name: str) -> list[str]:
    document = akinai("playbook", "show", name, "--json").json
    return [bullet["content"] for section in document["sections"] for bullet in section["bullets"]]


def test_a_search_keeps_its_index_beside_the_playbook(akinai: Akinai, playbook: str) -> None:
    """The files are there after a search, the next finds the same by them, and a change is found too."""
    first = akinai("playbook", "search", playbook, "牛乳", "--json").json
    index = Path("data/playbooks/mine.index.npz")
    kept = index.read_bytes()
    assert akinai("playbook", "search", playbook, "牛乳", "--json").json == first
    assert index.read_bytes() == kept
    akinai("playbook", "add", playbook, "Warm milk sells at night", "--section", "concepts")
    assert akinai("playbook", "search", playbook, "warm milk", "--json").json
    assert index.read_bytes() != kept


def test_a_name_stands_for_a_file_among_the_playbooks(akinai: Akinai, playbook: str) -> None:
    """`mine` is data/playbooks/mine.json, and a path is a path."""
    assert Path("data/playbooks/mine.json").is_file()
    assert contents(akinai, "mine") == contents(akinai, "data/playbooks/mine.json") == [MILK, PRICE]


def test_show_tells_sections_and_bullets(akinai: Akinai, playbook: str) -> None:
    """The overview has every section and the bullets; --rows and --section bound it; an id shows one in full."""
    out = akinai("playbook", "show", playbook).out
    assert out.startswith("2 bullets in 2 sections")
    assert MILK in out
    assert "and 1 more" in akinai("playbook", "show", playbook, "--rows", "1").out
    assert PRICE not in akinai("playbook", "show", playbook, "--section", "concepts").out
    details = akinai("playbook", "show", playbook, "con-00001")
    assert "店, 買い物" in details.out
    assert akinai("playbook", "show", playbook, "con-00001", "--json").json["confidence_score"] == 0.5


def test_search_tells_scores_and_matched_words(akinai: Akinai, playbook: str) -> None:
    """The combined score is that of its two parts, and nothing is found that has no word of the query."""
    document = akinai("playbook", "search", playbook, "牛乳", "--json").json
    (hit,) = document["results"]
    assert (hit["bullet"]["id"], "牛乳" in hit["matched"], hit["bm25_score"]) == ("con-00001", True, 1)
    assert hit["combined_score"] == 0.6 * hit["vector_score"] + 0.4 * hit["bm25_score"]
    assert MILK in akinai("playbook", "search", playbook, "牛乳").out
    assert "no bullet of 2" in akinai("playbook", "search", playbook, "unheard").out
    assert akinai("playbook", "search", playbook, "cola", "--section", "concepts", "--json").json["results"] == []


def test_history_diff_and_rollback_go_together(akinai: Akinai, playbook: str) -> None:
    """Each change is told with its reason; what rollback undoes is what diff had told; and it is a change itself."""
    changes = akinai("playbook", "history", playbook, "--json").json["changes"]
    assert [change["kind"] for change in changes] == ["begin", "delta", "sections", "delta"]
    assert changes[-1]["reason"] == "seen in May"
    document = akinai("playbook", "diff", playbook, "2", "4", "--json").json
    assert ([item["content"] for item in document["added"]], document["sections_added"]) == ([PRICE], ["pricing"])
    assert f"+ pri-00002 (0/0) {PRICE}" in akinai("playbook", "diff", playbook, "2", "4").out
    assert akinai("playbook", "rollback", playbook, "2").out == "as after change 2: 1 bullet; this is change 5\n"
    assert contents(akinai, playbook) == [MILK]
    assert akinai("playbook", "rollback", playbook, "4").code == 0
    assert contents(akinai, playbook) == [MILK, PRICE]
    assert "the last 2 of 6 changes" in akinai("playbook", "history", playbook, "--rows", "2").out


def test_dedup_tells_before_it_does(akinai: Akinai, playbook: str) -> None:
    """Without --yes nothing changes; with it the equal bullet is merged, and can be brought back."""
    akinai("playbook", "add", playbook, f"{MILK}。", "--section", "concepts")
    document = akinai("playbook", "dedup", playbook, "--json").json
    assert (document["done"], document["change"], document["bullets"]) == (False, None, 2)
    assert "nothing was changed" in akinai("playbook", "dedup", playbook).out
    assert len(contents(akinai, playbook)) == 3
    assert akinai("playbook", "dedup", playbook, "--yes", "--json").json["done"] is True
    assert len(contents(akinai, playbook)) == 2
    assert akinai("playbook", "dedup", playbook, "--yes").out == "no bullet is to be merged\n"
    akinai("playbook", "rollback", playbook, "5")
    assert len(contents(akinai, playbook)) == 3


def test_prune_tells_before_it_does(akinai: Akinai, playbook: str) -> None:
    """A bullet that was wrong ten times in ten is left out once --yes is said, and no other."""
    file = PlaybookFile("data/playbooks/mine.json")
    harm = (BulletTag("con-00001", "harmful"),)
    file.commit(Delta("", taggings=tuple(Tagging(f"task-{n}", ("con-00001",), harm) for n in range(10))))
    document = akinai("playbook", "prune", playbook, "--json").json
    assert ([item["id"] for item in document["removals"]], document["done"]) == (["con-00001"], False)
    assert len(contents(akinai, playbook)) == 2
    assert "con-00001" in akinai("playbook", "prune", playbook, "--yes").out
    assert contents(akinai, playbook) == [PRICE]
    assert akinai("playbook", "prune", playbook).out == "no bullet is to be left out\n"


@pytest.mark.parametrize("name", ["out.json", "out.yaml", "out.md"])
def test_what_is_exported_can_be_imported(akinai: Akinai, playbook: str, name: str) -> None:
    """Every form comes back with the same bullets; an import over bullets wants --replace."""
    assert akinai("playbook", "export", playbook, name).out == f"2 bullets written to {name}\n"
    assert akinai("playbook", "import", "other", name).code == 0
    assert contents(akinai, "other") == [MILK, PRICE]
    refused = akinai("playbook", "import", "other", name)
    assert (refused.code, "say --replace" in refused.err) == (2, True)
    assert akinai("playbook", "import", "other", name, "--replace", "--json").json["bullets"] == 2


def test_a_corrupt_file_is_named_and_recovered(akinai: Akinai, playbook: str) -> None:
    """The place at fault is told with what the journal offers; `recover` takes it, and keeps the broken file."""
    path = Path("data/playbooks/mine.json")
    path.write_text(path.read_text()[:200])
    broken = akinai("playbook", "show", playbook)
    assert (broken.code, broken.out) == (2, "")
    for text in ("mine.json at line ", "its journal has the last good state, change 4", "recover"):
        assert text in broken.err
    document = akinai("playbook", "recover", playbook, "--json").json
    assert (document["bullets"], [Path(item).name for item in document["kept"]]) == (2, ["mine.json.corrupt-1"])
    assert contents(akinai, playbook) == [MILK, PRICE]
    assert akinai("playbook", "recover", playbook).out == "nothing to mend: 2 bullets can be read\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("show", "mime"), "no playbook 'mime'; did you mean 'mine'"),
        (("show", "data/playbooks/min.json"), "did you mean 'data/playbooks/mine.json'"),
        (("show", "mine", "con-1"), "did you mean 'con-00001'?"),
        (("show", "mine", "--section", "concept"), "did you mean 'concepts'?"),
        (("search", "mine", "x", "--section", "price"), "did you mean 'pricing'?"),
        (("search", "mine", "x", "--alpha", "2"), "alpha is 2.0"),
        (("add", "mine", " ", "--section", "concepts"), "give the text of the bullet"),
        (("add", "mine", "text", "--section", " "), "the name is empty"),
        (("diff", "mine", "1", "9"), "its journal has points 0 to 4"),
        (("rollback", "mine", "-1"), "No such option"),
        (("dedup", "mine", "--threshold", "7"), "a threshold of 7.0"),
        (("prune", "mine", "--after-uses", "0"), "after 0 uses"),
        (("import", "mine", "nowhere.json"), "no file 'nowhere.json'"),
        (("import", "mine", "nothing.json", "--replace"), "holds no section and no bullet"),
        (("export", "mine", "out.doc"), "names no form of a playbook"),
        (("recover", "nothing"), "no playbook 'nothing'"),
    ],
)
def test_a_mistake_is_one_sentence(akinai: Akinai, playbook: str, words: tuple[str, ...], message: str) -> None:
    """Bad usage is told on stderr, with close matches for names; the playbook stays as it was."""
    before = Path("data/playbooks/mine.json").read_bytes()
    Path("nothing.json").write_text("{}")
    answer = akinai("playbook", *words)
    assert (answer.code, answer.out) == (2, "")
    assert message.lower() in answer.err.lower()
    assert answer.err.count("\n") == 1
    assert Path("data/playbooks/mine.json").read_bytes() == before


@pytest.mark.parametrize("command", ["show", "history"])
@pytest.mark.parametrize("columns", ["60", "100"])
def test_tables_fit_the_terminal(
    akinai: Akinai, playbook: str, command: str, columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No line is wider than the terminal, and no id is cut, however long a content is."""
    from rich.cells import cell_len

    akinai("playbook", "add", playbook, "長い話" * 100, "--section", "concepts")
    monkeypatch.setenv("COLUMNS", columns)
    lines = akinai("playbook", command, playbook).out.partition("\nNext:")[0].split("\n")
    assert max(map(cell_len, lines)) <= int(columns)
    assert command == "history" or any("con-00003" in line for line in lines)


def test_every_document_is_one_line_of_json(akinai: Akinai, playbook: str) -> None:
    """--json prints one document and nothing else."""
    for words in (("show",), ("history",), ("dedup",), ("prune",), ("recover",)):
        answer = akinai("playbook", words[0], playbook, "--json")
        assert (answer.code, answer.err, answer.out.count("\n")) == (0, "", 1)
        json.loads(answer.out)


def test_a_section_that_was_not_there_is_told_of(akinai: Akinai) -> None:
    """`add` makes a section that is missing and says beside which ones; into one that is there it says nothing more."""
    assert akinai("playbook", "add", "p.json", "milk is white", "--section", "facts").out == (
        "added fac-00001 to facts, change 2\n"
    )
    assert akinai("playbook", "add", "p.json", "tea is hot", "--section", "Facts:").out == (
        "added fac-00002 to facts, change 3\n"
    )
    text = akinai("playbook", "add", "p.json", "ice is cold", "--section", "fact").out
    assert text.endswith(", a new section beside facts\n")
