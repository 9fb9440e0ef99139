"""Laws of the roles that ask a model: how replies are read, when they are given up, where the bullets go."""

import json
from pathlib import Path

import pytest
from learners_for_tests import FACTS, Scripted, contents, prompt_of
from playbooks_for_tests import NASTY

from akinai.core.errors import UnknownName, UsageError
from akinai.core.models import Usage
from akinai.learning import Delta, Operation, Playbook, Section, apply_delta, inject_all
from akinai.learning.data_sets import DataSet
from akinai.learning.roles.model import model_roles
from akinai.learning.roles.protocols import Evaluation, Insights, Retrieved, Roles, Trajectory
from akinai.learning.roles.replies import read_operations
from akinai.learning.roles.requests import TooManyUnreadable
from akinai.learning.roles.tasks import Task
from akinai.learning.roles.templates import LANGUAGES, SMALL, PromptTemplates, prompts_folder
from akinai.runtime.learn.settings import LearnSettings
from together import together

TASK = Task("t1", "What is the code of item1?", "code1")
WRONG = Trajectory("t1", "code2", "a guess")
JUDGED = Evaluation(False, 0.0, "answered 'code2'")

ANSWER = '{"reasoning": "so", "bullet_ids": ["fac-00001"], "answer": "code1"}'
INSIGHT = '{"key_insight": "look it up", "bullet_tags": [{"id": "fac-00001", "tag": "Harmful"}]}'
OPERATIONS = '{"reasoning": "new", "operations": [{"type": "ADD", "section": "facts", "content": "item1: code1"}]}'


def playbook(*texts: str) -> Playbook:
    operations = tuple(Operation("ADD", "facts", content=text) for text in texts)
    return apply_delta(Playbook().with_sections(FACTS), Delta(operations=operations))[0]


def retrieved(*texts: str) -> Retrieved:
    book = playbook(*texts)
    return Retrieved(inject_all(book), book)


def cast(model: Scripted, templates: PromptTemplates | None = None) -> Roles:
    return model_roles(lambda _: model, "scripted", templates)


async def answer_to(*replies: str, bullets: Retrieved | None = None) -> tuple[Trajectory, Scripted]:
    model = Scripted(*replies)
    return await cast(model).generator.generate(TASK.assignment, bullets or retrieved("a fact")), model


@pytest.mark.parametrize("around", ["{}", "```json\n{}\n```", "Let me see, {{x}} it is.\n\n{}\n\nDone.", "```\n{}```"])
async def test_replies_are_read_pure_fenced_and_inside_prose(around: str) -> None:
    """What a model writes around its object does not matter, in any of the three roles."""
    trajectory, _ = await answer_to(around.replace("{}", ANSWER))
    assert (trajectory.answer, trajectory.used, trajectory.failed) == ("code1", ("fac-00001",), "")
    roles = cast(Scripted(around.replace("{}", INSIGHT)))
    insights = await roles.reflector.reflect(TASK, WRONG, JUDGED, retrieved("a fact"))
    assert (insights.key_insight, [tag.tag for tag in insights.tags]) == ("look it up", ["harmful"])
    curation = await cast(Scripted(around.replace("{}", OPERATIONS))).curator.curate([insights], playbook())
    assert curation.delta.operations == (Operation("ADD", "facts", content="item1: code1"),)


@together("end", range(1, len(OPERATIONS) - 1, 7))
async def test_a_truncated_delta_is_asked_for_again_and_then_refused_and_counted(end: int) -> None:
    """Wherever a Curator's reply stops, nothing is made of it; three such replies are a refusal with a reason."""
    model = Scripted(OPERATIONS[:end])
    curation = await cast(model).curator.curate([Insights("t1", key_insight="x")], playbook())
    assert curation.delta == Delta()
    assert curation.failed
    assert (curation.usage.calls, curation.usage.unreadable, len(model.requests)) == (3, 3, 3)
    assert curation.usage.tokens == Usage(30, 9)


async def test_what_could_not_be_read_is_told_and_asked_again() -> None:
    """The second request holds the unreadable reply and the reason; a good second reply is taken."""
    trajectory, model = await answer_to(ANSWER[:40], ANSWER)
    assert (trajectory.answer, trajectory.usage.calls, trajectory.usage.unreadable) == ("code1", 2, 1)
    again = [(message.speaker, message.text) for message in model.requests[1].messages[-2:]]
    assert again[0] == ("assistant", ANSWER[:40])
    assert "stops before its end" in again[1][1]


