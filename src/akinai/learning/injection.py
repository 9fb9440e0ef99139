"""What of a playbook goes into a context: the best bullets that fit a budget of tokens, or all of them. Pure."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from akinai.learning.ace_text import bullet_text, dumps_ace, heading
from akinai.learning.playbook import Bullet, Playbook, Section

TokenCounter: TypeAlias = Callable[[str], int]
"""A text in, the number of its tokens out."""


@dataclass(frozen=True, slots=True)
class Injection:
    """Bullets as they go into a context."""

    text: str
    """The bullets in ACE's form under the headings of their sections; the sections in the order of the playbook."""
    bullet_ids: tuple[str, ...]
    """The bullets that are in the text, best first: what may be tagged afterwards."""
    tokens: int
    """Of the text, by the counter."""
    left_out: tuple[str, ...]
    """The bullets that did not fit, best first."""


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has: one for four characters of ASCII, one for any other character.

    A rule of thumb for the tokenizers of large models, in English and Japanese; for a bill, use the model's own.
    """
    ascii_characters = len(text.encode("ascii", "ignore"))
    return -(-ascii_characters // 4) + len(text) - ascii_characters


def inject(
    bullets: Sequence[Bullet], *, budget_tokens: int | None = None, count_tokens: TokenCounter = estimate_tokens
) -> Injection:
    """Put bullets, best first, into a text of at most `budget_tokens` tokens, headings included; None: all of them.

    One that does not fit is left out whole and the next is tried. ValueError for a negative budget.
    """
    if budget_tokens is None:
        return _injected(bullets, (), count_tokens)
    if budget_tokens < 0:
        raise ValueError(f"a budget of {budget_tokens} tokens; give 0 or more, or None for no bound")
    chosen: list[Bullet] = []
    left_out: list[str] = []
    headed: set[str] = set()
    spent = 0
    for bullet in bullets:
        lines = bullet_text(bullet) + "\n"
        cost = count_tokens(lines if bullet.section in headed else f"\n{heading(bullet.section)}\n{lines}")
        if spent + cost <= budget_tokens:
            chosen.append(bullet)
            headed.add(bullet.section)
            spent += cost
        else:
            left_out.append(bullet.id)
    made = _injected(chosen, left_out, count_tokens)
    while made.tokens > budget_tokens:  # a counter may find more in the whole than in the parts
        left_out.insert(0, chosen.pop().id)
        made = _injected(chosen, left_out, count_tokens)
    return made


def inject_all(playbook: Playbook, *, count_tokens: TokenCounter = estimate_tokens) -> Injection:
    """The whole playbook, as ACE does it."""
    return _injected(list(playbook), (), count_tokens)


def _injected(bullets: Sequence[Bullet], left_out: Iterable[str], count_tokens: TokenCounter) -> Injection:
    by_section: dict[str, list[Bullet]] = {}
    for bullet in bullets:
        by_section.setdefault(bullet.section, []).append(bullet)
    text = dumps_ace(Section(name, bullets=tuple(some)) for name, some in by_section.items())
    return Injection(text, tuple(bullet.id for bullet in bullets), count_tokens(text), tuple(left_out))
