"""A store on a drive without locks, or without shared memory: a small library stands in for such a drive."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import akinai

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux" or shutil.which("cc") is None, reason="no compiler, or no Linux"),
]
NO_LOCKS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
static int refused(int command) { return command == F_SETLK || command == F_SETLKW || command == F_GETLK; }
#define STAND_IN(name) int name(int file, int command, ...) { \\
    va_list rest; va_start(rest, command); void *value = va_arg(rest, void *); va_end(rest); \\
    if (refused(command)) { errno = ENOLCK; return -1; } \\
    return ((int (*)(int, int, void *))dlsym(RTLD_NEXT, #name))(file, command, value); }
STAND_IN(fcntl)
STAND_IN(fcntl64)
"""
NO_SHARED_MEMORY = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>
#define STAND_IN(name) void *name(void *at, size_t size, int protection, int flags, int file, off_t offset) { \\
    if (file >= 0 && (flags & MAP_SHARED)) { errno = ENODEV; return MAP_FAILED; } \\
    return ((void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, #name))(at, size, protection, flags, file, offset); }
STAND_IN(mmap)
STAND_IN(mmap64)
"""


@pytest.fixture(params=[NO_LOCKS, NO_SHARED_MEMORY], ids=["no locks", "no shared memory"])
def drive(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A library that makes every drive such a one."""
    source, library = tmp_path / "drive.c", tmp_path / "drive.so"
    source.write_text(request.param)
    done = subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return library


def there(library: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """A command of Akinai on such a drive; without waiting for a lock it takes seconds."""
    line = [sys.executable, "-m", "akinai", *words]
    env = {**os.environ, "LD_PRELOAD": str(library)}
    return subprocess.run(line, capture_output=True, text=True, timeout=40, cwd=library.parent, env=env)


def test_what_is_there_is_read(drive: Path) -> None:
    """The figures of a store that was made elsewhere."""
    akinai.run("vending", agent="idle", days=2, preset="classic", name="a", store=str(drive.with_name("akinai.db")))
    done = there(drive, "runs", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert '"run": "a-1"' in done.stdout


def test_what_is_to_be_written_is_refused_at_once(drive: Path) -> None:
    """In a sentence that names a local disk; nothing waits for a lock."""
    done = there(drive, "run", "vending", "--preset", "classic", "--agent", "idle", "--days", "1")
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert "name a file on a local disk with --store" in done.stderr
