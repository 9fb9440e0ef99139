"""Settings come in layers, are checked before anything is played, and are told apart by a hash."""

import os
import re
import sys
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import pytest

from akinai.core.errors import UnknownName, UsageError
from akinai.core.options import options_of
from akinai.runtime.config.settings import (
    OWN_SETTINGS,
    named_value,
    prepare,
    preset_setup,
    presets,
    setting,
    settings_file,
)
from akinai.runtime.options import CALLS
from akinai.worlds.vending import Setup, Vending
from lemonade import Lemonade
from together import together

WORLD = Vending()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, without settings from around it."""
    for name in [name for name in os.environ if name.startswith("AKINAI_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fee(preset: str = "classic", **options: object) -> object:
    return prepare(WORLD, preset=preset, **options).setup["fee_cents"]  # pyright: ignore[reportArgumentType] - as a caller would


def test_layers_lie_over_one_another(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Default < preset < akinai.toml < environment < what was asked."""
    assert fee() == 200
    (folder / "mine.toml").write_text('fee_cents = 201\n[catalog]\nfile = "catalog.toml"\n')
    (folder / "catalog.toml").write_text((files("akinai.worlds.vending") / "catalog.toml").read_text())
    assert fee(preset="mine.toml") == 201
    (folder / "akinai.toml").write_text("[vending]\nfee_cents = 202\n")
    assert fee(preset="mine.toml") == 202
    monkeypatch.setenv("AKINAI_VENDING__FEE_CENTS", "203")
    assert fee(preset="mine.toml") == 203
    assert fee(preset="mine.toml", settings=["fee_cents=204"]) == 204
    assert fee(preset="mine.toml", settings={"fee_cents": 205}) == 205


