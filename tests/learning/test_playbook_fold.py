"""Laws of the fold: what a delta does to a playbook, part by part, and which ids come out."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playbooks_for_tests import NASTY, SECTIONS, add, contents, contents_of, names, playbooks, tag

from akinai.core.errors import UnknownName
from akinai.learning import Bullet, Delta, Operation, Playbook, Refusal, Section, apply_delta
from akinai.learning.playbook.bullets import id_prefix
from akinai.learning.playbook.formats import dumps, loads
from akinai.learning.playbook.keywords import KEYWORDS, TermCounts, with_keywords
from together import together

EMPTY = Playbook().with_sections(SECTIONS)


def applied(playbook: Playbook, *deltas: Delta) -> Playbook:
    for delta in deltas:
        playbook, refusals = apply_delta(playbook, delta, at="2025-01-31T09:00:00Z")
        assert refusals == ()
    return playbook


operations = st.builds(
    Operation,
    st.sampled_from(["ADD", "UPDATE", "DELETE"]),
    st.none() | st.sampled_from(["rules", "料理のコツ", "nowhere", ""]),
    st.none() | st.sampled_from([f"rul-{n:05}" for n in range(1, 9)] + ["料理の-00002", "x", ""]),
    st.none() | contents | st.just(" ") | st.just("half \ud800"),
    st.none() | st.just(("a", "b")),
    st.sampled_from([{}, {"type": "Corrected Error"}, {"helpful": "9"}]),
)
deltas = st.builds(Delta, st.sampled_from(["", "d1", "d2", "d3"]), st.lists(operations, max_size=6).map(tuple))


def test_each_operation_changes_the_playbook_as_written() -> None:
    """ADD brings a bullet with a fresh id, UPDATE its new text under its id and counters, DELETE takes it away."""
    playbook = applied(
        EMPTY, add("buy milk", "sell tea"), tag("t1", ("rul-00001", "helpful"), ("rul-00002", "harmful"))
    )
    update = Operation("UPDATE", None, "rul-00001", "buy milk on Monday", details={"type": "Corrected Error"})
    after = applied(playbook, Delta("", (update, Operation("DELETE", "rules", "rul-00002")), evidence=("run#3",)))
    [bullet] = after
    assert (bullet.id, bullet.content, bullet.helpful, bullet.harmful) == ("rul-00001", "buy milk on Monday", 1, 0)
    assert (bullet.extra, bullet.source_trajectory) == ({"type": "Corrected Error"}, "run#3")
    assert after.updated_at == "2025-01-31T09:00:00Z"


def test_one_bad_operation_of_five_leaves_four() -> None:
    """The refused one is named with its place, code and reason; the other four are done."""
    playbook, refusals = apply_delta(
        applied(EMPTY, add("old")),
        Delta(
            "d",
            (
                Operation("ADD", "rules", content="one"),
                Operation("ADD", "料理のコツ", content="two"),
                Operation("ADD", "rulez", content="three"),
                Operation("UPDATE", "rules", "rul-00001", "new"),
                Operation("ADD", "api-usage", content="four"),
            ),
        ),
    )
    assert contents_of(playbook) == ["new", "one", "two", "four"]
    assert refusals == (
        Refusal(
            "operations[2]",
            "unknown_section",
            "no section 'rulez' in the playbook; did you mean 'rules'?",
            close="rules",
        ),
    )


@together(
    ("operation", "code"),
    [
        (Operation("ADD", "nowhere", content="x"), "unknown_section"),
        (Operation("ADD", None, content="x"), "unknown_section"),
        (Operation("ADD", "rules", content=" \n"), "no_content"),
        (Operation("ADD", "rules"), "no_content"),
        (Operation("ADD", "rules", "rul-00001", "x"), "id_taken"),
        (Operation("ADD", "rules", content="half \ud83d"), "bad_text"),
        (Operation("ADD", "rules", content="NUL \0"), "bad_text"),
        (Operation("ADD", "rules", content="x", keywords=("\0",)), "bad_text"),
        (Operation("ADD", "rules", content="x", details={"helpful": "9"}), "bad_field"),
        (Operation("UPDATE", "rules", "rul-00009", "x"), "unknown_bullet"),
        (Operation("UPDATE", "rules", None, "x"), "unknown_bullet"),
        (Operation("UPDATE", "api-usage", "rul-00001", "x"), "wrong_section"),
        (Operation("UPDATE", "rules", "rul-00001", ""), "no_content"),
        (Operation("UPDATE", "rules", "rul-00001"), "no_content"),
        (Operation("DELETE", "rules", "rul-00009"), "unknown_bullet"),
        (Operation("DELETE", "api-usage", "rul-00001"), "wrong_section"),
    ],
)
def test_a_refused_operation_changes_nothing(operation: Operation, code: str) -> None:
    """It stands among the refusals under a stable code, and the playbook is equal, its next id included."""
    playbook = applied(EMPTY, add("milk"))
    after, [refusal] = apply_delta(playbook, Delta("d", (operation,)), at="later")
    assert (after, refusal.code, refusal.place) == (playbook, code, "operations[0]")
    assert refusal.text


@given(playbooks(), st.lists(deltas, max_size=4))
def test_a_delta_applied_twice_is_applied_once(playbook: Playbook, given_deltas: list[Delta]) -> None:
    """A delta with an id changes nothing the second time, whatever came between; one without an id is always new."""
    once = playbook.with_sections(SECTIONS)
    for delta in given_deltas:
        once, _ = apply_delta(once, delta)
    for delta in given_deltas:
        again, refusals = apply_delta(once, delta)
        if delta.id:
            assert again is once
            assert refusals == ()
    assert applied(EMPTY, add("x"), add("x")) != applied(EMPTY, add("x"))


@given(playbooks(), st.lists(deltas, max_size=5))
def test_ids_never_repeat(playbook: Playbook, given_deltas: list[Delta]) -> None:
    """Whatever was deleted, reloaded, or came with an initial playbook, a new bullet's id was never there before."""
    playbook = playbook.with_sections(SECTIONS)
    seen = set(playbook.by_id)
    for delta in given_deltas:
        before = set(playbook.by_id)
        playbook, _ = apply_delta(loads(dumps(playbook)), replace(delta, id=""))
        fresh = set(playbook.by_id) - before
        assert not fresh & seen
        seen |= fresh
    assert len(playbook.by_id) == len(playbook)