@together(
    ("reply", "message"),
    [
        ('{"answer": ["code1", "code2"]}', r'answer is \["code1", "code2"\]; give a text'),
        ('{"answer": true}', "answer is true; give a text"),
        ('{"answer": ""}', "answer is empty; give it"),
        ('{"answer": null}', "answer is empty; give it"),
        ('{"answer": "x", "bullet_ids": 1}', "bullet_ids is 1; give a list of texts"),
        ('{"answer": "...", "bullet_ids": []}', "the example's texts"),
        ('{"answer": "x", "bullet_ids": [1]}', r"bullet_ids is \[1\]; give a list of texts"),
        ('{"answer": "x", "reasoning": {}}', "reasoning is {}; give a text"),
        ("", "the reply is empty"),
        ("{'answer': code1}", "is no JSON near: answer"),
        ("__import__('os').system('touch /tmp/pwned')", "no JSON object"),
        ('{"answer": NaN}', "is no JSON near: answer NaN"),
    ],
)
async def test_a_wrong_type_is_that_fields_error(reply: str, message: str) -> None:
    """Nothing is guessed and nothing is run: the field is named, asked for again, and at last given up."""
    trajectory, model = await answer_to(reply)
    assert trajectory.answer == ""
    assert len(model.requests) == 3
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(trajectory.failed)


async def test_a_number_is_an_answer_and_actions_are_one_too() -> None:
    """A model that answers 10 or lists what it does is understood."""
    assert (await answer_to('{"answer": 10}'))[0].answer == "10"
    trajectory, _ = await answer_to('{"reasoning": "r", "actions": ["open the box", "look"]}')
    assert (trajectory.answer, trajectory.actions) == ("", ("open the box", "look"))


async def test_a_reflector_and_a_curator_are_held_to_their_fields_too() -> None:
    """An insight that is no text and operations that are no list are asked for again; a bad item stands alone."""
    insights = await cast(Scripted('{"key_insight": 3}')).reflector.reflect(TASK, WRONG, JUDGED, retrieved())
    assert "key_insight is 3; give a text" in insights.failed
    curation = await cast(Scripted('{"operations": "ADD"}')).curator.curate([], playbook())
    assert 'operations is "ADD"; give a list of operations' in curation.failed
    mixed = json.loads(OPERATIONS)
    mixed["operations"].append({"type": "REPLACE", "content": "x"})
    curation = await cast(Scripted(json.dumps(mixed))).curator.curate([], playbook())
    after, refusals = apply_delta(playbook(), curation.delta)
    assert contents(after) == ["item1: code1"]
    assert [(refusal.place, refusal.code) for refusal in refusals] == [("operations[1]", "bad_field")]


@together("text", [*NASTY[:6], "{{task}} {{truth}} {{nothing}} {answer}", "=== user ==="])
async def test_braces_in_a_bullet_never_break_a_prompt(text: str) -> None:
    """What goes into a prompt is text: it stands there as it is, and names no place, in all three roles."""
    text = text.rstrip()
    bullets = retrieved(f"x{text}")
    _, model = await answer_to(ANSWER, bullets=bullets)
    assert bullets.injection.text.strip() in prompt_of(model.requests[0])
    assert TASK.truth not in prompt_of(model.requests[0])
    model = Scripted(INSIGHT)
    insights = Insights("t1", key_insight=f"x{text}", error_identification="{{x}}")
    hard = Task("t1", f"x{text}", f"y{text}")
    await cast(model).reflector.reflect(hard, WRONG, JUDGED, bullets, [insights])
    for part in (f"x{text}", f"y{text}", bullets.injection.text.strip(), "{{x}}"):
        assert part in prompt_of(model.requests[0])
    model = Scripted(OPERATIONS)
    await cast(model).curator.curate([insights], bullets.playbook)
    assert f"x{text}" in prompt_of(model.requests[0])


@pytest.mark.parametrize("language", LANGUAGES)
async def test_configuration_alone_moves_the_bullets(language: str) -> None:
    """Each named place is one: the bullets stand there, once, and nowhere else."""
    positions: dict[str, tuple[str, int, int]] = {}
    for slot in ("system", "before_task", "after_task"):
        model = Scripted(ANSWER)
        templates = PromptTemplates(language, bullets_at=slot)
        await cast(model, templates).generator.generate(TASK.assignment, retrieved("a fact of its own"))
        assert prompt_of(model.requests[0]).count("a fact of its own") == 1
        holder = next(message for message in model.requests[0].messages if "a fact of its own" in message.text)
        positions[slot] = holder.speaker, holder.text.find("a fact of its own"), holder.text.find(TASK.text)
    assert [positions[slot][0] for slot in positions] == ["system", "user", "user"]
    assert positions["before_task"][1] < positions["before_task"][2]
    assert positions["after_task"][1] > positions["after_task"][2]
    with pytest.raises(UnknownName, match="did you mean 'before_task'"):
        PromptTemplates(language, bullets_at="before_tasks")


