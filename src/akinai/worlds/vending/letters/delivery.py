"""Find the delivery address and the account to charge in a letter, in any spelling."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from akinai.worlds.vending.letters.names import plain


@dataclass(frozen=True, slots=True)
class Delivery:
    """A text without the address and the account, and whether it held them."""

    text: str
    addressed: bool
    account_named: bool


def find_delivery(text: str, address: str, account: str) -> Delivery:
    """Find a customer's own address and account, and put neutral words in their place.

    The address counts from the street on; the name of the addressee may be left out.
    """
    text = plain(text)
    address_patterns, account_pattern = _address_patterns(address), _account(account)
    addressed = all(part.search(text) for part in address_patterns.needed)
    account_named = account_pattern.search(text) is not None
    for part in address_patterns.parts:
        text = part.sub("the address", text)
    text = account_pattern.sub("the account", text)
    for label, words in _LABELLED:
        text = label.sub(words, text)
    return Delivery(text, addressed, account_named)


_LABELLED = (
    (
        re.compile(r"(?:配[達送]|お?届け|送り|納品|宛)先? ?[:：] ?(?:[^\n]{0,40}, )?the address"),
        "Deliver to the address",
    ),
    (
        re.compile(r"(?:口座|請求先|アカウント|(?:顧客|お客様|会員)番号)(?:番号)? ?[:：] ?the account"),
        "Account the account",
    ),
)
"""Japanese labels of the two, with what stands for them in English."""


@dataclass(frozen=True, slots=True)
class _AddressPatterns:
    parts: tuple[re.Pattern[str], ...]
    needed: tuple[re.Pattern[str], ...]
    """The parts from the street on; the name of the addressee may be left out."""


_LETTER = "[0-9A-Za-z\u00c0-\u024f]"
"""A character that would make a longer word; Japanese has no spaces between words."""
_SHORT = {
    "street": "st", "avenue": "ave", "road": "rd", "boulevard": "blvd", "drive": "dr", "lane": "ln", "suite": "ste",
}  # fmt: skip


@lru_cache(maxsize=64)
def _address_patterns(address: str) -> _AddressPatterns:
    parts = [words for part in plain(address).split(",") if (words := _words(part))]
    patterns = tuple(_words_pattern(part, r"\W{1,4}") for part in parts)
    first = next((at for at, part in enumerate(parts) if any(word.isdecimal() for word in part)), 0)
    return _AddressPatterns(patterns, patterns[first:])


@lru_cache(maxsize=64)
def _account(account: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?<![0-9A-Za-z]-){_words_pattern(_words(plain(account)), '[ ._-]{0,3}').pattern}(?!-[0-9A-Za-z])",
        re.IGNORECASE,
    )


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())


def _words_pattern(words: Sequence[str], between: str) -> re.Pattern[str]:
    """A pattern of whole words in a row; streets are also found by their short names."""
    patterns = [f"(?:{word}|{_SHORT[word]})" if word in _SHORT else re.escape(word) for word in words]
    return re.compile(rf"(?<!{_LETTER}){between.join(patterns)}(?!{_LETTER})", re.IGNORECASE)
