"""Controls that can fail: permuted bullets, invented numbers, raw examples of equal tokens, and near copies."""

from __future__ import annotations

import pytest

from akinai.learning.contest.controls import assign_examples, invent, permute, permuted_control
from akinai.learning.contest.curators import outcome_text
from akinai.learning.loop.provenance import near_copies, provenance, remember
from akinai.learning.loop.retriever import PlaybookRetriever
from akinai.learning.loop.state import LoopConfig
from akinai.learning.playbook.bullets import Bullet, Playbook, Section
from akinai.learning.roles.protocols import Evaluation, Trajectory
from akinai.learning.roles.tasks import Task
from akinai.learning.search.injection import inject_all
from together import together


def playbook(*contents: str) -> Playbook:
    bullets = tuple(Bullet(f"b-{n:05}", "s", content) for n, content in enumerate(contents, 1))
    return Playbook((Section("s", "", bullets),), len(bullets) + 1)


def texts(book: Playbook | None) -> list[str]:
    assert book is not None
    return [bullet.content for bullet in book]


@together("count", [2, 3, 16, 17, 24, 40])
def test_every_bullet_teaches_what_another_one_taught(count: int) -> None:
    """Occasions stay, lessons are a permutation without a fixed point, and the whole keeps its length."""
    book = playbook(*(f"occasion {n} -> lesson {n}" for n in range(count)))
    pairs = [text.split(" -> ") for text in texts(permute(book))]
    assert [occasion for occasion, _ in pairs] == [f"occasion {n}" for n in range(count)]
    assert sorted(lesson for _, lesson in pairs) == sorted(f"lesson {n}" for n in range(count))
    assert all(occasion[9:] != lesson[7:] for occasion, lesson in pairs)
    permuted = permute(book)
    assert permuted is not None
    assert inject_all(permuted).tokens == inject_all(book).tokens
    assert texts(permute(book)) == texts(permuted)


def test_sentences_exchange_their_second_parts_and_are_found_as_before() -> None:
    """No true sentence stays, as a whole it would only have moved; a search finds the ids that it found; one bullet
    has no control."""
    book = playbook("When it rains: take a coat", "When it snows: take skis", "No joint here at all")
    permuted_texts = texts(permute(book))
    assert not set(permuted_texts) & set(texts(book))
    assert permuted_texts[0].startswith("When it rains: ")
    assert permute(playbook("alone")) is None
    control = permuted_control(book, PlaybookRetriever(LoopConfig(top_k=1)))
    assert control is not None
    original = PlaybookRetriever(LoopConfig(top_k=1)).retrieve(book, "it snows")
    permuted = control.retriever.retrieve(control.playbook, "it snows")
    assert permuted.injection.bullet_ids == original.injection.bullet_ids
    assert "skis" not in permuted.injection.text


def test_a_bullet_does_not_get_a_lesson_equal_to_its_own() -> None:
    """Where several teach the same, each still gets another lesson."""
    gates = ["north", "south", "east", "west"]
    book = playbook(*(f"good {n} leaves by the {gates[n % 4]} gate" for n in range(12)))
    pairs = zip(texts(book), texts(permute(book)), strict=True)
    assert all(before.split()[-2] != after.split()[-2] for before, after in pairs)


def test_invented_numbers_keep_the_form_of_a_sentence() -> None:
    """Each number becomes another of as many digits; words stay; sentences without numbers give no control."""
    book = playbook("Sold 12 a day at $2.50 over 7 days.", "Order 340 units.")
    invented = texts(invent(book))
    assert invented != texts(book)
    assert [text.translate(str.maketrans("0123456789", "#" * 10)) for text in invented] == [
        "Sold ## a day at $#.## over # days.", "Order ### units.",
    ]  # fmt: skip
    assert invent(playbook("Be kind.")) is None


def test_raw_examples_use_their_tokens() -> None:
    """Over the tasks they take the mean that they are given, to five per cent, whatever the length of one."""
    examples = playbook(*(f"example {n} {'word ' * (n % 7)}" for n in range(40)))
    tasks = [Task(f"t{n}", f"example {n}", "").assignment for n in range(50)]
    retriever = PlaybookRetriever(LoopConfig(top_k=100, budget_tokens=0))
    for mean in (9.0, 31.0, 120.0):
        assigned = assign_examples(retriever, examples, tasks, mean)
        tokens = sum(retriever.by_ids(examples, ids).injection.tokens for ids in assigned.values())
        assert tokens / len(tasks) == pytest.approx(mean, rel=0.05)


def question(id: str, text: str, truth: str, *wrong: str) -> Task:
    return Task(id, text, truth, data={"question": text, "choices": [truth, *wrong]})


def test_near_copies_count_as_seen() -> None:
    """Reworded with one distractor changed, or with two and the same answer, or alike in words with an equal answer:
    seen, now and by a later learning's record of choices. Another question of one template is not."""
    train = [
        question("t1", "Which animal gives milk on a farm?", "cow", "hen", "fox", "owl", "cat"),
        *(Task(f"c{n}", f"What is the capital of {name}?", city) for n, (name, city) in enumerate(CAPITALS)),
    ]
    judged = [
        question("one", "What do farmers milk?", "cow", "hen", "fox", "owl", "car"),
        question("two", "What do farmers milk?", "cow", "hen", "fox", "bus", "car"),
        question("far", "What do farmers milk?", "cow", "bike", "tram", "bus", "car"),
        Task("same", "what's the capital of france", "Paris"),
        Task("template", "What is the capital of Norway?", "Oslo"),
    ]
    assert near_copies(train, judged) == {"one", "two", "same"}
    record = provenance(remember(Playbook(), train))
    assert [task.id for task in judged if task in record] == ["one"]
    assert [task.id for task in train if not record.has_text(task)] == []


CAPITALS = [("France", "Paris"), ("Spain", "Madrid"), ("Italy", "Rome"), ("Japan", "Tokyo"), ("Peru", "Lima")]


def test_a_rival_is_told_the_right_answer_where_the_learning_knows_it() -> None:
    """In tasks the answer, in runs what the world knew; a task without a truth tells none."""
    wrong = Evaluation(False, 0.0, "$3 in run-1; findings: none")
    assert outcome_text(Task("t", "?", "fox"), Trajectory("t", "hen"), wrong) == "wrong; the right answer is fox"
    assert outcome_text(Task("t", "?", ""), Trajectory("t", "hen"), wrong) == "wrong"
    run = Trajectory("t", "$3", details={"run": "run-1", "truth": "cola sells 12 a day"})
    assert outcome_text(Task("t", "?", ""), run, wrong) == "$3 in run-1; findings: none\ncola sells 12 a day"