def test_own_settings_lie_over_one_another(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A setting of the program: default < akinai.toml < environment < flag."""
    assert setting("store", None, "akinai.db") == "akinai.db"
    (folder / "akinai.toml").write_text('store = "toml.db"\njobs = 3\n')
    assert setting("store", None, "akinai.db") == "toml.db"
    assert setting("jobs", None, "1") == "3"
    monkeypatch.setenv("AKINAI_STORE", "environment.db")
    assert setting("store", None, "akinai.db") == "environment.db"
    assert setting("store", "flag.db", "akinai.db") == "flag.db"


def test_own_settings_are_those_that_are_declared() -> None:
    """The tables of calls, the options of the whole program, the learner's table and the prices of models."""
    declarations = [declaration for record in CALLS.values() for declaration in options_of(record).values()]
    top = {declaration.name for declaration in declarations if declaration.option.top}
    assert {*OWN_SETTINGS} == {*CALLS, *top, "learn", "prices"}


def test_preset_can_be_chosen_everywhere(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The preset is a setting of the program as well."""
    (folder / "akinai.toml").write_text('preset = "paper"\n')
    assert prepare(WORLD).preset == "paper"
    monkeypatch.setenv("AKINAI_PRESET", "classic")
    assert prepare(WORLD).preset == "classic"
    assert prepare(WORLD, preset="paper").setup["machine_by_sub_agent"] is True


def test_default_is_the_worlds_default_preset(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name `default` means the preset that the world names, wherever it is written, and so does no name at all."""
    quarter = prepare(WORLD, preset="quarter")
    assert presets(WORLD) == ["quarter", "arena", "arena-sprint", "classic", "paper", "sprint", "year"]
    assert prepare(WORLD) == prepare(WORLD, preset="default") == quarter
    assert preset_setup(WORLD, "default") == quarter.setup
    (folder / "akinai.toml").write_text('preset = "default"\n')
    assert prepare(WORLD) == quarter
    (folder / "akinai.toml").write_text('preset = "paper"\n')
    monkeypatch.setenv("AKINAI_PRESET", "default")
    assert prepare(WORLD) == quarter
    assert presets(Lemonade()) == [prepare(Lemonade(), days=3).preset] == ["default"]


def test_inner_settings_leave_their_neighbours() -> None:
    """A dotted name changes one value inside a table and nothing beside it."""
    plain, changed = (
        prepare(WORLD, preset="classic", settings=settings).setup["demand"] for settings in ([], ["demand.footfall=40"])
    )
    assert isinstance(plain, dict)
    assert changed == {**plain, "footfall": 40}


@together(
    ("text", "value"),
    [
        ("fee_cents=250", 250),
        ("full_view=false", False),
        ("demand.weekdays=[1,2]", [1, 2]),
        ("start_date=2026-07-01", "2026-07-01"),
        ("account=12345", "12345"),
        ("account=a=b", "a=b"),
        ("account=", ""),
        ("fee_cents=[[[" + "[" * 100_000, "[[[" + "[" * 100_000),
    ],
)
def test_value_is_json_where_it_parses_and_text_where_text_belongs(text: str, value: object) -> None:
    """Numbers, booleans and lists are read as JSON; a text setting keeps its digits; anything else is text."""
    assert named_value(text, Setup)[1] == value


@pytest.mark.parametrize("text", ["", "=3", "a..b=3", ".a=3", "fee_cents"])
def test_setting_without_name_or_value_is_refused(text: str) -> None:
    """A setting is NAME=VALUE, the name without empty steps."""
    with pytest.raises(UsageError, match="wants name=value"):
        named_value(text, Setup)


def test_unknown_name_is_told_with_close_matches_and_layer(folder: Path) -> None:
    """A misspelt setting is refused at any depth; the message offers the nearest and names the layer that has it."""
    with pytest.raises(UnknownName) as refusal:
        prepare(WORLD, preset="classic", settings=["demand.footfal=3"])
    assert refusal.value.close[0] == "demand.footfall"
    assert "akinai.toml" not in str(refusal.value)
    with pytest.raises(UnknownName, match=r"no setting 'suppliers.words'; did you mean 'suppliers.model'"):
        prepare(WORLD, preset="classic", settings=["suppliers.words=model"])
    (folder / "akinai.toml").write_text("[vending.demand]\nfootfal = 3\n")
    with pytest.raises(UnknownName, match=r"in akinai\.toml"):
        prepare(WORLD, preset="classic")
    (folder / "akinai.toml").unlink()
    (folder / "mine.toml").write_text("footfall = 3\n")
    with pytest.raises(UnknownName, match=r"in the preset 'mine\.toml'"):
        prepare(WORLD, preset="mine.toml")


def test_fault_of_the_caller_is_blamed_on_no_layer() -> None:
    """What was asked lies over a preset's value: the message does not blame the preset."""
    with pytest.raises(UsageError, match="do not fit: days: "):
        prepare(WORLD, preset="classic", days=-1)


@pytest.mark.parametrize("value", ["NaN", "1e999", "-Infinity"])
def test_number_that_is_none_is_refused(value: str) -> None:
    """NaN and infinities are no settings."""
    with pytest.raises(UsageError, match="fee_cents"):
        prepare(WORLD, preset="classic", settings=[f"fee_cents={value}"])


@pytest.mark.parametrize("text", ["\udcff", "a\ud800"])
def test_text_that_no_store_keeps_is_refused(text: str) -> None:
    """Half a surrogate pair in a setting is refused before a genesis is made of it."""
    with pytest.raises(UsageError, match="no ledger keeps"):
        prepare(WORLD, preset="classic", settings={"account": text})


def test_catalogue_from_a_file(folder: Path) -> None:
    """A setting that names a file holds what is in it, looked up in the working folder first; more lies over it."""
    (folder / "two.toml").write_text(
        '[[products]]\nid = "tea"\nname = "Tea"\nsize = "small"\ncategory = "drink"\nwholesale_cents = 50\n'
        "reference_cents = 150\ndaily_milliunits = 2000\nelasticity_permille = 1200\nshelf_days = 90\n"
    )
    seller = {
        "id": "t",
        "name": "T",
        "address": "t@t.example",
        "about": "Tea.",
        "products": "all",
        "price_permille": 1000,
    }
    seller |= {"lead_days": 2, "hour": 14, "minimum_cents": 0, "on_time_permille": 1000}
    catalog = prepare(WORLD, preset="classic", settings={"catalog": "two.toml", "catalog.suppliers": [seller]}).setup[
        "catalog"
    ]
    assert isinstance(catalog, dict)
    assert [product["id"] for product in catalog["products"]] == ["tea"]  # pyright: ignore[reportIndexIssue, reportArgumentType]
    assert "two.toml" not in str(catalog)


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("no.toml", None, "the setting catalog names 'no.toml', which is no file or folder"),
        ("bad.toml", "products = [", "catalog 'bad.toml' cannot be read: "),
        ("bad.toml", b"\xff", "'bad.toml' cannot be read: "),
        ("bad.toml", "products = 3", "catalog"),
        ("bad.toml", 'columns = ["id"]\nproducts = [["tea", 3]]\nsuppliers = []', "a row with a value for each of"),
    ],
)
def test_unreadable_file_is_named(folder: Path, file: str, text: str | bytes | None, message: str) -> None:
    """A file that is not there, or not what it should be, is refused by its name."""
    if text is not None:
        (folder / file).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(UsageError) as refusal:
        prepare(WORLD, preset="classic", settings={"catalog": file})
    assert message in str(refusal.value)


def test_hash_tells_settings_apart_but_not_days() -> None:
    """Runs over another number of days share the preset's hash; any other setting changes it."""
    hashes = [
        prepare(WORLD, preset="classic", **options).preset_sha256
        for options in ({}, {"days": 5}, {"settings": ["fee_cents=201"]})
    ]
    assert hashes[0] == hashes[1] != hashes[2]


def test_setup_is_whole_and_makes_itself() -> None:
    """The setup has every field of its business filled in, and preparing it again changes nothing."""
    prepared = prepare(WORLD, preset="classic")
    own = {name for name, field in Setup.model_fields.items() if field.exclude_if is None}
    assert set(prepared.setup) == own | {"advice"}
    assert prepare(WORLD, preset="classic", settings=prepared.setup).setup == prepared.setup


