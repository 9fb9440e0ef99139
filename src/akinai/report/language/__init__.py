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
"""The catalogue that each falls back on. No sentence is searched for among phrases, which are filled."""
SENTENCES, CLAUSES = re.compile(r"(?<=\.) "), re.compile(r"(?<=[;:]) ")
SENTENCE_ENDS = re.compile(r"(?<=[.!?]) (?=[A-Z])")
STOPS = {".": "。", ";": "；", ":": "："}
WEEKDAYS = {"Mon": "月", "Tue": "火", "Wed": "水", "Thu": "木", "Fri": "金", "Sat": "土", "Sun": "日"}
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
DATE = re.compile(rf"\b({'|'.join(WEEKDAYS)}) (\d{{1,2}}) ({'|'.join(MONTHS)})(?: (\d{{4}}))?\b")
"""A date as worlds write it: "Wed 1 Apr 2026"."""
MOMENT = re.compile(rf"\b(\d{{1,2}}) ({'|'.join(MONTHS)})[a-z]*, (\d\d:\d\d)\b")
"""A time as a voice says it: "1 April, 08:05"."""
NAMES = re.compile(r"\{(\w+)\}")
"""A name in a form, which stands for a value."""


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


def translate_sentence(sentence: str, language: Language | None = None) -> str:
    """A sentence in a language, by default the chosen one, by the first form of the catalogue that it fits; else as it
    is."""
    language = language or chosen_language()
    if language == "en":
        return sentence
    if (whole := _catalogue(language).gettext(sentence) if sentence else "") != sentence:
        return whole
    for pattern, translation in _forms(language):
        if match := pattern.fullmatch(sentence):
            return translation.format_map(
                {name: _translate_part(name, text, language) for name, text in match.groupdict().items()}
            )
    return translate_report(sentence, language)


def translate_text(text: str, language: Language | None = None) -> str:
    """Translate sentences as a whole or each by its own form."""
    language = language or chosen_language()
    if language == "en" or not text or (whole := _catalogue(language).gettext(text)) == text:
        return _join_sentences(translate_sentence(part, language) for part in SENTENCE_ENDS.split(text))
    return whole


def _join_sentences(sentences: Iterable[str]) -> str:
    """Sentences in a row; a Japanese one needs no space after it."""
    return re.sub(r"(?<=。) ", "", " ".join(sentences))


def _translate_part(name: str, text: str, language: Language) -> str:
    """Translate the text at a name of a form. A single word is somebody's value and stays, but for kinds and scores."""
    words = _catalogue(language).gettext
    if name in {"score", "heads"}:
        return "、".join(words(head[:1].lower() + head[1:]) for head in text.split(", "))
    if name == "endings":
        return "、".join(_translate_count(count, language) for count in text.split(", "))
    return translate_sentence(text, language) if " " in text or name == "kind" else text


def _translate_count(count: str, language: Language) -> str:
    """Translate "2 horizon", a number of runs with their ending."""
    number, _, ending = count.partition(" ")
    return f"{number} {_translate_ending(ending, language)}"


def _translate_ending(ending: str, language: Language) -> str:
    words = f"{ending} (ending)"
    return ending if (translation := _catalogue(language).gettext(words)) == words else translation


def translate_record(text: str) -> str:
    """Translate what a world says of an entry, a finding or a place: the words of the world, and dates.

    Names and what somebody wrote stay as they are, and so does a text that the catalogue lacks.
    """
    language = chosen_language()
    return text if language == "en" or not text else DATE.sub(_translate_date, _translate_record(text, language))


@lru_cache(4096)
def _translate_record(text: str, language: Language) -> str:
    if (whole := _catalogue(language, WORLDS).gettext(text)) != text:
        return whole
    parts = text.split("; ")
    if len(parts) > 1 and not {*parts} & {*(translations := _translate_records(parts, language))}:
        return "；".join(translations)
    for pattern, translation in _forms(language, WORLDS):
        if match := pattern.fullmatch(text):
            values = {name: _translate_record_part(name, part, language) for name, part in match.groupdict().items()}
            return translation.format_map(values)
    capital = f"{text[:1].upper()}{text[1:]}"
    return text if capital == text or (sentence := _translate_record(capital, language)) == capital else sentence


def _translate_records(texts: Iterable[str], language: Language) -> list[str]:
    return [_translate_record(text, language) for text in texts]


def _translate_record_part(name: str, text: str, language: Language) -> str:
    """Translate the text at a name of a form: words of the world, a list of goods, or data, which stay."""
    if name == "words":
        return _translate_record(text, language)
    return "、".join(_translate_records(text.split(", "), language)) if name == "goods" else text


def _translate_date(match: re.Match[str]) -> str:
    weekday, day, month, year = match.groups()
    return f"{year + '年' if year else ''}{MONTHS.index(month) + 1}月{day}日（{WEEKDAYS[weekday]}）"


def _translate_moment(match: re.Match[str]) -> str:
    day, month, time = match.groups()
    return f"{MONTHS.index(month) + 1}月{day}日 {time}"


