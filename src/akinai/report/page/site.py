"""Addresses of pages and of their files: on a server, in a folder of files, in a single file, or in a report."""

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from typing import Literal
from urllib.parse import quote

from markupsafe import Markup

from akinai.report.page.templating import Language, asset, marked

Form = Literal["live", "folder", "file", "report", "beside"]
"""A server, a folder with a list, a single file, a report, or a page of a run beside a report."""
POLICY = (
    "default-src 'none'; style-src {style}; script-src {script}; img-src data:; connect-src {connect}; "
    "base-uri 'none'; form-action 'none'"
)
"""The content security policy: a page loads its own styles and script, and nothing from another machine."""


@dataclass(frozen=True, slots=True)
class Site:
    """The addresses of pages in one of the forms, and the language in which they are written."""

    form: Form
    language: Language = "en"

    @property
    def live(self) -> bool:
        return self.form == "live"

    @property
    def inline(self) -> bool:
        """Whether styles and script are in the page."""
        return self.form in ("file", "report")

    @property
    def packed(self) -> bool:
        """Whether the data of a page are in it as gzip."""
        return self.form in ("file", "beside")

    @property
    def alone(self) -> bool:
        """Whether there is no other page to link to."""
        return self.form == "file"

    @property
    def base(self) -> str:
        return "/static/" if self.live else ""

    @property
    def home(self) -> str:
        return {"live": "/", "folder": "index.html", "beside": "../report.html"}.get(self.form, "#")

    @property
    def home_title(self) -> str:
        """The title of `home`, for `_` of a template."""
        return marked("Report") if self.form in ("report", "beside") else marked("Runs")

    def run(self, id: str) -> str:
        """The address of a run's page."""
        return f"/runs/{quote(id, safe='')}" if self.live else f"run-{file_name(id)}.html"

    def market(self, id: str) -> str:
        """The address of the page of a run's participants and conversations."""
        return f"{self.run(id)}/market" if self.live else f"market-{file_name(id)}.html"

    def play(self, id: str) -> str:
        """The address of the page on which a person plays a run."""
        return f"/play/{quote(id, safe='')}"

    def compare(self, first: str, second: str) -> str:
        """The address of the page of two runs in step."""
        if self.live:
            return f"/compare/{quote(first, safe='')}/{quote(second, safe='')}"
        return f"compare-{file_name(first)}-{file_name(second)}.html"

    @property
    def css(self) -> Markup:
        return Markup(_inline("studio.css"))

    @property
    def js(self) -> Markup:
        return Markup(_inline("studio.js"))

    @property
    def policy(self) -> str:
        """The content security policy. Inline styles place bars and pins; a script is ours or does not run."""
        script = _digest("studio.js") if self.inline else "'self'"
        connect = "'self'" if self.live else "'none'"
        return POLICY.format(style="'self' 'unsafe-inline'", script=script, connect=connect)


def file_name(id: str) -> str:
    """A run's id as part of a file's name, in every file system."""
    return quote(id, safe="").replace("%", "=")


@cache
def _inline(name: str) -> str:
    text = asset(name)
    assert "</s" not in text, f"{name} would end its element"
    return text


@cache
def _digest(name: str) -> str:
    digest = hashlib.sha256(_inline(name).encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