def test_settings_file_with_unknown_names_is_refused(folder: Path) -> None:
    """What nobody would read is refused, so that a typing error does not pass in silence."""
    (folder / "akinai.toml").write_text('[vendng]\nfee_cents = 3\nstore = "x"\n')
    with pytest.raises(UnknownName) as refusal:
        settings_file()
    assert refusal.value.close == ("vending",)


def test_world_without_presets_has_the_default() -> None:
    """A world that brings no presets is played as its setup says."""
    assert presets(Lemonade()) == ["default"]
    assert prepare(Lemonade(), days=3).setup == {"days": 3, "start_cents": 2000}


@pytest.fixture
def stand(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Lemonade:
    """A world of one module with presets beside it."""
    (folder / "stand.py").write_text("from lemonade import Lemonade\nclass Stand(Lemonade): pass\n")
    (folder / "presets").mkdir()
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "stand", raising=False)
    return import_module("stand").Stand()


def test_a_preset_holds_what_differs_from_its_base(folder: Path, stand: Lemonade) -> None:
    """Through as many bases as there are."""
    for name, text in (
        ("one", "days = 4\nstart_cents = 5"),
        ("two", 'base = "one"'),
        ("six", 'base = "two"\ndays = 6'),
    ):
        (folder / "presets" / f"{name}.toml").write_text(text)
    assert prepare(stand, preset="two").setup == {"days": 4, "start_cents": 5}
    assert prepare(stand, preset="six").setup == {"days": 6, "start_cents": 5}


@pytest.mark.parametrize(
    ("texts", "error"),
    [
        (
            ('base = "b"', 'base = "c"', 'base = "b"'),
            "the preset 'b' begins with itself: a, b, c, b; take out one base",
        ),
        (('base = "a"', "", ""), "the preset 'a' begins with itself: a, a; take out one base"),
        (('base = "far"', "", ""), "no preset 'far'; there is a, b, c, default"),
        (("base = 3", "", ""), "no preset '3'; there is a, b, c, default"),
    ],
)
def test_a_base_that_is_none_is_one_error(folder: Path, stand: Lemonade, texts: tuple[str, ...], error: str) -> None:
    """A base is another preset of the same world, and no preset begins with itself."""
    for name, text in zip("abc", texts, strict=True):
        (folder / "presets" / f"{name}.toml").write_text(text)
    with pytest.raises(UsageError, match=re.escape(error)):
        prepare(stand, preset="a")


def test_an_own_preset_begins_with_one_of_the_world(folder: Path) -> None:
    """A file with `base` holds what differs, as a shipped preset does; its own files stand beside it."""
    (folder / "own").mkdir()
    mine = folder / "own" / "mine.toml"
    for base, preset in (("quarter", "quarter"), ("default", "quarter"), ("arena-sprint", "arena-sprint")):
        mine.write_text(f'base = "{base}"\ndays = 7\nfee_cents = 201\n')
        expected = prepare(WORLD, preset=preset, days=7, settings={"fee_cents": 201}).setup
        assert prepare(WORLD, preset=str(mine)).setup == expected
    catalog = (files("akinai.worlds.vending") / "catalog.toml").read_text().replace("850", "851")
    (folder / "own" / "catalog.toml").write_text(catalog)
    for setting_text in ('catalog = "catalog.toml"', '[catalog]\nfile = "catalog.toml"'):
        mine.write_text(f'base = "classic"\n{setting_text}\n')
        read = prepare(WORLD, preset="classic", settings={"catalog": "own/catalog.toml"}).setup
        assert prepare(WORLD, preset=str(mine)).setup == read != prepare(WORLD, preset="classic").setup


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('base = "quartre"', "no preset 'quartre'; did you mean 'quarter'? (of vending@3, the base of 'mine.toml')"),
        ("base = 3", "no preset '3'; there is arena, arena-sprint, classic"),
        ('base = "other.toml"', "no preset 'other.toml'"),
        ("days = 4", "the preset 'mine.toml' leaves out catalog; give it, or begin with a preset: base = \"quarter\""),
        (
            'base = "quarter"\ndayz = 4',
            "no setting 'dayz'; did you mean 'days'? (of vending@3, in the preset 'mine.toml')",
        ),
    ],
)
def test_an_own_preset_that_does_not_fit(folder: Path, text: str, error: str) -> None:
    """What is wrong with its base, or that it needs one."""
    (folder / "mine.toml").write_text(text)
    with pytest.raises(UsageError, match=re.escape(error)):
        prepare(WORLD, preset="mine.toml")


def test_days_belong_to_worlds_that_have_them() -> None:
    """`days` is refused by a world without days."""

    class Timeless(Lemonade):
        name = "timeless@1"
        setup = type("Setup", (Lemonade.setup.__base__,), {"__module__": __name__})

    with pytest.raises(UsageError, match="timeless@1 has no days"):
        prepare(Timeless(), days=3)
