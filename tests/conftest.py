"""What all tests share: Hypothesis without deadlines, since machines are shared; in CI more
examples, the same each time."""

import gc
import importlib.metadata
import os
import signal
import ssl
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

import forked

STRICT = bool(os.environ.get("AKINAI_CI"))
LONGEST = (
    "test_demo.py", "test_docs.py", "test_in_a_copy.py", "test_packages.py", "test_server_quirks.py", "test_site.py",
)  # fmt: skip
_skipped: list[str] = []
os.environ["AKINAI_LANG"] = "en"  # whatever the language of the machine
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # workers are as many as cores, and their threads would fight

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # so it is in a shell's background, and for all processes begun
    signal.signal(signal.SIGINT, signal.default_int_handler)

gc.disable()  # while tests are collected: a quarter of that time, and nothing to collect

read_entry_points = importlib.metadata.entry_points


@cache
def _entry_points(path: tuple[str, ...]) -> importlib.metadata.EntryPoints:
    return read_entry_points()


def entry_points(**parameters: Any) -> importlib.metadata.EntryPoints:
    """As the library's, which reads the files of all that is installed anew each time: three times a command."""
    return _entry_points(tuple(sys.path)).select(**parameters)


importlib.metadata.entry_points = entry_points

read_certificates = cache(ssl.create_default_context)


def create_default_context(purpose: ssl.Purpose = ssl.Purpose.SERVER_AUTH, **where: Any) -> ssl.SSLContext:
    """As the library's, which reads the certificates of the machine anew for each client of hundreds, all of them on
    loopback without TLS."""
    return read_certificates(purpose, **where)


ssl.create_default_context = create_default_context

forked.hurry_servers()

settings.register_profile("akinai", deadline=None, derandomize=STRICT, max_examples=100 if STRICT else 5)
settings.load_profile("akinai")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden", action="store_true", help="write the golden playthroughs anew")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.markexpr == "slow":
        forked.SERVER.set_forkserver_preload([*forked.LOADED, *forked.MODELS])


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Laws that ask an interpreter of their own are slow. What takes longest begins first: at the end a worker would wait
    for it, or begin its fixtures a second time."""
    for item in items:
        if "[another_python_gives_the_same_bytes" in item.name:
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: item.path.name not in LONGEST)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Thousands of collected tests would be walked again by every full garbage collection: a tenth of the time."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(200_000, 20, 20)


@pytest.fixture
def postgres(tmp_path: Path) -> str:
    """The address of a new, empty schema on a real PostgreSQL."""
    import real_postgres

    return real_postgres.schema_in(tmp_path)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped and STRICT:
        _skipped.append(f"{report.nodeid}: {report.longrepr}")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """In CI everything that a test needs is there: a skipped one is a check that did not run, so the run fails."""
    if _skipped and exitstatus == pytest.ExitCode.OK and not hasattr(session.config, "workerinput"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(tryfirst=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """What the last tests left is collected once; pytest does so ten times, each of which would walk everything again."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for line in _skipped:
        terminalreporter.write_line(f"SKIPPED IN CI {line}", red=True)