def test_ids_go_on_from_the_highest_of_an_initial_playbook() -> None:
    """A file whose next_id is missing or too low still gives ids above all that stand in it."""
    bullets = '[{"id": "shr-00041", "content": "x"}]'
    text = f'{{"metadata": {{"next_id": 2}}, "sections": [{{"name": "rules", "bullets": {bullets}}}]}}'
    assert [bullet.id for bullet in applied(loads(text), add("y"))] == ["shr-00041", "rul-00042"]


def test_add_never_overwrites() -> None:
    """An ADD that names a taken id is refused; one that names a free or a deleted one gets a fresh id."""
    playbook = applied(EMPTY, add("one", "two"), Delta("", (Operation("DELETE", None, "rul-00002"),)))
    playbook = applied(playbook, Delta("", (Operation("ADD", "rules", "rul-00002", "three"),)))
    assert {bullet.id: bullet.content for bullet in playbook} == {"rul-00001": "one", "rul-00003": "three"}


@given(playbooks(), st.lists(deltas, max_size=3))
def test_every_operation_is_done_or_refused(playbook: Playbook, given_deltas: list[Delta]) -> None:
    """No operation raises, and what is neither refused nor undone by a later one stands in the playbook as written."""
    playbook = playbook.with_sections(SECTIONS)
    for delta in given_deltas:
        before = playbook
        playbook, refusals = apply_delta(playbook, replace(delta, id=""))
        refused = {refusal.place for refusal in refusals}
        done = [op for n, op in enumerate(delta.operations) if f"operations[{n}]" not in refused]
        adds = [op.content for op in done if isinstance(op, Operation) and op.type == "ADD"]
        assert playbook.next_id == before.next_id + len(adds)
        touched = {op.bullet_id for op in done if isinstance(op, Operation)}
        fresh = [b for b in playbook if b.id not in before]
        assert {b.content for b in fresh if b.id not in touched} <= set(adds)
        for bullet in before:
            if bullet.id not in touched:
                assert playbook[bullet.id] == bullet
            elif bullet.id in playbook:
                changed = playbook[bullet.id]
                assert (changed.helpful, changed.harmful, changed.section) == (
                    *(bullet.helpful, bullet.harmful),
                    bullet.section,
                )