def month_of(date: str, language: Language) -> str:
    """The month of a date as worlds write it: "Apr 2026" for "Wed 1 Apr 2026"; empty for any other text."""
    if (match := DATE.fullmatch(date)) is None or not match[4]:
        return ""
    return f"{match[4]}年{MONTHS.index(match[3]) + 1}月" if language == "ja" else f"{match[3]} {match[4]}"


def translate_lines(text: str, language: Language) -> str:
    """Translate what a world says to a person, line by line and sentence by sentence; a line that the catalogue lacks
    stays."""
    return text if language == "en" else "\n".join(_translate_line(line, language) for line in text.split("\n"))


def _translate_line(line: str, language: Language) -> str:
    words = line.strip()
    if not words:
        return line
    parts = SENTENCE_ENDS.split(words)
    whole = _catalogue(language, WORLDS).gettext(words)
    if whole == words and len(parts) > 1 and not {*parts} & {*(translations := _translate_records(parts, language))}:
        whole = _join_sentences(translations)
    elif whole == words and (whole := _translate_record(words, language)) == words:
        whole = _join_sentences(_translate_records(parts, language))
    dated = MOMENT.sub(_translate_moment, DATE.sub(_translate_date, whole))
    return f"{line[: len(line) - len(line.lstrip())]}{dated}"


def translate_report(text: str, language: Language) -> str:
    """Translate a title, a head or the sentences of a report part by part; a part that the catalogue lacks stays."""
    return text if language == "en" else _translate_parts(text, language, SENTENCES)


def _translate_parts(text: str, language: Language, *ends: re.Pattern[str]) -> str:
    """Translate a text by its whole form, else by its sentences, else by their clauses."""
    if (whole := _translate_whole(text, language)) != text:
        return whole
    if not ends:
        return text
    parts = ends[0].split(text)
    bare = [part.rstrip(".;:") for part in parts]
    further = (CLAUSES,) if ends[0] is SENTENCES else ()
    translations = [_translate_parts(part, language, *further) for part in bare]
    if translations == bare:
        return text
    stops = [STOPS.get(part[-1:], "") for part in parts]
    return "".join(f"{translation}{stop}" for translation, stop in zip(translations, stops, strict=True))


def translate_cell(text: str, language: Language) -> str:
    """A word of a table in a language, where it is one of ours."""
    return _catalogue(language).gettext(text) if text else text


def _translate_whole(text: str, language: Language) -> str:
    for pattern, translation in _forms(language, REPORT):
        if match := pattern.fullmatch(text):
            return translation.format_map(
                {name: _translate_value(name, value, language) for name, value in match.groupdict().items()}
            )
    return translate_cell(text, language)


PLAYERS = frozenset({"first", "second", "name", "names"})
"""Names in sentences of a report that stand for groups, which people named."""


def _translate_value(name: str, text: str, language: Language) -> str:
    """Translate the text at a name of a form; a group keeps its name, whatever that is a word of in a world."""
    if name == "ending":
        return _translate_ending(text, language)
    own: dict[str, str] = getattr(_catalogue(language, REPORT), "_catalog", {})
    return own.get(text, text) if name in PLAYERS else translate_report(text, language)


@cache
def _catalogue(language: Language, domain: str = DOMAIN) -> NullTranslations:
    if language == "en":
        return NullTranslations()
    from importlib.resources import files

    with files(__name__).joinpath("locale", language, "LC_MESSAGES", f"{domain}.mo").open("rb") as file:
        catalogue = GNUTranslations(file)
    if domain in FALLBACKS:
        catalogue.add_fallback(_catalogue(language, FALLBACKS[domain]))
    return catalogue


@cache
def _forms(language: Language, domain: str = DOMAIN) -> Sequence[tuple[re.Pattern[str], str]]:
    """Forms of sentences as patterns, with their translations; the form with the most letters of its own is first."""
    messages: dict[str, str] = getattr(_catalogue(language, domain), "_catalog", {})
    forms = sorted((text for text in messages if NAMES.search(text)), key=lambda text: -len(NAMES.sub("", text)))
    return [(_pattern(text, domain), messages[text]) for text in forms]


def _fits(name: str) -> str:
    return {"count": r"\d[\d,]*", "number": r"[+-]?\$?\d[\d,.]*"}.get(name, ".+?")


FIGURES = frozenset({"value", "other", "low", "high", "share", "floor", "n", "m", "all", "more"})
"""Names in sentences of a report that stand for a number; the text at the others holds no end of a clause."""


def _pattern(form: str, domain: str) -> re.Pattern[str]:
    def group(name: str) -> str:
        if domain == REPORT:
            return rf"(?P<{name}>\S+(?: %)?)" if name in FIGURES else rf"(?P<{name}>(?:(?![.;:] ).)+?(?<![.;:]))"
        return f"(?P<{name}>{_fits(name)})"

    parts = NAMES.split(form)
    return re.compile("".join(group(part) if at % 2 else re.escape(part) for at, part in enumerate(parts)), re.DOTALL)
