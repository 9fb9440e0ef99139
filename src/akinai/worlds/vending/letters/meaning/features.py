"""What a clause of a letter is judged by: its words, their meanings, their neighbours, and what stands beside it."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations

from akinai.worlds.vending.letters.meaning.lexicon import MEANINGS, japanese_meanings, stem
from akinai.worlds.vending.letters.meaning.turns import turns_in
from akinai.worlds.vending.letters.text import Clause

_PLACES = (
    (
        re.compile(
            r"\bq ?-? ?#?[0-9]{1,9}(?![0-9a-z])|"
            r"\bquot(?:e|ation) ?(?:number |no\.? ?|nr\.? ?|id ?|#)?#?[0-9]{1,9}\b(?! ?§)|"
            r"見積(?:書|もり|り)?(?:番号)?\s?[0-9]{1,9}"
        ),
        " QUO ",
    ),
    (
        re.compile(
            r"\borders? ?(?:number |no\.? ?|nr\.? ?|id )?:? ?#?[0-9]{1,6}\b(?! ?(?:§|x\b|units|cases))|"
            r"注文(?:番号)?\s?[0-9]{1,6}|#[0-9]{1,6}\b"
        ),
        " ORD ",
    ),
    (
        re.compile(r"[$＄][0-9][0-9.,]*|[0-9][0-9.]{0,9} ?(?:cents?\b|c\b|¢|dollars?\b|usd\b|bucks\b|セント|ドル)"),
        " MON ",
    ),
    (re.compile(r"[0-9][0-9.]{0,5} ?(?:%|per ?cent\b|割)"), " PCT "),
    (
        re.compile(
            r"\b[0-9][0-9,.]{0,9} ?(?:x |units? |cases? |bottles? |cans? |bags? |packs? |pieces? |of ){0,3}(?=§)|"
            r"(?<=§)[ :x-]{0,4}[0-9]{1,6}(?: (?:units|cases))?"
        ),
        " CNT ",
    ),
    (re.compile(r"[0-9]+(?:[.,:/-][0-9]+){0,6}"), " NUM "),
)
"""Numbers by what they count: quotes, orders, money, per cent, goods, anything else."""
_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?|§|[A-Z]{3}|[?!:]|[\u3040-\u30ff\u3400-\u9fff]+")


@lru_cache(maxsize=256)
def _tokens(low: str) -> tuple[str, ...]:
    if re.search("[0-9]", low):
        for pattern, place in _PLACES:
            low = pattern.sub(place, low)
    return tuple(_TOKEN.findall(low))


def features(clause: Clause, units: bool) -> Iterator[str]:
    """The features of a clause by itself; `units` says whether it names goods with quantities."""
    yield from ("*", "units" if units else "no units")
    forms: list[tuple[str, ...]] = [("^",)]
    for token in _tokens(clause.low):
        if token[0] > "\u3000":
            yield from (token[at : at + size] for size in (2, 3) for at in range(len(token) - size + 1))
            forms.extend((f"={meaning}",) for meaning in japanese_meanings(token))
        else:
            word = stem(token) if token.islower() else token
            forms.append((word, *(f"={meaning}" for meaning in MEANINGS.get(word, ()))))
    forms.append(("$",))
    for at, here in enumerate(forms):
        yield from here
        if at:
            yield from (f"{left} {right}" for left in forms[at - 1] for right in here)
        if at > 1:
            yield from (f"{a} _ {b}" for a in forms[at - 2] if _abstract(a) for b in here if _abstract(b))
    turns = turns_of(clause.low)
    yield from (f"%{turn}" for turn in turns)
    yield from (f"%{a} {b}" for a, b in combinations(sorted(turns), 2))
    if clause.asks:
        yield from (f"?%{turn}" for turn in turns)
    if units:
        yield from (f"u%{turn}" for turn in turns)
    meanings = {form for here in forms for form in here}
    marked = [form for form in meanings if form[0] == "="]
    if clause.asks:
        yield from ("asks", *(f"?{form}" for form in marked))
    if clause.listed:
        yield "listed"
    if units:
        yield from (f"u{form}" for form in marked)
    if clause.sentence != clause.low:
        yield from (f"~{form}" for form in meanings_in(clause.sentence) if form not in meanings)


@lru_cache(maxsize=256)
def turns_of(low: str) -> frozenset[str]:
    """The turns of speech in a text."""
    return frozenset(turns_in([stem(token) if token.islower() else token for token in _tokens(low)]))


def _abstract(form: str) -> bool:
    return form[0] == "=" or form.isupper()


def surroundings(subject: str, lows: Sequence[str], goods: bool) -> list[str]:
    """What all clauses of a letter share; `goods` says whether any clause names goods with quantities."""
    whole = [*lows, subject]
    shared = [f"S{meaning}" for meaning in meanings_in(subject)]
    named = {token for low in whole for token in _tokens(low)}
    shared += [f"L{place}" for place in ("ORD", "QUO", "MON", "PCT") if place in named]
    if any("the address" in low for low in whole) and any("the account" in low for low in whole):
        shared += ["Ldelivery", "Ldelivery goods"] if goods else ["Ldelivery"]
    if goods:
        shared.append("Lgoods")
    if len(lows) < 4:
        shared.append("Lshort")
    return shared


def before(lows: Sequence[str], at: int) -> list[str]:
    """What the clause before says."""
    if not at:
        return ["first"]
    low = lows[at - 1]
    return [*(f"p{meaning}" for meaning in meanings_in(low)), *(f"p%{turn}" for turn in turns_of(low))]


@lru_cache(maxsize=256)
def meanings_in(low: str) -> tuple[str, ...]:
    """The meanings and the places of numbers in a text."""
    found: dict[str, None] = {}
    for token in _tokens(low):
        if token[0] > "\u3000":
            found.update((f"={meaning}", None) for meaning in japanese_meanings(token))
        elif token.isupper():
            found[token] = None
        else:
            found.update((f"={meaning}", None) for meaning in MEANINGS.get(stem(token), ()))
    return tuple(found)
