"""The goods of a catalogue by every name an agent may give them, and the numbers that stand beside these."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from akinai.worlds.vending.setup import Catalog, plain_name
from akinai.worlds.vending.vocabulary import NUMBER_WORDS

_WORDS = sorted((word for word in NUMBER_WORDS if word not in ("a", "an")), key=len, reverse=True)
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_ONES = "one|two|three|four|five|six|seven|eight|nine"
NUMBER = (
    r"(?P<number>\d{1,3}(?:,\d{3})+|\d{1,6}|(?:an? |two |half an? |half )?dozen"
    rf"|(?:an?|{_ONES}) hundred\b|(?:{_TENS}) (?:{_ONES})\b|{'|'.join(_WORDS)})"
)
"""A whole number, in figures or words."""
ALONE = r"(?<![\w$.,:/-])"
"""Before a number that is no part of another, of a date or of money."""
_UNIT = r"(?:units?|pieces?|pcs|bottles?|cans?|packs?|packets?|bags?|bars?|cups?|items?)"
_KIND = r"(?:(?:cold|fresh|more|each|of|the|our|my|unsold|remaining|good|bottled|individual|those) |\d{1,4} (?=[a-z]))"
_THERE = r"in (?:the |our |my )?(?:storage|stock|machine|warehouse|slot)"
_LIGHT = (
    r"(?:stock|count|inventory|quantity|qty|left|levels?|supply|supplies|total|on hand|remaining|available"
    rf"|{_UNIT}|{_THERE}|is|are|has|have|at|stands?|sits?|remains?|totals|dropped|fallen|shrunk|gone|went|running|"
    rf"fully|stocked|holds|holding|steady|low|down"
    r"|to|about|only|just|now|still|currently|roughly|around|with|all)"
)
"""What may stand between a name and its number: "cola stock is running low at 4"."""
_NO_QUANTITY = r"(?![\w%]|[.:,-]\d| ?(?:cents|dollars|\$|days?|weeks?|hours?|times|per|each|cases?|slots?)\b)"


@dataclass(frozen=True, slots=True)
class Names:
    """What finds a catalogue's goods in a text in lower case."""

    ids: dict[str, str]
    """Product ids by plain name."""
    name: re.Pattern[str]
    counted: re.Pattern[str]
    """"12 units of cola"."""
    counting: re.Pattern[str]
    """"cola: 12"."""
    none: re.Pattern[str]
    """"no cola", "out of cola"."""
    kinds: Mapping[str, frozenset[str]]
    """The products of a category, by its name and its plural: "drinks"."""

    def groups_in(self, text: str) -> frozenset[frozenset[str]]:
        """The goods that are named, each by itself, and the categories that are, each as all of its goods."""
        named = {frozenset({product}) for product in self.products_in(text)}
        return frozenset(named or (self.kinds[word] for word in re.findall(r"[^\W_]+", text) if word in self.kinds))

    def products_in(self, text: str) -> Iterator[str]:
        """The ids of the goods that are named."""
        for found in self.name.finditer(text):
            if (id := self.id(found[0])) is not None:
                yield id

    def id(self, said: str) -> str | None:
        """The product of a name."""
        return self.ids.get(plain_name(said))


def names_of(catalog: Catalog) -> Names:
    """The names of a catalogue's goods."""
    told = tuple((one.id, one.name, *one.other_names) for one in catalog.products)
    return _names(told, tuple(one.category for one in catalog.products))


@lru_cache(maxsize=16)
def _names(products: tuple[tuple[str, ...], ...], categories: tuple[str, ...]) -> Names:
    kinds = {
        word: frozenset(names[0] for names, one in zip(products, categories, strict=True) if one == category)
        for category in categories
        for word in (category.lower(), f"{category.lower()}s")
    }
    ids = {plain_name(name): names[0] for names in products for name in names}
    told = sorted({_spelling(name) for names in products for name in names}, key=len, reverse=True)
    name = rf"(?<![\w-])(?:{'|'.join(told)})(?![\w-])"
    named = f"(?P<name>{name})"
    return Names(
        ids,
        re.compile(name),
        re.compile(rf"{ALONE}{NUMBER}(?: ?x)? ?(?:{_UNIT} )?{_KIND}{{0,4}}{named}(?! (?:slots?|rows?|cases?|sales)\b)"),
        re.compile(
            rf"{named}(?: ?\(\w{{1,40}}\))?[\"']?(?:[ :-]{{1,3}}{_LIGHT}\b){{0,6}}[\"']?"
            rf"(?: ?(?:[:=(-]|->|→) ?(?:x ?)?| x ?| )(?:~ ?)?{NUMBER}{_NO_QUANTITY}"
        ),
        re.compile(
            rf"(?:\bno|\bzero|\bnone of|\bnot a single|(?:\bnot|n't) (?:have|got) any) (?:the |more |"
            rf"other )?(?:{_UNIT} of )?{name}|\bout of {name}"
            rf"|{name}(?::| is| are| has| have|,)? (?:now |all |currently |completely )?(?:at zero|sold out|"
            rf"out of stock|gone|empty|run out)\b"
        ),
        kinds,
    )


def _spelling(name: str) -> str:
    """A name with its plural, and with spaces, hyphens or underscores between its words."""
    words = [re.escape(word) for word in re.findall(r"[^\W_]+", name.lower())]
    last = words[-1]
    words[-1] = rf"{last[:-1]}(?:y|ies)" if last.endswith("y") else rf"{last.removesuffix('s')}(?:e?s)?"
    return r"[ _-]?".join(words)


def number_in(said: str) -> int | None:
    """A number that `NUMBER` found."""
    if said.endswith("dozen"):
        return 6 if said.startswith("half") else 24 if said.startswith("two") else 12
    if said.endswith(" hundred"):
        return 100 * NUMBER_WORDS[said.removesuffix(" hundred")]
    said = said.replace(",", "")
    return int(said) if said.isdecimal() else NUMBER_WORDS.get(said.replace(" ", "-"))
