"""What SEARCH_WEB finds: the pages of this run's catalogue, by whole words."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from akinai.core.canonical import Json
from akinai.core.ledger import Outcome
from akinai.retrieval import rank, tokenize
from akinai.worlds.vending.pages import Page, pages_of
from akinai.worlds.vending.setup import Setup, plain_name

RESULTS = 5
"""Most pages that a search shows."""
ALPHA = 0.3
"""The share of the whole query's likeness in the rank; the rest goes by rare words, which say what is wanted."""

_WORDS_THAT_SAY_NOTHING = (
    "a an and are about any as at be best buy by can could do does for from find get good have how i in information is "
    "it list me my near need of on one online or our please some should than that the there these they this to us use "
    "want we what when where which who why will with would you your"
)
_SAYS_NOTHING = frozenset(_WORDS_THAT_SAY_NOTHING.split())


@dataclass(frozen=True, slots=True)
class _Index:
    pages: dict[str, Page]
    """By address on the web."""
    words: dict[str, str]
    """What each is found by."""


def pages_for(setup: Setup, query: str) -> list[Page]:
    """Pages found by whole words, whatever their case, order and plural; the same query always finds the same."""
    index = _index(pages_of(setup))
    wanted = _folded(query)
    return [index.pages[hit.id] for hit in rank(wanted, index.words, RESULTS, ALPHA)] if wanted else []


def search(setup: Setup, query: str) -> Outcome:
    """Tell the pages that a query finds."""
    return told(query, pages_for(setup, query))


def told(query: str, found: Sequence[Page]) -> Outcome:
    """The pages as an agent reads them."""
    if not found:
        return Outcome(f"No page was found for {query!r:.200}. Try other words.", data={"results": []})
    texts = [f"{at}. {page.title}\n{page.url}\n{page.text}" for at, page in enumerate(found, 1)]
    data: list[Json] = [{"title": page.title, "url": page.url, "text": page.text} for page in found]
    return Outcome("\n\n".join((f"Results for {query!r:.200}:", *texts)), data={"results": data})


@lru_cache(maxsize=16)
def _index(pages: tuple[Page, ...]) -> _Index:
    return _Index({page.url: page for page in pages}, {page.url: _folded(_found_by(page)) for page in pages})


def _found_by(page: Page) -> str:
    """The title counts thrice: it says more of a page than a line of its text."""
    return " ".join((page.title, page.title, page.title, page.topics, page.text if page.found_by_text else ""))


@lru_cache(maxsize=4096)
def _folded(text: str) -> str:
    """The words of a text without their plural endings and without those that say nothing."""
    return " ".join(folded for word in tokenize(text) if _says_something(word) and (folded := plain_name(word)))


def _says_something(word: str) -> bool:
    return word not in _SAYS_NOTHING and not (len(word) == 1 and word.isascii())
