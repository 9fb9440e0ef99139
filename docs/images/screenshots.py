"""The pictures of the README, made from real runs: `make screenshots`. Needs Playwright, its Chromium and Pillow.

A font with Japanese has to be there (Noto Sans CJK, Noto Serif CJK).
Everything is played here by rules, so the same pictures come out again. Together they stay below 1.5 MB.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

import akinai

HERE = Path(__file__).parent
SIZE = {"width": 1440, "height": 900}
SMALL = {"width": 960, "height": 640}
SECONDS, FRAMES = 20, 73
MOST_BYTES = 1_500_000
READY = "body[data-ready]"


def play(folder: Path) -> str:
    """The runs that are shown."""
    store = str(folder / "akinai.db")
    for agent in ("idle", "naive", "reference"):
        akinai.run("vending", agent=agent, seeds=range(1, 8), store=store, name=agent)
    akinai.run("market", agent="careful", store=store, name="market")
    akinai.run("vending", preset="year", agent="reference", seeds=[7], store=other_store(store, "year"), name="year")
    rivals, other = {"owners.2.agent": "stocker", "owners.3.agent": "naive"}, other_store(store, "street")
    akinai.run("vending", preset="arena", agent="reference", days=30, settings=rivals, store=other, name="street")
    return store


def other_store(store: str, name: str) -> str:
    """A store beside it: the line of a year would make those of ninety days flat."""
    return str(Path(store).with_name(f"{name}.db"))


@contextmanager
def serving(*words: str) -> Generator[str]:
    """A command that serves pages; the address that it prints."""
    command = [sys.executable, "-m", "akinai", *words, "--no-browser", "--language", "en"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield next(word for word in process.stdout.readline().split() if word.startswith("http"))
        finally:
            process.terminate()


def opened(browser: Browser, address: str, *, dark: bool = False, small: bool = False) -> Page:
    page = browser.new_page(viewport=SMALL if small else SIZE, color_scheme="dark" if dark else "light")  # pyright: ignore[reportArgumentType] - width and height
    page.goto(address)
    page.wait_for_selector(READY, state="attached")
    return page


def keep(page: Page, name: str) -> None:
    """The page as it stands, in all its colours: fewer turn small amber marks red."""
    Image.open(BytesIO(page.screenshot())).convert("RGB").save(HERE / f"{name}.png", optimize=True)
    page.close()


def stills(browser: Browser, address: str) -> None:
    origin, _, token = address.partition("/?")
    page = opened(browser, address)
    page.wait_for_selector(".reading", state="detached", timeout=120_000)
    page.reload()  # means of groups stand on a page that finds all scores
    page.wait_for_selector(READY, state="attached")
    keep(page, "studio-runs")
    for path, name, dark in (
        ("/runs/naive-3", "studio-run", False),
        ("/runs/naive-3", "studio-run-dark", True),
        ("/leaderboard", "studio-leaderboard", False),
        ("/runs/market-1/market", "studio-market", False),
    ):
        page = opened(browser, f"{origin}{path}?{token}", dark=dark)
        if "naive" in path:
            page.wait_for_selector(".end.reference", timeout=120_000)
            page.keyboard.press("n")
            page.wait_for_timeout(600)
            page.evaluate("scrollTo(0, 0)")
            page.wait_for_timeout(300)
        keep(page, name)


def playing(browser: Browser, store: str) -> None:
    with serving("play", "vending", "--seed", "3", "--name", "you", "--store", store) as address:
        page = opened(browser, address)
        page.wait_for_selector(".end.reference", timeout=120_000)
        page.get_by_role("button", name="Search the web").click()
        page.locator("form:not([hidden])").get_by_label("Query").fill("wholesale snacks")
        page.keyboard.press("Enter")
        page.wait_for_selector("body[data-seq='1']", state="attached")
        page.get_by_role("button", name="Write an order").click()
        page.wait_for_timeout(200)
        page.evaluate("scrollTo(0, 0)")
        keep(page, "studio-play")


def street(browser: Browser, address: str) -> None:
    """Three owners side by side on a day."""
    page = opened(browser, f"{address}#day=20", small=True)  # its store has no other run
    page.set_viewport_size({"width": 960, "height": 560})
    page.wait_for_timeout(600)
    keep(page, "studio-street")


def year(browser: Browser, address: str) -> None:
    """A business year in twenty seconds."""
    page = opened(browser, address, small=True)
    page.add_style_tag(content=".head .kpis, .head .facts { display: none } .verdict { font-size: 18px }")
    page.wait_for_selector(".end.reference", timeout=240_000)
    frames = list(_frames(page))
    page.close()
    first, *rest = frames
    duration = SECONDS * 1000 // len(frames)
    first.save(
        HERE / "studio-year.webp", save_all=True, append_images=rest, duration=duration, loop=0, quality=45, method=4
    )


def _frames(page: Page) -> Generator[Image.Image]:
    for frame in range(FRAMES):
        day = 1 + round(frame * 364 / (FRAMES - 1))
        page.evaluate("day => studio.go(studio.firstOf(day))", day)
        page.wait_for_selector(f"section.day[data-day='{day}']", state="attached", timeout=30_000)
        page.wait_for_timeout(40)
        page.evaluate("scrollTo(0, 0)")
        yield Image.open(BytesIO(page.screenshot())).convert("RGB").resize((720, 480), Image.Resampling.LANCZOS)


def weigh(names: Sequence[Path]) -> None:
    total = sum(path.stat().st_size for path in names)
    for path in names:
        sys.stdout.write(f"{path.name}: {path.stat().st_size / 1e3:,.0f} kB\n")
    sys.stdout.write(f"together {total / 1e3:,.0f} kB\n")
    if total > MOST_BYTES:
        raise SystemExit("more than 1.5 MB")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        store = play(Path(folder))
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        with serving("studio", "--store", store) as address:
            stills(browser, address)
        for name, draw in (("year", year), ("street", street)):
            with serving("studio", "--store", other_store(store, name)) as address:
                draw(browser, address)
        playing(browser, store)
        browser.close()
    weigh(sorted(HERE.glob("studio-*.*")))


if __name__ == "__main__":
    main()
