"""Search by meaning: words by their stems and by what they mean in trade, so that a paraphrase finds a text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from akinai.retrieval.hybrid import rank
from akinai.retrieval.text import tokenize

_CONCEPTS = (
    "price pricing cost charge fee rate quote tariff amount bill",
    "cheap inexpensive low bargain affordable discount rebate saving",
    "discount rebate reduction bulk quantity wholesale off",
    "expensive dear high costly",
    "sell sale demand popular seller turnover consume buyer footfall move busy visitor",
    "slow unpopular hardly poor weak",
    "spoil expire expiry rot perish stale shelf waste fresh last keep life bad",
    "deliver delivery arrive arrival come ship shipment lead transport dispatch",
    "late delay overdue unreliable tardy slow wait",
    "supplier vendor wholesaler distributor merchant trader seller source wholesale",
    "restock refill fill replenish stock load empty",
    "empty missing sold-out gone lack stockout out without shortage absent",
    "cash money fund balance bank coin capital liquidity",
    "collect pick gather empty fetch take",
    "drink beverage soda water cola tea juice liquid soft",
    "snack sweet candy gum chip crisp cookie chocolate confectionery treat",
    "meal food sandwich salad noodle lunch grocery ramen dish",
    "customer client shopper buyer people visitor passer footfall crowd",
    "minimum least smallest threshold",
    "maximum most capacity room space limit hold size fit",
    "weekend saturday sunday",
    "weekday monday tuesday wednesday thursday friday day",
    "hot heat summer warm sunny temperature",
    "cold winter cool chill",
    "rain wet weather storm sky sun snow",
    "spring april march may season month summer autumn winter",
    "order purchase buy procure place",
    "open pending outstanding expected unfulfilled await",
    "profit margin earn income revenue gain",
    "storage warehouse store depot stockroom",
    "variety assortment range choice selection different mix",
    "number many count size quantity units amount",
    "good best ideal optimal top right recommend",
    "event festival holiday fair party upcoming",
    "rent lease contract tenancy rental due",
    "refund reimburse reimbursement compensation back complain complaint claim return",
    "claim complaint missing short damage",
    "deadline limit within until due time period term",
    "negotiate bargain haggle talk deal lower offer",
    "letter mail email write message",
    "bankrupt broke ruin insolvent fee",
    "big large small little tiny huge size",
    "row slot column shelf place compartment",
    "daily day each every per running",
    "hour time clock when oclock",
    "account number billing iban",
    "item product goods merchandise article",
    "compare comparison versus difference",
    "soda cola pop coke",
    "ramen noodle instant cup",
)
"""Words that mean nearly the same in this trade, a concept a line; a word may stand in several."""

_IRREGULAR = {
    "sold": "sell", "bought": "buy", "kept": "keep", "paid": "pay", "came": "come", "sent": "send", "held": "hold",
    "spent": "spend", "went": "go", "gone": "gone", "better": "good", "best": "good", "lost": "lose",
    "people": "people", "goods": "goods", "expiry": "expir", "sale": "sell", "sales": "sell", "lives": "life",
}  # fmt: skip
_STOP_WORDS = frozenset(
    "a an and are as at be been by can could do does did for from had has have how i in into is it its me my of on or "
    "our should that the their them there these they this to us was we were what when where which who whom why will "
    "with would you your than then still only much must need needs want some any".split()
)
_CONCEPT_SHARE = 0.5
"""The weight of what words mean beside the words themselves."""
_PARTS_SHARE = 0.15
"""The weight of runs of four letters."""
_ENDINGS = (
    ("iest", "y"), ("ies", "y"), ("ations", "at"), ("ation", "at"), ("ments", ""), ("ment", ""), ("ings", ""),
    ("ing", ""), ("edly", ""), ("ed", ""), ("est", ""), ("ness", ""), ("ers", "er"), ("ly", ""), ("es", "e"), ("s", ""),
)  # fmt: skip


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """The stem of an English word in lower case: "deliveries", "delivery" and "delivered" are "deliver"."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 3 or not word.isascii() or not word.isalpha():
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)] + instead
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word[-1] in "ey" else word


@lru_cache(maxsize=1)
def _concepts() -> Mapping[str, tuple[str, ...]]:
    concepts: dict[str, list[str]] = {}
    for number, line in enumerate(_CONCEPTS):
        for word in line.split():
            concepts.setdefault(stem(word), []).append(f"concept{number}")
    return {word: tuple(names) for word, names in concepts.items()}


@lru_cache(maxsize=8192)
def _stems(text: str) -> str:
    return " ".join(stem(word) for word in tokenize(text) if word not in _STOP_WORDS)


@lru_cache(maxsize=8192)
def _meanings(text: str) -> str:
    return " ".join(name for word in _stems(text).split() for name in _concepts().get(word, ()))


@lru_cache(maxsize=8192)
def _pieces(text: str) -> str:
    """Runs of four letters, which misspelled and compound words share."""
    words = re.findall(r"[a-z]{5,}", _stems(text))
    return " ".join(word[start : start + 4] for word in words for start in range(len(word) - 3))


def find_by_meaning(
    query: str, documents: Mapping[str, str], top_k: int = 10, *, parts_of_words: bool = True
) -> list[str]:
    """The ids of the documents that a query means, best first, ties by id.

    A document is found when it shares a stem or a concept with the query or, with `parts_of_words`, four letters in a
    row. Stems weigh most.
    """
    scores: dict[str, float] = {}
    for form, weight in ((_stems, 1.0), (_meanings, _CONCEPT_SHARE), (_pieces, _PARTS_SHARE * parts_of_words)):
        query_words = form(query) if weight else ""
        if not query_words:
            continue
        texts = {id: words for id, text in documents.items() if (words := form(text))}
        for hit in rank(query_words, texts, len(texts), alpha=0.3):
            scores[hit.id] = scores.get(hit.id, 0.0) + weight * hit.combined_score * _share(query_words, hit.matched)
    return sorted(scores, key=lambda id: (-scores[id], id))[:top_k]


def _share(query: str, matched: tuple[str, ...]) -> float:
    """How much of a query matched, from one half to 1: a document that has all of it comes first."""
    words = set(query.split())
    return 0.5 + 0.5 * len(set(matched) & words) / len(words)