@together(
    ("section", "prefix"),
    [
        ("strategies_and_hard_rules", "shr"),
        ("useful_code_snippets_and_templates", "ucst"),
        ("domain-knowledge", "dk"),
        ("Domain Knowledge", "dk"),
        ("navigation", "nav"),
        ("商品知識", "商品知"),
        ("料理・のコツ", "料の"),
        ("to_the", "tt"),
        ("🛒", "b"),
        ("[x] y", "xy"),
    ],
)
def test_prefixes_are_the_initials_of_the_section(section: str, prefix: str) -> None:
    """Japanese and hyphenated names work as well as ACE's, small words do not count, and no bracket gets in."""
    assert id_prefix(section) == prefix
    [bullet] = applied(Playbook().with_sections([Section(section)]), add("x", section=section))
    assert bullet.id == f"{prefix}-00001"


@given(names, contents)
def test_any_section_and_content_is_kept_as_it_was(name: str, content: str) -> None:
    """Newlines, quotes, braces, `::`, `]`, `## `, emoji, 10,000 characters come back through the fold and the file."""
    if not content.strip():
        return
    playbook = applied(Playbook().with_sections([Section(name)]), add(content, section=name))
    assert [(b.section, b.content) for b in loads(dumps(playbook))] == [(name, content)]


def test_a_task_moves_a_counter_once() -> None:
    """Whatever a task says of a bullet in later rounds, the first tag counts; another task counts anew."""
    playbook = applied(EMPTY, add("x"), tag("q1", ("rul-00001", "helpful")))
    for late in ("helpful", "harmful", "neutral"):
        playbook, [refusal] = apply_delta(playbook, tag("q1", ("rul-00001", late)))
        assert refusal.code == "already_counted"
    playbook, refusals = apply_delta(playbook, tag("q2", ("rul-00001", "harmful"), ("rul-00001", "harmful")))
    assert [refusal.place for refusal in refusals] == ["taggings[0].tags[1]"]
    playbook = applied(playbook, tag("q3", ("rul-00001", "neutral")))
    bullet = playbook["rul-00001"]
    assert (bullet.helpful, bullet.harmful, bullet.neutral, bullet.confidence_score) == (1, 1, 1, 0.5)


def test_only_injected_bullets_can_be_tagged() -> None:
    """A tag for a bullet that the task was not given is refused, and so is one for a bullet that is gone."""
    playbook = applied(EMPTY, add("x", "y"))
    tagging = replace(
        tag("q1", ("rul-00001", "helpful"), ("rul-00002", "helpful")).taggings[0], injected=("rul-00001",)
    )
    after, [refusal] = apply_delta(playbook, Delta("", taggings=(tagging,)))
    assert (refusal.code, after["rul-00001"].helpful, after["rul-00002"].helpful) == ("not_injected", 1, 0)
    _, [refusal] = apply_delta(playbook, tag("q1", ("rul-00007", "helpful")))
    assert refusal.code == "unknown_bullet"


def test_confidence_is_the_share_of_helpful_uses() -> None:
    """helpful / (helpful + harmful), 0.5 while nobody has called it either."""
    assert Bullet("a", "s", "c").confidence_score == 0.5
    assert Bullet("a", "s", "c", neutral=9).confidence_score == 0.5
    assert Bullet("a", "s", "c", helpful=3, harmful=1).confidence_score == 0.75
    assert Bullet("a", "s", "c", harmful=2).confidence_score == 0.0


