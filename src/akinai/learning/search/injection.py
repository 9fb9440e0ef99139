"""Text of bullets for a context: the best that fit a token budget, or the whole playbook. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from akinai.core.models import estimate_tokens
from akinai.learning.playbook.bullets import Bullet, Playbook, Section
from akinai.learning.playbook.texts import bullet_text, dumps_ace, heading


@dataclass(frozen=True, slots=True)
class Injection:
    """Bullets as text for a context."""

    text: str
    """The bullets in ACE's form under the headings of their sections, in the order of the first bullet of each."""
    bullet_ids: tuple[str, ...]
    """Ids of the bullets in the text, best first. They may be tagged afterwards."""
    tokens: int
    """Tokens of the text, as `estimate_tokens` counts them."""
    left_out: tuple[str, ...]
    """Ids of the bullets that did not fit, best first."""


def inject(bullets: Sequence[Bullet], *, budget_tokens: int | None = None) -> Injection:
    """Put bullets, best first, into a text of at most `budget_tokens` tokens, headings included; None is no limit.

    A bullet that does not fit is left out whole, and the next is tried. ValueError for a negative budget.
    """
    if budget_tokens is None:
        return _injected(bullets)
    if budget_tokens < 0:
        raise ValueError(f"a budget of {budget_tokens} tokens; give 0 or more, or None for no bound")
    included: list[Bullet] = []
    left_out: list[str] = []
    sections: set[str] = set()
    total = 0
    for bullet in bullets:
        lines = bullet_text(bullet) + "\n"
        cost = estimate_tokens(lines if bullet.section in sections else f"\n{heading(bullet.section)}\n{lines}")
        if total + cost <= budget_tokens:
            included.append(bullet)
            sections.add(bullet.section)
            total += cost
        else:
            left_out.append(bullet.id)
    return _injected(included, left_out)


def inject_all(playbook: Playbook) -> Injection:
    """The whole playbook, as ACE does it."""
    return _injected(list(playbook))


def _injected(bullets: Sequence[Bullet], left_out: Iterable[str] = ()) -> Injection:
    by_section: dict[str, list[Bullet]] = {}
    for bullet in bullets:
        by_section.setdefault(bullet.section, []).append(bullet)
    text = dumps_ace(Section(name, bullets=tuple(group)) for name, group in by_section.items())
    return Injection(text, tuple(bullet.id for bullet in bullets), estimate_tokens(text), tuple(left_out))
