"""An index on disk beside its playbook: one archive of arrays. Parts that still fit are reused. No pickles."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from akinai.learning.playbook.atomic import write_atomically
from akinai.learning.playbook.bullets import Playbook
from akinai.learning.playbook.file import PlaybookFile
from akinai.learning.search.embedders import EmbedderFitter
from akinai.learning.search.index import (
    PlaybookIndex,
    SavedParts,
    SearchQuery,
    SearchResult,
    tokenizer_name,
)
from akinai.retrieval import ALPHA, Embedder, HashedTermVectors, Tokenizer, tokenize
from akinai.retrieval.bm25 import PackedPostings

if TYPE_CHECKING:
    from numpy.typing import NDArray

LAYOUT = 4
"""The version of the archive's layout; one of another version is rebuilt."""


def index_path(playbook_path: Path | str) -> Path:
    """`<name>.index.npz` beside a playbook."""
    path = Path(playbook_path).resolve()
    return path.with_name(f"{path.name.removesuffix('.json')}.index.npz")


def open_index(
    playbook: Playbook,
    playbook_path: Path | str,
    *,
    tokenizer: Tokenizer = tokenize,
    embedder: Embedder | EmbedderFitter | None = None,
    alpha: float = ALPHA,
) -> PlaybookIndex:
    """The index of a playbook. It reuses the words and vectors on disk that belong to its texts.

    Missing, unreadable or outdated parts, such as those of another tokenizer or embedder, are rebuilt and saved.
    """
    file = index_path(playbook_path)
    manifest: dict[str, Any] = {
        "layout": LAYOUT,
        "content": content_hash(playbook),
        "tokenizer": tokenizer_name(tokenizer),
        "embedder": (embedder or HashedTermVectors(tokenizer=tokenizer)).name,
    }
    saved, found = _read(file, playbook, manifest)
    postings = saved.postings or PackedPostings.of([tokenizer(bullet.searchable_text) for bullet in playbook])
    index = PlaybookIndex(
        playbook, tokenizer=tokenizer, embedder=embedder, alpha=alpha, saved=replace(saved, postings=postings)
    )
    if found != manifest:
        with suppress(OSError):  # a folder where nobody may write
            _save(index, file, manifest, postings)
    return index


def index_of(file: PlaybookFile, **options: Any) -> PlaybookIndex:
    """The index of the playbook in a file, with the options of `open_index`. It is kept beside a playbook in .json;
    beside others' rule files nothing is written."""
    playbook = file.load()
    return open_index(playbook, file.path, **options) if file.ending == ".json" else PlaybookIndex(playbook, **options)


class FileIndex:
    """The index of a playbook's file, of its newest state. Not thread-safe."""

    def __init__(self, file: PlaybookFile) -> None:
        self._file = file
        self._index: PlaybookIndex | None = None

    def search(self, query: SearchQuery) -> list[SearchResult]:
        """As `PlaybookIndex.search`."""
        if self._index is None:
            self._index = index_of(self._file)
        self._index.refresh(self._file.load())
        return self._index.search(query)


def _save(index: PlaybookIndex, file: Path, manifest: Mapping[str, Any], postings: PackedPostings) -> None:
    """Write an index: its vectors, digests of the bullets' texts, and the occurrences of words in them. Vectors of a
    basis are left out, which is fitted anew."""
    import numpy as np

    digests = b"".join(_text_digest(bullet.searchable_text) for bullet in index.playbook)
    arrays: dict[str, Any] = {
        "manifest": _bytes_of(manifest),
        "vectors": index.vectors()[: 0 if index.fitted_on else None],
        "texts": np.frombuffer(digests, np.uint8).reshape(-1, 16),
        "vocabulary": _bytes_of(postings.vocabulary),
        "begins": postings.begins,
        "rows": postings.rows.astype(np.int32),
        "counts": postings.counts.astype(np.int32),
    }
    archive = io.BytesIO()
    np.savez(archive, **arrays)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, archive.getvalue())


def _bytes_of(value: object) -> NDArray[Any]:
    """A value's JSON as an array of bytes."""
    import numpy as np

    return np.frombuffer(json.dumps(value).encode(), np.uint8)


def content_hash(playbook: Playbook) -> str:
    """A digest of the ids and texts of a playbook, in order."""
    return _text_digest(json.dumps([[bullet.id, bullet.searchable_text] for bullet in playbook])).hex()


def _read(file: Path, playbook: Playbook, manifest: Mapping[str, Any]) -> tuple[SavedParts, Mapping[str, Any]]:
    """The parts on disk that fit a playbook, and the manifest there; none when they are missing, unreadable, or of
    another tokenizer."""
    import numpy as np

    vectors, postings = dict[str, Any](), None
    try:
        with np.load(io.BytesIO(file.read_bytes()), allow_pickle=False) as archive:
            arrays: dict[str, Any] = dict(archive)
        found = json.loads(arrays["manifest"].tobytes())
        if (found["layout"], found["tokenizer"]) != (LAYOUT, manifest["tokenizer"]):
            return SavedParts(), {}
        if found["embedder"] == manifest["embedder"]:
            rows = {row.tobytes(): vector for row, vector in zip(arrays["texts"], arrays["vectors"], strict=False)}
            texts = {bullet.searchable_text for bullet in playbook}
            vectors = {text: rows[digest] for text in texts if (digest := _text_digest(text)) in rows}
        if found["content"] == manifest["content"]:
            counted = (arrays[name].astype("int64") for name in ("rows", "counts"))
            postings = PackedPostings(json.loads(arrays["vocabulary"].tobytes()), arrays["begins"], *counted)
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError, zipfile.BadZipFile):
        return SavedParts(), {}
    return SavedParts(vectors, postings), found


def _text_digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