def test_keywords_default_to_the_telling_terms_of_the_content() -> None:
    """An operation's own keywords are taken; else the terms that are rare in the playbook come first, at most five."""
    playbook = applied(EMPTY, add(*(f"restock cola every Monday {n}" for n in "abc")))
    [*_, bullet] = applied(playbook, add("restock cola when the pantry of coca-cola is empty"))
    assert bullet.keywords == ("pantry", "coca-cola", "empty", "restock", "cola")
    assert bullet.searchable_text == f"{bullet.content} {' '.join(bullet.keywords)}"
    [bullet] = applied(EMPTY, Delta("", (Operation("ADD", "rules", content="x", keywords=("own",)),)))
    assert bullet.keywords == ("own",)
    [bullet] = applied(EMPTY, add("自動販売機の価格を毎週見直し、コーラは値上げする"))
    assert bullet.keywords == ("自動販売機", "価格", "毎週見直", "コーラ", "値上")
    [bullet] = applied(EMPTY, add("もう寝る"))
    assert bullet.keywords


def test_an_update_renews_keywords_only_with_the_text() -> None:
    """New text brings new keywords, the same text keeps the old ones, and given ones are taken as they are."""
    playbook = applied(EMPTY, Delta("", (Operation("ADD", "rules", content="buy milk", keywords=("dairy",)),)))
    same = applied(playbook, Delta("", (Operation("UPDATE", None, "rul-00001", "buy milk"),)))
    assert same["rul-00001"].keywords == ("dairy",)
    new = applied(playbook, Delta("", (Operation("UPDATE", None, "rul-00001", "buy bread"),)))
    assert new["rul-00001"].keywords == ("bread", "buy")
    given_ones = applied(playbook, Delta("", (Operation("UPDATE", None, "rul-00001", keywords=("k",)),)))
    assert (given_ones["rul-00001"].content, given_ones["rul-00001"].keywords) == ("buy milk", ("k",))


@given(contents)
def test_every_text_with_words_gets_keywords(content: str) -> None:
    """At most five, all from the text, and `with_keywords` fills in those of imported bullets."""
    keywords = TermCounts([]).top(content)
    assert len(keywords) <= KEYWORDS
    playbook = Playbook((Section("s", "", (Bullet("a", "s", content),)),), 2)
    assert next(iter(with_keywords(playbook))).keywords == keywords


def test_evidence_becomes_the_source() -> None:
    """A bullet keeps the stretches of ledger it was learned from, its operation's or else the delta's, each once."""
    playbook = applied(
        EMPTY,
        Delta("", (Operation("ADD", "rules", content="x", evidence=("r#1 -> r#9",)),), evidence=("other",)),
        Delta("", (Operation("UPDATE", None, "rul-00001", "y"),), evidence=("r#12", "r#1 -> r#9")),
    )
    assert playbook["rul-00001"].source_trajectory == "r#1 -> r#9; r#12"


def test_names_are_refused_where_they_are_made() -> None:
    """A section without a usable name or with another's bullet, and an id that cannot be kept, are program errors."""
    for name in ("", " x", "two\nlines", "x" * 201, "NUL\0"):
        with pytest.raises(ValueError, match="the name"):
            EMPTY.with_sections([Section(name)])
    with pytest.raises(ValueError, match="NUL"):
        Delta("\0")
    with pytest.raises(ValueError, match="put it into its own"):
        Section("rules", "", (Bullet("a-1", "other", "x"),))
    with pytest.raises(UnknownName, match="did you mean 'rules'"):
        EMPTY.section("rule")
    with pytest.raises(UnknownName, match="no bullet 'x'"):
        EMPTY["x"]


def test_sections_are_added_and_described_but_never_lost() -> None:
    """`with_sections` adds what is missing, fills in empty descriptions and leaves bullets and descriptions alone."""
    playbook = applied(EMPTY, add("x"))
    more = playbook.with_sections([Section("rules", "other"), Section("料理のコツ", "new"), Section("more", "m")])
    assert [(s.name, s.description, len(s.bullets)) for s in more.sections] == [
        ("rules", "What holds.", 1),
        ("料理のコツ", "new", 0),
        ("api-usage", "", 0),
        ("more", "m", 0),
    ]
    assert more.with_sections(SECTIONS) is more


def test_nasty_contents_are_what_the_checks_name() -> None:
    """The samples of these tests hold newlines, quotes, braces, `::`, `]`, `## `, emoji and 10,000 characters."""
    together = "".join(NASTY)
    assert all(part in together for part in ("\n", '"', "{", "::", "]", "## ", "🛒"))
    assert max(map(len, NASTY)) >= 10_000
