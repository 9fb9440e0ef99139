"""`akinai.studio.bundle`: the pages of runs as files that open from disk, without a server."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from akinai.core.errors import LedgerError, UsageError
from akinai.core.stores import Books, RunHeader
from akinai.report.page.market_page import market_page
from akinai.report.page.run_list import ListedRun, runs_page
from akinai.report.page.run_page import run_page
from akinai.report.page.site import Site, file_name
from akinai.report.page.templating import asset, checked_language
from akinai.runtime.config.addresses import StoreRef, in_store
from akinai.runtime.config.files import new_path, staged_folder, write_texts
from akinai.runtime.models.budget import known_prices
from akinai.runtime.runs.reading import find_runs
from akinai.studio.cached_views import CachedViews
from akinai.studio.watch import Watch, judged_run

HTML = ".html"


@dataclass(frozen=True, slots=True)
class Bundled:
    """A bundle on disk."""

    page: Path
    """The file to open."""
    files: tuple[Path, ...]
    runs: int


def bundle(*runs: str, output: str | Path, store: StoreRef = None, language: str | None = None) -> Bundled:
    """Write the pages of runs and groups by name into the folder `output`, or those of one run into a file `*.html`.

    They need no server and ask no other machine for anything. An older bundle in the folder is replaced; other files
    are left alone. UsageError for several runs in a file, a run that cannot be read, and a place that cannot be
    written.
    """
    target, words = new_path(output), checked_language(language) or "en"
    single = target.suffix.lower() == HTML
    if target.is_file() != single and target.exists():
        raise UsageError(f"{str(target)!r} is a {'folder' if single else 'file'}; -o names a folder, or a file *.html")

    async def work(books: Books) -> Bundled:
        headers = await find_runs(books, runs)
        if single and len(headers) != 1:
            raise UsageError(f"a file holds one run, not {len(headers)}; name a folder with -o, such as -o bundle")
        site = Site("file" if single else "folder", words)
        pages = await _pages(books, headers, site)
        if single:
            (text,) = pages.values()
            return _write(target.parent, {target.name: text}, target, 1)
        texts = {**pages, **{name: asset(name) for name in ("studio.css", "studio.js")}}
        texts["index.html"] = await _index(books, headers, site)
        return _write(target, texts, target / "index.html", len(headers))

    return in_store(store, work)


async def _pages(books: Books, headers: Sequence[RunHeader], site: Site) -> dict[str, str]:
    """The pages of the runs by the names of their files."""
    watch = Watch(books)
    await watch.refresh()
    cached = CachedViews(books, watch, {})
    pages: dict[str, str] = {}
    for header in headers:
        try:
            views = await cached.views(header)
        except (LedgerError, UsageError) as error:
            raise UsageError(f"run {header.run_id!r} cannot be read: {error}") from error
        pages[f"run-{file_name(header.run_id)}{HTML}"] = run_page(views, await cached.ghosts(header), site)
        if views.crowd.talks and not site.inline:
            pages[f"market-{file_name(header.run_id)}{HTML}"] = market_page(views, site)
    return pages


async def _index(books: Books, headers: Sequence[RunHeader], site: Site) -> str:
    runs = [await judged_run(books, header, known_prices()) for header in headers]
    return runs_page([ListedRun(run.header, run, run.entries) for run in runs], site)


def _write(folder: Path, texts: Mapping[str, str], page: Path, runs: int) -> Bundled:
    with staged_folder(folder, "the pages") as staged:
        write_texts(staged, texts)
    return Bundled(page, tuple(folder / name for name in texts), runs)
