"""The words of the pages in each language."""

import re
from importlib.resources import files

import pytest
from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po

from akinai.core.errors import UsageError
from akinai.report.language import translate_report
from akinai.report.page.templating import DOMAIN, LANGUAGES, checked_language, environment, preferred_language


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "en"])
def test_every_word_is_translated(language: str) -> None:
    """No sentence is missing, none is doubtful, placeholders are kept, and the compiled catalogue is the written one
    (`make messages`)."""
    folder = files("akinai.report.page").joinpath("locale", language, "LC_MESSAGES")
    with folder.joinpath(f"{DOMAIN}.po").open("rb") as po, folder.joinpath(f"{DOMAIN}.mo").open("rb") as mo:
        written, compiled = read_po(po, locale=language), read_mo(mo)
    for message in written:
        if not message.id:
            continue
        source, *_ = message.id if isinstance(message.id, tuple) else (message.id,)
        (words,) = message.string if isinstance(message.string, tuple) else (message.string,)
        assert words, source
        assert not message.fuzzy, source
        assert sorted(re.findall(r"%\(\w+\)s", source)) == sorted(re.findall(r"%\(\w+\)s", words)), source
        again = compiled.get(message.id)
        assert again
        assert list(again.string) == list(message.string)


def test_every_template_is_in_the_catalogue() -> None:
    """Whatever the templates ask to be translated is known: `make messages` was run."""
    with files("akinai.report.page").joinpath("locale", "ja", "LC_MESSAGES", f"{DOMAIN}.po").open("rb") as po:
        messages = {message.id[0] if isinstance(message.id, tuple) else message.id for message in read_po(po)}
    pages = environment("en")
    for name in pages.list_templates(extensions=["html"]):
        assert pages.loader
        source, _, _ = pages.loader.get_source(pages, name)
        for _, _, text in pages.extract_translations(source):  # pyright: ignore[reportAttributeAccessIssue] - of the extension
            words = text[0] if isinstance(text, tuple) else text
            assert words is None or words in messages, f"{name}: {words}"


def test_the_browser_says_its_language() -> None:
    """The first that there is; English for any other."""
    assert preferred_language("fr-FR,ja;q=0.9,en;q=0.8") == "ja"
    assert preferred_language("en-GB,ja") == "en"
    assert preferred_language("") == preferred_language("*") == "en"
    with pytest.raises(UsageError, match="en or ja"):
        checked_language("fr")


@pytest.mark.parametrize(
    ("variables", "language"),
    [({"LANG": "ja_JP.UTF-8"}, "ja"), ({"LANG": "en_US.UTF-8"}, None), ({"AKINAI_LANG": "en"}, "en"), ({}, None)],
)
def test_pages_follow_the_environment(
    variables: dict[str, str], language: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AKINAI_LANG or a Japanese locale; None leaves it to the browser. What is asked for is before either."""
    for name in ("AKINAI_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert checked_language(None) == language
    assert checked_language("en") == "en"


@pytest.mark.parametrize(
    ("english", "japanese"),
    [
        ("On day 3, still open, the net worth is $500.", "3 日目（継続中）の純資産は $500。"),
        (
            "Over after 11 days of 20 (script over): the bank balance by owner is owner_1 $471, owner_2 $485.",
            "20 日のうち 11 日で終了（台本の終わり）：預金残高は owner_1 $471, owner_2 $485。",
        ),
        (
            "Over after 57 days of 90 (bankrupt): the bank balance is $0.00, $8,995 less than the reference player on the "
            "same seed. It fell behind most between day 38 and day 50: wrong price on day 26, a unit of Cheese Bagel had "
            "cost $1.39, so each sale loses $1.03 (the first of 16).",
            "90 日のうち 57 日で終了（破産）：預金残高は $0.00、同じシードの reference より $8,995 少ない。最も差が開いたのは "
            "38 日目から 50 日目まで：26 日目の誤った値段、Cheese Bagel の仕入れ値は $1.39、売るたびに $1.03 の損（16 件の最初）。",
        ),
        (
            "2 of 2 customers bought, all of them what they came for. Together they are $67.80 better off: all there was to "
            "be had.",
            "客 2 人のうち 2 人が、みな求めていたものを買った。合わせて $67.80 の得。得られるもののすべて。",
        ),
    ],
)
def test_verdicts_are_in_japanese(english: str, japanese: str) -> None:
    """Sentence by sentence, with the same numbers."""
    assert translate_report(english, "ja") == japanese
