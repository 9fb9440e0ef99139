"""Laws of files that people name: their kind and size, and bounds on what is in them."""

import os
import stat
from pathlib import Path

import pytest

from akinai.core.errors import UsageError
from akinai.core.untrusted.documents import DocumentError, decode_text, parse_json, parse_toml, why_unfit
from akinai.files import read_named


def test_only_files_of_bounded_size_are_read() -> None:
    """A folder, a pipe, a device and a file above the limit are refused before a byte is read."""
    assert why_unfit(stat.S_IFREG, 10, 10) is None
    assert "11 bytes" in str(why_unfit(stat.S_IFREG, 11, 10))
    assert "folder" in str(why_unfit(stat.S_IFDIR, 0))
    for kind in (stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK):
        assert "pipe or a device" in str(why_unfit(kind, 0))


def test_text_is_utf8_with_or_without_a_mark() -> None:
    """Another encoding is named where it can be told, and a NUL is no text."""
    assert decode_text(b"\xef\xbb\xbfa") == decode_text(b"a") == "a"
    for data, words in (
        ("a".encode("utf-16"), "UTF-16"),
        ("\u3042".encode("cp932"), "Shift JIS"),
        (b"a\n\0", "line 2"),
    ):
        with pytest.raises(DocumentError, match=words):
            decode_text(data)


@pytest.mark.parametrize("levels", [65, 300, 20_000])
def test_depth_is_bounded(levels: int) -> None:
    """Values nested deeper than 64 levels are refused, however deep they are."""
    deep = "[" * levels + "]" * levels
    for parse, text in ((parse_json, deep), (parse_toml, f"x = {deep}")):
        with pytest.raises(DocumentError, match="deeper than 64 levels"):
            parse(text)
    assert parse_json("[" * 64 + "]" * 64) is not None


def test_digits_are_bounded() -> None:
    """A whole number of more digits than Python reads is refused in words."""
    for parse, text in ((parse_json, "9" * 5_000), (parse_toml, f"x = {'9' * 5_000}")):
        with pytest.raises(DocumentError, match="more than 4,300 digits"):
            parse(text)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    """Nobody writes into it, so opening it would wait for ever."""
    os.mkfifo(tmp_path / "p")
    with pytest.raises(UsageError, match="cannot be read: it is a pipe or a device; name a file"):
        read_named(tmp_path / "p")
