"""A studio over a store of small runs, and a browser that complains about whatever a page should not do."""

import re
import shutil
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

import forked

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
expect.set_options(timeout=30_000)  # a machine that is shared may be slow
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1440, "height": 1000}


@contextmanager
def studio_process(store: Path, *words: str) -> Generator[str]:
    """`akinai studio` in a process of its own; its address with the token."""
    with page_process("studio", "--store", str(store), *words) as address:
        yield address


@contextmanager
def page_process(*words: str, folder: Path | None = None) -> Generator[str]:
    """A command that serves pages, in a process of its own; its address with the token."""
    command = [sys.executable, "-m", "akinai", *words, "--no-browser"]
    process = forked.Popen(command, stdout=forked.PIPE, stderr=forked.PIPE, cwd=folder)
    try:
        assert process.stdout
        line = process.stdout.readline()
        match = re.search(r"http://\S+", line)
        if match is None:
            process.wait(20)
            raise AssertionError(line + (process.stderr.read() if process.stderr else ""))
        yield match[0]
    finally:
        process.terminate()
        _, errors = process.communicate(timeout=30)
        assert not errors, errors


@contextmanager
def chromium() -> Generator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


@dataclass
class Visit:
    """A visitor's page, with what it complained about and whom it asked."""

    page: Page
    origin: str
    complaints: list[str] = field(default_factory=list)

    def open(self, address: str) -> Page:
        self.page.goto(address)
        self.page.wait_for_selector("body[data-ready]", state="attached", timeout=30_000)
        return self.page

    def heard_from(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def check(self) -> None:
        """No complaint, no foreign request, nothing beyond the page's edge."""
        beyond = self.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert not self.complaints
        assert beyond <= 0


@contextmanager
def visit(browser: Browser, address: str, *, phone: bool = False, dark: bool = False) -> Generator[Visit]:
    """A page in a fresh profile that has not opened anything yet."""
    origin = "/".join(address.split("/")[:3])
    context: BrowserContext = browser.new_context(
        viewport=PHONE if phone else DESK, color_scheme="dark" if dark else "light", locale="en"
    )
    context.set_default_timeout(60_000)
    visitor = Visit(context.new_page(), origin)
    page = visitor.page
    page.on("console", visitor.heard_from)
    page.on("pageerror", lambda error: visitor.complaints.append(str(error)))
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((origin, "data:", "blob:", "file:"))
            else visitor.complaints.append(f"asked {request.url}")
        ),
    )
    yield visitor
    context.close()
