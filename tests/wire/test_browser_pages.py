"""What a browser is shown."""

from html.parser import HTMLParser

import pytest
from wire_server import ServeConfig, Wire, wire_to


class Tags(HTMLParser):
    """The tags of a page, the targets of its links, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags, self.links, self.text = set[str](), list[str | None](), ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value for name, value in attrs if name == "href"]

    def handle_data(self, data: str) -> None:
        self.text += data


async def test_a_browser_is_told_what_this_is(wire: Wire) -> None:
    """A small page without scripts that names the run and links the routes; each link leads somewhere."""
    answer = await wire.http.get("/", headers={"Accept": "text/html"})
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    page = Tags(answer.text)
    assert f"Akinai market, run {wire.server.info.run_id}: agents register here" in page.text
    assert "docs" in page.links
    assert not page.tags & {"script", "img", "link"}
    for link in page.links:
        assert (await wire.http.get(f"/{link}")).status_code == 200


async def test_the_docs_describe_every_route(wire: Wire) -> None:
    """Each route of the OpenAPI document, with its bodies and answers, and no script."""
    page = Tags((await wire.http.get("/docs")).text)
    for path, verbs in (await wire.http.get("/openapi.json")).json()["paths"].items():
        for verb, route in verbs.items():
            assert f"{verb.upper()} {path}" in page.text
            assert route["description"] in page.text
    assert not page.tags & {"script", "img", "link"}


@pytest.mark.parametrize(
    ("auth", "sentence"), [("open", "in the header X-Agent-Id"), ("token", "answered with a token")]
)
async def test_the_page_says_how_agents_are_told_apart(auth: str, sentence: str) -> None:
    """By a header or by tokens; nothing else of the run is shown."""
    async with wire_to(ServeConfig(store="memory:", port=0, auth=auth)) as wire:  # type: ignore[arg-type]
        await wire.register("grill", "business")
        page = (await wire.http.get("/")).text
        assert sentence in Tags(page).text
        assert "grill" not in page
