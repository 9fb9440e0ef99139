"""The language of help, errors, tables and reports: English, or Japanese where AKINAI_LANG or the locale says so.

The catalogue is keyed by the English text. A text of the catalogue with names in braces is the form of many sentences:
the form that a sentence fits gives its translation, and what stands at the names is put into it.
"""

import os
import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from gettext import GNUTranslations, NullTranslations
from typing import Literal

Language = Literal["en", "ja"]
DOMAIN, REPORT, WORLDS, PHRASES = "akinai", "report", "worlds", "phrases"
FALLBACKS = {DOMAIN: REPORT, REPORT: WORLDS, WORLDS: PHRASES}
"""Where a catalogue looks for what it does not have. No sentence is searched for among phrases, which are filled."""
SENTENCES, CLAUSES = re.compile(r"(?<=\.) "), re.compile(r"(?<=[;:]) ")
STOPS = {".": "。", ";": "；", ":": "："}
WEEKDAYS = {"Mon": "月", "Tue": "火", "Wed": "水", "Thu": "木", "Fri": "金", "Sat": "土", "Sun": "日"}
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
DATE = re.compile(rf"\b({'|'.join(WEEKDAYS)}) (\d{{1,2}}) ({'|'.join(MONTHS)}) (\d{{4}})\b")
"""A date as worlds write it: "Wed 1 Apr 2026"."""
NAMES = re.compile(r"\{(\w+)\}")
"""A place in a form."""


def chosen_language() -> Language:
    """The language of AKINAI_LANG, else of the locale; English for all others."""
    return environment_language() or "en"


