"""Playbooks of every shape, for the laws of the learner's tests."""

from hypothesis import strategies as st

from akinai.learning import Bullet, Delta, Operation, Playbook, PlaybookFile, Section, Tagging
from akinai.learning.playbook.bullets import bullet_id
from akinai.learning.playbook.deltas import BulletTag

NASTY = [
    'two\nlines, "quotes", {braces} {{x}} {0}, a :: b, [shr-00001] helpful=1 harmful=2 :: c',
    "## SECTION\n  | margin\n\n\n",
    " \t leading and trailing \r\n",
    "絵文字 🛒👨‍👩‍👧 と 改行\r",
    "\u2028\u2029\x0b\x0c\x1c\x1f\x7f\x85\ufeff\ufffe",
    "]:: \\n \\ \\u0041 %s $(x) `rm -rf`",
    "long " + "あ🛒\n" * 3_333,
]

safe_texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
contents = st.sampled_from(NASTY) | safe_texts
names = st.sampled_from(
    ["strategies_and_hard_rules", "料理のコツ", "api-usage", "Domain Knowledge", "## x", '"quoted"', "a&b", "Ünïcode_ß"]
) | safe_texts.map(lambda text: " ".join(text.split())).filter(lambda text: text and len(text) <= 40)
counters = st.integers(0, 50)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | safe_texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(safe_texts, inner, max_size=3),
    max_leaves=6,
)
unknown = st.dictionaries(st.sampled_from(["x-note", "メモ", "type", "hierarchical_level"]), json_values, max_size=2)


@st.composite
def playbooks(draw: st.DrawFn) -> Playbook:
    """A playbook as a file could hold it."""
    numbers = iter(draw(st.permutations(range(1, 20))))
    sections: list[Section] = []
    for name in draw(st.lists(names, max_size=4, unique=True)):
        bullets = [
            Bullet(
                bullet_id(name, next(numbers)),
                name,
                draw(contents),
                tuple(draw(st.lists(safe_texts, max_size=3))),
                *(draw(counters), draw(counters), draw(counters)),
                draw(st.sampled_from(["", "run-1#3 -> run-1#9", "a#1; b#2"])),
                draw(unknown),
            )
            for _ in range(draw(st.integers(0, 4)))
        ]
        extra = draw(st.dictionaries(st.just("colour"), json_values, max_size=1))
        sections.append(Section(name, draw(safe_texts), tuple(bullets), extra))
    times = st.sampled_from(["", "2025-01-31T09:00:00Z"])
    extras = st.dictionaries(st.sampled_from(["owner", "版"]), json_values, max_size=2)
    return Playbook(
        *(tuple(sections), draw(st.integers(20, 99)), draw(times), draw(times)),
        *(draw(extras), draw(extras), draw(st.none() | extras)),
    )


SECTIONS = (Section("rules", "What holds."), Section("料理のコツ"), Section("api-usage"))


def add(*contents: str, section: str = "rules", id: str = "") -> Delta:
    """A delta that adds bullets."""
    return Delta(id, tuple(Operation("ADD", section, content=content) for content in contents))


def tag(task: str, *tags: tuple[str, str], id: str = "") -> Delta:
    """A delta of one task that was given the bullets it tags."""
    bullet_tags = tuple(BulletTag(bullet, verdict) for bullet, verdict in tags)  # pyright: ignore[reportArgumentType]
    return Delta(id, taggings=(Tagging(task, tuple(bullet for bullet, _ in tags), bullet_tags),))


def contents_of(playbook: Playbook) -> list[str]:
    return [bullet.content for bullet in playbook]


class Clock:
    """A second passes at each look."""

    def __init__(self) -> None:
        self.looks = 0

    def __call__(self) -> str:
        self.looks += 1
        return f"2025-01-31T09:{self.looks // 60:02}:{self.looks % 60:02}Z"


def begun(path: object, *contents: str) -> PlaybookFile:
    """A playbook on disk with three sections and these bullets, a clock of its own."""
    file = PlaybookFile(str(path), now=Clock())
    file.begin(SECTIONS)
    if contents:
        file.commit(add(*contents))
    return file