async def test_an_empty_playbook_leaves_no_trace_in_the_prompt() -> None:
    """Without bullets there is no heading for them, and no hole where they would be."""
    _, model = await answer_to(ANSWER, bullets=retrieved())
    assert "Playbook:" not in prompt_of(model.requests[0])
    assert "\n\n\n" not in prompt_of(model.requests[0])


def test_the_languages_have_the_same_prompts_with_the_same_places() -> None:
    """A translation that forgot a place would hide something from a role."""
    root = Path(__file__).parents[2] / "src" / "akinai" / "learning" / "roles" / "prompts"
    names = {language: sorted(path.name for path in (root / language).iterdir()) for language in LANGUAGES}
    assert len({tuple(name) for name in names.values()}) == 1
    for name in names["en"]:
        texts = [(root / language / name).read_text(encoding="utf-8") for language in LANGUAGES]
        places = [sorted(part.partition("}}")[0] for part in text.split("{{")[1:]) for text in texts]
        keys = [
            sorted(part for part in text.split('"')[1::2] if part.isidentifier() and part.isascii()) for text in texts
        ]
        assert places[0] == places[1], name
        assert keys[0] == keys[1], name


async def test_prompts_of_ones_own_replace_the_packaged_ones(tmp_path: Path) -> None:
    """A folder with one file changes that prompt; a place that nothing fills is named."""
    (tmp_path / "generator.md").write_text("Mine: {{task}}\n{{bullets@here}}")
    model = Scripted(ANSWER)
    templates = PromptTemplates(folder=tmp_path, bullets_at="here")
    await cast(model, templates).generator.generate(TASK.assignment, retrieved("a fact"))
    (message,) = model.requests[0].messages
    assert message.speaker == "user"
    assert message.text.startswith(f"Mine: {TASK.text}\nPlaybook:\n\n## FACTS")
    (tmp_path / "generator.md").write_text("{{bullets@here}} {{tsak}}")
    with pytest.raises(UnknownName, match="did you mean 'task'"):
        await cast(Scripted(ANSWER), templates).generator.generate(TASK.assignment, retrieved())
    with pytest.raises(UsageError, match="no folder"):
        PromptTemplates(folder=tmp_path / "none")


async def test_the_prompts_for_small_models_ask_for_one_sentence(tmp_path: Path) -> None:
    """A Reflector and a Curator that are asked by them learn from replies of one field; a folder of one's own that is
    called the same goes first."""
    templates = LearnSettings(prompts=SMALL).templates(DataSet("sums", lambda _: ()))
    reply = '{"key_insight": "When the sum is 2 + 3, then it is 5."}'
    reflector = Scripted(reply)
    insights = await cast(reflector, templates).reflector.reflect(TASK, WRONG, JUDGED, retrieved("a fact"))
    assert insights.key_insight == "When the sum is 2 + 3, then it is 5."
    assert "harmful" not in prompt_of(reflector.requests[0])
    curator = Scripted('{"operations": [{"type": "ADD", "section": "facts", "content": "2 + 3 is 5"}]}')
    curation = await cast(curator, templates).curator.curate([insights], playbook("a fact"))
    assert curation.delta.operations == (Operation("ADD", "facts", content="2 + 3 is 5"),)
    assert insights.key_insight in prompt_of(curator.requests[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        (tmp_path / SMALL).mkdir()
        assert prompts_folder(SMALL) == Path(SMALL)


def test_a_new_bullet_has_no_id_of_another() -> None:
    """A model that copies the id of a bullet beside an ADD means a new one; UPDATE and DELETE name theirs."""
    operations = [
        {"type": kind, "section": "facts", "bullet_id": "fac-00001", "content": "x"} for kind in ("ADD", "UPDATE")
    ]
    assert [operation.bullet_id for operation in read_operations(operations) if isinstance(operation, Operation)] == [
        None,
        "fac-00001",
    ]


async def test_a_curator_is_shown_what_its_budget_holds() -> None:
    """A playbook above the budget is shown in part: the bullets that the insights are about."""
    book = playbook(*(f"The code of item{n} is code{n}" for n in range(200)))
    model = Scripted(OPERATIONS)
    roles = model_roles(lambda _: model, "scripted", budget_tokens=100)
    await roles.curator.curate([Insights("t77", key_insight="The code of item77 is wrong")], book)
    prompt = model.requests[0].messages[-1].text
    assert ":: The code of item77 is code77" in prompt
    assert ":: The code of item3 is code3" not in prompt
    assert "under 100" in model.requests[0].messages[0].text


async def test_sections_go_into_the_prompts_with_their_descriptions() -> None:
    """Curator and Reflector are told every section and what belongs into it."""
    book = Playbook().with_sections([Section("商品知識", "何が売れるか。"), Section("bare")])
    model = Scripted(OPERATIONS)
    await cast(model).curator.curate([], book)
    assert "- 商品知識: 何が売れるか。\n- bare: -" in prompt_of(model.requests[0])
    model = Scripted(INSIGHT)
    await cast(model).reflector.reflect(TASK, WRONG, JUDGED, Retrieved(inject_all(book), book))
    assert "- 商品知識: 何が売れるか。" in prompt_of(model.requests[0])


@pytest.mark.parametrize("language", LANGUAGES)
async def test_every_prompt_of_a_language_is_filled(language: str) -> None:
    """No role's messages, those after an unreadable reply among them, show a place that was left open."""
    model = Scripted("?")
    roles = cast(model, PromptTemplates(language))
    insights = Insights("t1", key_insight="look it up")
    await roles.generator.generate(TASK.assignment, retrieved("a fact"), [insights])
    await roles.reflector.reflect(TASK, WRONG, JUDGED, retrieved("a fact"), [insights])
    await roles.curator.curate([insights], playbook("a fact"))
    assert len(model.requests) == 9
    for request in model.requests:
        assert "{{" not in prompt_of(request)
        assert "a fact" in prompt_of(request)
        assert "look it up" in prompt_of(request)


FIRST = {"type": "ADD", "section": "facts", "content": "item1: code1"}


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ({"type": "ADD", "section": "fact_list", "content": "x"}, {"type": "ADD", "section": "facts", "content": "x"}),
        ({"type": "DELETE", "bullet_id": "fac-0001"}, {"type": "DELETE", "bullet_id": "fac-00001"}),
    ],
)
async def test_a_near_name_is_asked_for_once_more(wrong: dict[str, str], right: dict[str, str]) -> None:
    """The refusal is shown to the Curator; its corrections take the place of what was refused, the rest stays."""
    both, corrected = json.dumps({"operations": [wrong, FIRST]}), json.dumps({"operations": [FIRST, right]})
    model = Scripted(both, corrected)
    book = playbook("a fact")
    curation = await cast(model).curator.curate([], book)
    assert "did you mean" in model.requests[1].messages[-1].text
    assert (curation.asked_again, curation.usage.calls, curation.usage.unreadable) == (1, 2, 0)
    after, refusals = apply_delta(book, curation.delta)
    assert not refusals
    assert ("x" in contents(after)) == (right["type"] == "ADD")
    assert "item1: code1" in contents(after)


