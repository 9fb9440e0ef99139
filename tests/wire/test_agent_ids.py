"""Agent ids: text that can be seen, in one form, and like nobody else's."""

import asyncio
import unicodedata
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire_server import ServeConfig, Wire, wire_to

from akinai.core.errors import UsageError
from akinai.server.spoofing import fault_in, skeleton


async def register(wire: Wire, id: Any) -> httpx.Response:
    return await wire.http.post("/agents/register", json={"agent": {"id": id, "metadata": {}}})


UNREADABLE = [
    (7, "the id should be text, not a number"),
    ("", "the id is empty"),
    ("x" * 501, "the id has more than 500 characters"),
    (" x", "the id begins or ends with a space"),
    ("a\tb", "the id holds a control character, U+0009, in place 2; leave it out"),
    ("a\u0085", "the id holds a control character, U+0085, in place 2; leave it out"),
    ("gr\u200bill", "the id holds an invisible character, U+200B, in place 3; leave it out"),
    ("gr\u200dill", "the id holds an invisible character, U+200D, in place 3; leave it out"),
    ("\u2060grill", "the id holds an invisible character, U+2060, in place 1; leave it out"),
    ("gr\u00adill", "the id holds an invisible character, U+00AD, in place 3; leave it out"),
    ("grill\ufeff", "the id holds an invisible character, U+FEFF, in place 6; leave it out"),
    ("grill\ufe0f", "the id holds an invisible character, U+FE0F, in place 6; leave it out"),
    ("\u3164", "the id holds an invisible character, U+3164, in place 1; leave it out"),
    ("llirg\u202e", "the id holds an invisible character, U+202E, in place 6; leave it out"),
    ("\u2066x\u2069", "the id holds an invisible character, U+2066, in place 1; leave it out"),
    ("a\u2028b", "the id holds a line break, U+2028, in place 2; leave it out"),
    ("a\ue000", "the id holds a character without a meaning, U+E000, in place 2; leave it out"),
    ("\uff47rill", "the id is not in the form NFKC; write 'grill'"),
    ("cafe\u0301", "the id is not in the form NFKC; write 'caf\u00e9'"),
    ("\ufb01ve", "the id is not in the form NFKC; write 'five'"),
    ("a\u00a0b", "the id is not in the form NFKC; write 'a b'"),
]


async def test_an_id_that_cannot_be_read_is_refused(wire: Wire) -> None:
    """422 with one sentence that says what is wrong with it; nobody was registered."""
    before = wire.server.market.committed
    for id, why in UNREADABLE:
        answer = await register(wire, id)
        assert answer.status_code == 422, id
        assert answer.json()["detail"] == [{"type": "malformed", "loc": ["body", "agent", "id"], "msg": why}]
        assert wire.server.market.committed is before


async def test_a_look_alike_of_a_registered_id_is_refused(wire: Wire) -> None:
    """Digits, capitals and letters of other scripts that look the same; the agent itself may change its profile."""
    await register(wire, "grill")
    before = wire.server.market.committed
    for id in ("gril1", "griIl", "gr\u0456ll", "\u0261rill", "gri|l", "Grill", "GRILL", "gr1ll"):
        answer = await register(wire, id)
        assert answer.status_code == 422, id
        assert answer.json()["error"]["code"] == "look_alike"
        assert "looks like 'grill', which is another agent" in answer.json()["detail"]
        assert wire.server.market.committed is before
    assert (await register(wire, "grill")).status_code == 200


async def test_other_ids_are_welcome(wire: Wire) -> None:
    """Accents, other scripts and signs are seen, and are no look-alikes."""
    await register(wire, "grill")
    for id in ("gr\u00efll", "grill 2", "\u5546\u3044", "\U0001f600", "it's", "a/b"):
        assert (await register(wire, id)).status_code == 200, id


async def test_look_alikes_of_the_population_and_at_once_are_refused(store_address: str) -> None:
    """Also of a member that has yet to register, at another server, after a restart, and when both come together."""
    config = ServeConfig(run="r", store=store_address, port=0, settings={"customers.count": 1, "businesses.count": 1})
    async with wire_to(config) as wire, wire_to(config) as second:
        (member, _) = wire.server.market.committed.state.roll
        assert "0" in member
        assert (await register(wire, member.replace("0", "O"))).status_code == 422
        ids = ["a1", "al", "aI", "a|"]
        requests = [register((wire, second)[n % 2], id) for n, id in enumerate(ids)]
        statuses = [answer.status_code for answer in await asyncio.gather(*requests)]
        assert sorted(statuses) == [200, 422, 422, 422]
    async with wire_to(config) as wire:
        assert [(await register(wire, id)).status_code for id in ids] == statuses


async def test_a_population_with_such_an_id_is_not_served() -> None:
    """The server says which id it is, and does not start."""
    odd = {
        "id": "b\u200b",
        "name": "B",
        "description": "",
        "rating": 1,
        "menu_features": {"Tea": 1},
        "amenity_features": {},
    }
    data = {"businesses": [odd], "customers": []}
    with pytest.raises(UsageError, match="in the population holds an invisible character"):
        async with wire_to(ServeConfig(store="memory:", port=0, settings={"data": data})):
            pass


@given(st.text(max_size=12))
def test_what_is_accepted_is_visible_and_in_one_form(id: str) -> None:
    """No control, format or line characters, NFKC, and a skeleton that stays the same."""
    if fault_in(id) is None:
        assert unicodedata.normalize("NFKC", id) == id == id.strip()
        assert not {unicodedata.category(letter) for letter in id} & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert skeleton(id) == skeleton(unicodedata.normalize("NFC", id))
