"""The templates of the pages: Jinja2 that escapes all text, with English and Japanese words."""

import json
from collections.abc import Mapping
from functools import cache, partial
from gettext import NullTranslations, translation
from importlib.resources import as_file, files
from typing import Any, Literal

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from akinai.core.errors import UsageError
from akinai.core.money import format_cents
from akinai.core.presentation.words import ABSENT, label, percent
from akinai.core.presentation.words import figure as number
from akinai.report.figures.style import writable
from akinai.report.language import environment_language, month_of, translate_report
from akinai.report.page.document import PRACTICE_NOTE

Language = Literal["en", "ja"]
LANGUAGES: Mapping[str, Language] = {"en": "en", "ja": "ja"}
DOMAIN = "studio"
MINUS = "\N{MINUS SIGN}"


def marked(text: str) -> str:
    """Return the text itself: the call marks it for translation where it is shown."""
    return text


SHOWN_STATES = (
    marked("bankrupt"), marked("message cap"), marked("done"), marked("failed"), marked("open"), marked("unreadable"),
    marked("of other rules"), marked("damaged"), marked("minor"), marked("serious"), marked("grave"), marked("cost"),
    marked("made"),
)  # fmt: skip
"""Words of the core that the pages show."""


def render(template: str, language: Language, /, **values: Any) -> Markup:
    """A template of this package in one of the languages, with all text in its values escaped."""
    return Markup(environment(language).get_template(template).render(values))


@cache
def environment(language: Language) -> Environment:
    """The templates in a language. A value that a template lacks is an error, never an empty string."""
    jinja = Environment(
        loader=PackageLoader("akinai.report.page"),
        autoescape=True,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        extensions=["jinja2.ext.i18n"],
        finalize=_writable,
    )
    words = _translations(language)
    jinja.install_gettext_translations(words, newstyle=True)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType] - the extension adds it
    shared: dict[str, Any] = {
        "language": language, "practice_note": PRACTICE_NOTE,
        "money": money, "amount": amount, "percent": percent, "dollars": dollars, "count": count,
        "figure": number, "label": label,
        "absent": ABSENT, "json_block": json_block, "json_text": json_text,
        "month_of": partial(month_of, language=language),
        "translated": partial(translate_report, language=language),
    }  # fmt: skip
    jinja.globals.update(shared)  # pyright: ignore[reportCallIssue, reportArgumentType] - typed for its defaults alone
    return jinja


def prepare(language: Language) -> None:
    """Compile the templates of a run's page, which takes longer than to show a day."""
    for name in ("run.html", "day.html"):
        environment(language).get_template(name)


def _writable(value: Any) -> Any:
    """Text without characters that a page cannot hold, its line breaks kept; markup and other values as they are."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    if value.isascii() and value.isprintable():
        return value
    return "\n".join(map(writable, value.splitlines()))


@cache
def _translations(language: Language) -> NullTranslations:
    with as_file(files("akinai.report.page").joinpath("locale")) as folder:
        return translation(DOMAIN, folder, [language], fallback=language == "en")


def translate(text: str, language: Language) -> str:
    """A sentence of the pages in a language."""
    return _translations(language).gettext(text)


def preferred_language(accepted: str) -> Language:
    """The first known language of an Accept-Language header; English where it names none."""
    for part in accepted.split(","):
        language = LANGUAGES.get(part.partition(";")[0].strip().lower().partition("-")[0])
        if language is not None:
            return language
    return "en"


def checked_language(text: str | None) -> Language | None:
    """A language by its code, else the environment's. UsageError for one that the pages do not have."""
    if text is None:
        return environment_language()
    if text not in LANGUAGES:
        raise UsageError(f"the pages are in en or ja, not in {text!r:.60}")
    return LANGUAGES[text]


def asset(name: str) -> str:
    """The text of a file of styles or script."""
    return files("akinai.report.page").joinpath("static", name).read_text(encoding="utf-8")


def money(cents: float | None) -> str:
    """Cents to the cent, with a minus sign of a digit's width."""
    return ABSENT if cents is None else format_cents(round(cents)).replace("-", MINUS)


def amount(value: float | None, unit: str) -> str:
    """A value in its unit, with a minus sign of a digit's width."""
    return money(value) if unit == "cents" else number(value, unit).replace("-", MINUS)


def dollars(cents: float | None, *, sign: bool = False) -> str:
    """Cents in whole dollars; below ten dollars to the cent."""
    if cents is None:
        return ABSENT
    exact = abs(cents) < 1_000 and round(cents) % 100
    text = format_cents(round(cents) if exact else round(round(cents) / 100) * 100)
    text = text if exact else text.removesuffix(".00")
    return ("+" if sign and cents > 0 else "") + text.replace("-", MINUS)


def count(number: float) -> str:
    """A large count in a few characters: 12 k, 6.6 M."""
    if number >= 1e6:
        return f"{number / 1e6:.1f} M"
    return f"{number / 1e3:.0f} k" if number >= 1e4 else f"{number:,.0f}"


def json_text(value: Any) -> str:
    """JSON as a reader sees it."""
    return json.dumps(value, ensure_ascii=False)


def json_block(id: str, value: Mapping[str, Any]) -> Markup:
    """Data for the script, inside the page: no character of it can end the element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    text = writable(text).replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return Markup('<script type="application/json" id="{}">').format(id) + Markup(text) + Markup("</script>")
