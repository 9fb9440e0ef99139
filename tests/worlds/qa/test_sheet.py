"""The world of questions under the shipped laws, and its own rules, worked out by hand."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import akinai
from akinai.core import Genesis, Ledger, Plan, Routine, Turn, player
from akinai.core.errors import UsageError
from akinai.core.worlds import replay
from akinai.learning.choices import vote
from akinai.runtime.config.settings import prepare
from akinai.testing.laws import no_books, world_laws
from akinai.worlds.qa import SOLVER, Qa, State
from akinai.worlds.qa.model import Answer, Skip
from akinai.worlds.qa.players import best, overlap
from akinai.worlds.qa.questions import Question
from akinai.worlds.qa.tasks import concept, lesson_of, lessons, merge_lesson
from akinai.worlds.qa.world import score
from together import together

DATA = [
    {"id": "1", "question": "空から降る白いものは？", "choices": ["雪", "砂糖", "石"], "label": 0},
    {"id": "2", "question": "Where does bread come from?", "choices": ["a bank", "a bakery"], "label": 1},
    {"id": "3", "question": "２たす２は？", "choices": ["3", "4", "22"], "label": 1},
    {"id": "4", "question": "What is opened in the rain?", "choices": ["an umbrella", "the rain"], "label": 0},
]
SCORES = ("accuracy", "correct", "answered", "clean_accuracy", "clean_questions")


@player
def knowing(me: Routine) -> Plan:
    """Has the right answers by heart."""
    right = {question["question"]: question["choices"][question["label"]] for question in DATA}
    while True:
        yield Answer(choice=right[me.view.text.split("\n")[1]])


@player
def silent(_: Routine) -> Plan:
    """Skips every question."""
    while True:
        yield Skip()


def scores(*values: float) -> dict[str, float]:
    return dict(zip(SCORES, values, strict=True))


test_laws = world_laws(
    Qa(),
    setup={"data": DATA},
    long={"data": [{**DATA[n % 4], "id": str(n)} for n in range(200)]},
    players={"knowing": knowing, "silent": silent},
    samples=(Answer(choice="4"), Answer(choice=9), Answer(choice="")),
    scores={
        "silent": scores(0, 0, 0, 0, 4),
        "knowing": scores(1, 4, 4, 1, 4),
        "first": scores(0.5, 2, 4, 0.5, 4),
    },
    books=no_books,
)


def begun(**setup: Any) -> tuple[Qa, State]:
    world = Qa()
    table = world.setup.model_validate({"data": DATA, **setup}).model_dump(mode="json")
    return world, world.begin(Genesis(world.name, 1, table))


def at(world: Qa, state: State, *actions: Answer | Skip) -> tuple[State, list[str | None]]:
    """The state after some actions, and what each was refused for."""
    codes: list[str | None] = []
    for seq, action in enumerate(actions, 1):
        state, outcome = world.apply(state, Turn(seq, seq, SOLVER, action))
        codes.append(outcome.code)
    return state, codes


@pytest.mark.parametrize("choice", [2, "2", "4", " ４ "])
def test_a_choice_is_named_by_number_or_by_text(choice: int | str) -> None:
    """The text of a choice is meant where there is one, else its number: "2" is no text of the third question."""
    world, state = begun()
    state, codes = at(world, state, Skip(), Skip(), Answer(choice=choice))
    assert (state.answers[2], codes) == (1, [None, None, None])


@together("choice", [0, 4, -1, "", "snow", "0", "9" * 400])
def test_what_is_no_choice_is_refused(choice: int | str) -> None:
    """A number or a text that is none of the choices leaves the question asked, and a close match is offered."""
    world, state = begun()
    after, codes = at(world, state, Answer(choice=choice))
    assert (after, codes) == (state, ["no_such_choice"])


def test_a_mistyped_choice_is_told_the_close_one() -> None:
    """The refusal names what was probably meant."""
    world, state = begun()
    state, _ = at(world, state, Skip())
    _, outcome = world.apply(state, Turn(2, 2, SOLVER, Answer(choice="a bakry")))
    assert outcome.text == "no choice 'a bakry' here; did you mean 'a bakery'?"


@pytest.mark.parametrize("written", ["2", "(2)", "2.", "２"])
def test_models_spell_numbers_in_many_ways(written: str) -> None:
    """What a model writes for a number is heard as one."""
    world, state = begun()
    _, outcome = world.apply(state, Turn(1, 1, SOLVER, Answer.decode({"choice": written})))
    assert outcome.data == {"question": "1", "choice": 2}


def test_nobody_is_told_what_is_right() -> None:
    """A view and an outcome are the same whichever choice is right: the label reaches nobody."""
    transcripts: list[list[object]] = []
    for label in (0, 1):
        world, state = begun(data=[{**question, "label": label} for question in DATA])
        seen: list[object] = []
        for _ in DATA:
            seen.append(world.view(state, SOLVER))
            state, outcome = world.apply(state, Turn(1, 1, SOLVER, Answer(choice=1)))
            seen.append(outcome)
        transcripts.append(seen)
    assert transcripts[0] == transcripts[1]


def test_each_question_behind_the_first_is_news() -> None:
    """Who remembers only its first view is told every other question, once, whatever it did with the one before."""
    world, state = begun()
    views = [world.view(state, SOLVER)]
    for seq, action in enumerate([Answer(choice=1), Skip(), Answer(choice=9), Answer(choice=2)], 1):
        state, _ = world.apply(state, Turn(seq, 0, SOLVER, action))
        views.append(world.view(state, SOLVER))
    assert views[0].news == ""
    assert [view.news.partition("\n")[0] for view in views[1:]] == [f"Question {n} of 4" for n in (2, 3, 3, 4)]
    assert all(view.news == view.text for view in views[1:])


def test_a_run_that_ends_early_keeps_its_denominator() -> None:
    """Questions that nobody came to answer count as not right."""
    (run,) = akinai.run("qa", agent="first", settings={"max_messages": 6})
    scores = {score.name: score.value for score in run.scores}
    assert (run.ending, scores["answered"]) == ("message_cap", 6)
    assert scores["accuracy"] == scores["correct"] / 24


def test_the_clean_scores_leave_out_what_was_seen(tmp_path: Path) -> None:
    """A question is seen when its text or the set of its choices stands in the other file."""
    first = {"q_id": 7, "question": DATA[0]["question"], "choice0": "other", "choice1": "choices", "label": 0}
    second = {"q_id": 8, "question": "Another?", "choice0": "A BAKERY", "choice1": "a bank", "label": 0}
    seen = tmp_path / "seen.jsonl"
    seen.write_text(f"{json.dumps(first)}\n{json.dumps(second)}\n")
    setup = prepare(Qa(), settings=[f"seen={seen}"]).setup | {"data": DATA}
    assert score(replay(Qa(), Ledger(Genesis("qa@1", 1, setup))))[-1].value == 2


def test_the_seed_draws() -> None:
    """`draw` takes as many questions as it says, others for another seed, in the order of the data."""
    sheets = [
        Qa().begin(Genesis("qa@1", seed, {"data": DATA, "draw": 2, "max_messages": 0})).sheet for seed in range(9)
    ]
    assert {len(sheet) for sheet in sheets} == {2}
    assert all([question.id for question in sheet] == sorted(question.id for question in sheet) for sheet in sheets)
    assert len({tuple(question.id for question in sheet) for sheet in sheets}) > 2
    with pytest.raises(UsageError, match="draw 9: the data holds 4 questions; draw fewer"):
        prepare(Qa(), settings={"draw": 9, "data": DATA})


def test_without_a_word_in_common_the_first_is_taken() -> None:
    """Overlap counts different words, and the first of the best is chosen."""
    assert overlap("What is opened in the rain?", ["an umbrella", "the rain"]) == [0, 2]
    assert best([0, 0, 0]) == 0
    assert best([0, 1, 1]) == 1


def test_a_bullet_votes_with_both_of_its_scores() -> None:
    """Squares of both scores, over the lengths of both vectors of squares; a bullet that one side misses is mute."""
    ballot = vote({"a": 1.0, "b": 0.5}, [{"a": 0.5, "c": 1.0}, {"b": 1.0}, {}])
    length = (1 + 0.5**4) ** 0.5
    assert ballot.votes == pytest.approx((0.25 / (length * (0.5**4 + 1) ** 0.5), 0.25 / length, 0))
    assert ballot.voters == (("a",), ("b",), ())
    assert ballot.choice == 1
    assert vote({}, [{"a": 1.0}]).choice is None


@pytest.mark.parametrize(
    ("question", "phrase"),
    [
        ("火を起こすとあらわれるもくもくするものは？", "火を起こすとあらわれるもくもくするもの"),
        ("海が陸地に入り込んでいる所を何という？", "海が陸地に入り込んでいる所"),
        ("大型商業施設といえば？", "大型商業施設"),
        ("a; b -> c?", "a, b to c"),
        ("何？", "何"),
    ],
)
def test_a_concept_is_the_question_without_asking(question: str, phrase: str) -> None:
    """The words that only ask are left out, and what would look like a border of the bullet is written otherwise."""
    assert concept(question) == phrase


def test_lessons_on_one_answer_become_one_bullet() -> None:
    """Concepts stand side by side before their answer, each once."""
    questions = [
        Question(id=str(n), question=q, choices=("雪", "雨"), label=0)
        for n, q in enumerate(["空の白", "冬の白", "空の白"])
    ]
    taught = [lesson_of(question) for question in questions]
    content = merge_lesson(merge_lesson(taught[0].content, taught[1]), taught[2])
    assert content == "空の白; 冬の白 -> 雪"
    assert {lesson.about for lesson in taught} == {"雪"}


def test_a_record_teaches_what_was_asked_in_it() -> None:
    """Every question that went by gives its lesson with the entry that closed it, and none that was not reached."""
    (run,) = akinai.run("qa", agent="first", settings={"max_messages": 3})
    taught = lessons(replay(Qa(), run.ledger))
    assert [lesson.entries for lesson in taught] == [(1,), (2,), (3,)]
    assert taught[0].content == "急に雨が降ってきたとき、濡れずに歩くために開くもの -> 傘"


def test_a_sheet_in_parquet_is_read_or_says_what_to_install(tmp_path: Path) -> None:
    """A Parquet file is a sheet where pyarrow is installed; else, and for a file that is none, one sentence."""
    path = tmp_path / "sheet.parquet"
    row = {"q_id": 1, "question": "Which falls?", "choice0": "snow", "choice1": "stone", "label": 0}
    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError:
        path.write_bytes(b"PAR1")
        with pytest.raises(UsageError, match="pyarrow is not installed; pip install pyarrow"):
            prepare(Qa(), settings=[f"data={path}"])
        return
    parquet.write_table(import_module("pyarrow").Table.from_pylist([row]), path)
    (question,) = prepare(Qa(), settings=[f"data={path}"]).setup["data"]
    assert (question["question"], question["choices"][question["label"]]) == ("Which falls?", "snow")