@pytest.mark.parametrize("again", ["?", json.dumps({"operations": [{"type": "DELETE", "bullet_id": "fac-0001"}]})])
async def test_a_near_name_is_not_asked_for_twice(again: str) -> None:
    """When the second reply is no better the operation is refused and counted; a name that is near nothing at once."""
    wrong = json.dumps({"operations": [{"type": "DELETE", "bullet_id": "fac-0001"}, FIRST]})
    model, book = Scripted(wrong, again), playbook("a fact")
    curation = await cast(model).curator.curate([], book)
    assert (len(model.requests), curation.asked_again) == (2, 1)
    after, refusals = apply_delta(book, curation.delta)
    assert [refusal.code for refusal in refusals] == ["unknown_bullet"]
    assert contents(after) == ["a fact", "item1: code1"]
    far = Scripted(json.dumps({"operations": [{"type": "DELETE", "bullet_id": "9"}]}))
    assert (await cast(far).curator.curate([], book)).asked_again == 0


async def test_a_streak_is_of_all_roles_and_ends_with_a_readable_reply() -> None:
    """Unreadable replies of all roles count together; a readable one ends the streak; the limit stops the learning."""
    model = Scripted("?", "?", "?", "?", ANSWER, "?", "?", "?", "?", "")
    roles = model_roles(lambda _: model, "scripted", unreadable_limit=5)
    for _ in range(2):
        await roles.generator.generate(TASK.assignment, retrieved())
    await roles.reflector.reflect(TASK, WRONG, JUDGED, retrieved())
    with pytest.raises(TooManyUnreadable) as caught:
        await roles.curator.curate([], playbook())
    assert (
        caught.value.why
        == "5 replies in a row could not be read, the last because the reply is empty; answer with one JSON object"
    )


async def test_several_answers_are_asked_for_again_once() -> None:
    """Two objects that fit and differ: the model is asked for one; when it sends several again it is given up."""
    two = ANSWER + "\nor\n" + ANSWER.replace("code1", "code2")
    trajectory, model = await answer_to(two, ANSWER)
    assert (trajectory.answer, len(model.requests)) == ("code1", 2)
    assert "send one" in model.requests[1].messages[-1].text
    trajectory, model = await answer_to(two)
    assert (trajectory.answer, len(model.requests), dict(trajectory.usage.reasons)) == ("", 2, {"several": 2})