def environment_language() -> Language | None:
    """The language that AKINAI_LANG says, else Japanese for a Japanese locale; None where neither does."""
    for name in ("AKINAI_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(name):
            japanese = re.split(r"[_.@-]", value.lower())[0] == "ja"
            return "ja" if japanese else "en" if name == "AKINAI_LANG" else None
    return None


def translate(text: str) -> str:
    """A text of the catalogue in the chosen language; any other text as it is."""
    return _catalogue(chosen_language()).gettext(text) if text else text


def fill(form: str, **values: object) -> str:
    """A form of the catalogue in the chosen language, with values at its names."""
    return translate(form).format_map(values)


def translate_sentence(sentence: str) -> str:
    """A sentence in the chosen language, by the first form of the catalogue that it fits; else as it is."""
    language = chosen_language()
    if language == "en":
        return sentence
    if (whole := translate(sentence)) != sentence:
        return whole
    for pattern, translation in _forms(language):
        if found := pattern.fullmatch(sentence):
            return translation.format_map({name: _part(name, text) for name, text in found.groupdict().items()})
    return translate_report(sentence, language)


def translate_text(text: str) -> str:
    """Sentences in the chosen language, as a whole or each by its own form; a list of verdicts on a score by parts."""
    if chosen_language() == "en":
        return text
    if (whole := translate(text)) != text:
        return whole
    return _joined(_verdicts(sentence) for sentence in re.split(r"(?<=[.!?]) (?=[A-Z])", text))


def _joined(sentences: Iterable[str]) -> str:
    """Sentences in a row; a Japanese one needs no space after it."""
    return re.sub(r"(?<=。) ", "", " ".join(sentences))


def _verdicts(sentence: str) -> str:
    score, _, rest = sentence.partition(": ")
    known = translate(score[:1].lower() + score[1:])
    verdicts = rest.removesuffix(".").split("; ")
    said = [translate_sentence(verdict) for verdict in verdicts]
    if known == score[:1].lower() + score[1:] or said == verdicts:
        return translate_sentence(sentence)
    return f"{known}: {'。'.join(said)}。"


def _part(name: str, text: str) -> str:
    """What stands at a name of a form. A single word is a value that somebody gave, but for kinds and scores."""
    if name in {"score", "heads"}:
        return "、".join(translate(head[:1].lower() + head[1:]) for head in text.split(", "))
    return translate_sentence(text) if " " in text or name == "kind" else text


def translate_record(text: str) -> str:
    """What a world says of an entry, a finding or a place, in the chosen language: the words of the world, and dates.

    Names and what somebody wrote stay as they are, and so does a text that is not known.
    """
    language = chosen_language()
    return text if language == "en" or not text else DATE.sub(_date, _recorded(text, language))


@lru_cache(4096)
def _recorded(text: str, language: Language) -> str:
    if (known := _catalogue(language, WORLDS).gettext(text)) != text:
        return known
    parts = text.split("; ")
    if len(parts) > 1 and not {*parts} & {*(known := _each(parts, language))}:
        return "；".join(known)
    for pattern, translation in _forms(language, WORLDS):
        if found := pattern.fullmatch(text):
            parts = {name: _recorded_part(name, part, language) for name, part in found.groupdict().items()}
            return translation.format_map(parts)
    capital = f"{text[:1].upper()}{text[1:]}"
    return text if capital == text or (known := _recorded(capital, language)) == capital else known


def _each(texts: Iterable[str], language: Language) -> list[str]:
    return [_recorded(text, language) for text in texts]


def _recorded_part(name: str, text: str, language: Language) -> str:
    """What stands at a name of a form: words of the world, a list of goods, or data."""
    if name == "words":
        return _recorded(text, language)
    return "、".join(_each(text.split(", "), language)) if name == "goods" else text


def _date(found: re.Match[str]) -> str:
    weekday, day, month, year = found.groups()
    return f"{year}年{MONTHS.index(month) + 1}月{day}日（{WEEKDAYS[weekday]}）"


def translate_report(text: str, language: Language) -> str:
    """A title, a head or the sentences of a report in a language, part by part; what is not known stays as it is."""
    return text if language == "en" else _parts(text, language, SENTENCES)


def _parts(text: str, language: Language, *ends: re.Pattern[str]) -> str:
    """A text by its whole form, else by its sentences, else by their clauses."""
    if (whole := _whole(text, language)) != text:
        return whole
    if not ends:
        return text
    parts = ends[0].split(text)
    bare = [part.rstrip(".;:") for part in parts]
    further = (CLAUSES,) if ends[0] is SENTENCES else ()
    known = [_parts(part, language, *further) for part in bare]
    if known == bare:
        return text
    return "".join(f"{shown}{STOPS.get(part[-1:], '')}" for shown, part in zip(known, parts, strict=True))


def translate_cell(text: str, language: Language) -> str:
    """A word of a table in a language, where it is one of the report's own."""
    return _catalogue(language, REPORT).gettext(text) if text else text


def _whole(text: str, language: Language) -> str:
    for pattern, translation in _forms(language, REPORT):
        if found := pattern.fullmatch(text):
            return translation.format_map(
                {name: translate_report(value, language) for name, value in found.groupdict().items()}
            )
    return translate_cell(text, language)


@cache
def _catalogue(language: Language, domain: str = DOMAIN) -> NullTranslations:
    if language == "en":
        return NullTranslations()
    from importlib.resources import files

    with files(__name__).joinpath("locale", language, "LC_MESSAGES", f"{domain}.mo").open("rb") as file:
        found = GNUTranslations(file)
    if domain in FALLBACKS:
        found.add_fallback(_catalogue(language, FALLBACKS[domain]))
    return found


@cache
def _forms(language: Language, domain: str = DOMAIN) -> Sequence[tuple[re.Pattern[str], str]]:
    """Forms of sentences as patterns, with their translations; the one with the most letters of its own is first."""
    known: dict[str, str] = getattr(_catalogue(language, domain), "_catalog", {})
    forms = sorted((text for text in known if NAMES.search(text)), key=lambda text: -len(NAMES.sub("", text)))
    return [(_pattern(text, domain), known[text]) for text in forms]


def _fits(name: str) -> str:
    return {"count": r"\d[\d,]*", "number": r"[+-]?\$?\d[\d,.]*"}.get(name, ".+?")


FIGURES = frozenset({"value", "other", "low", "high", "share", "floor", "n", "m", "all"})
"""Places in sentences of a report that hold a number; in the others stands no end of a clause."""


def _pattern(form: str, domain: str) -> re.Pattern[str]:
    def place(name: str) -> str:
        if domain == REPORT:
            return rf"(?P<{name}>\S+(?: %)?)" if name in FIGURES else rf"(?P<{name}>(?:(?![.;:] ).)+?)"
        return f"(?P<{name}>{_fits(name)})"

    parts = NAMES.split(form)
    return re.compile("".join(place(part) if at % 2 else re.escape(part) for at, part in enumerate(parts)), re.DOTALL)
