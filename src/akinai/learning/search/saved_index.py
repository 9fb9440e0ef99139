"""An index on disk beside its playbook: arrays and a manifest. Parts that still fit are reused. No pickles."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
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

LAYOUT = 3
"""The version of the file layout; files of another version are rebuilt."""


@dataclass(frozen=True, slots=True)
class IndexFiles:
    """The files of a playbook's index."""

    manifest: Path
    vectors: Path
    words: Path
    embedder: Path
    """The basis of a fitted embedder; absent otherwise."""

    @classmethod
    def beside(cls, playbook_path: Path | str) -> IndexFiles:
        """`<name>.index.json`, `<name>.vectors.npy`, `<name>.bm25.npz` and `<name>.embedder.npz` beside a playbook."""
        path = Path(playbook_path).resolve()
        stem = path.name.removesuffix(".json")
        names = [f"{stem}.index.json", f"{stem}.vectors.npy", f"{stem}.bm25.npz", f"{stem}.embedder.npz"]
        manifest, vectors, words, embedder = (path.with_name(name) for name in names)
        return cls(manifest, vectors, words, embedder)


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
    files = IndexFiles.beside(playbook_path)
    saved = _read(files, playbook, tokenizer_name(tokenizer), embedder or HashedTermVectors(tokenizer=tokenizer))
    postings = saved.postings or PackedPostings.of([tokenizer(bullet.searchable_text) for bullet in playbook])
    index = PlaybookIndex(
        playbook, tokenizer=tokenizer, embedder=embedder, alpha=alpha, saved=replace(saved, postings=postings)
    )
    if saved.postings is None or saved.embedder != index.embedder_name:
        with suppress(OSError):  # a folder where nobody may write
            _save(index, files, postings)
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


def _save(index: PlaybookIndex, files: IndexFiles, postings: PackedPostings) -> None:
    """Write an index, the manifest last. Whoever finds parts that the manifest does
    not name, as beside another process that saves, builds its own."""
    parts = {files.vectors: _npy(index.vectors()), files.words: _npz(_arrays(index.playbook, postings))}
    if index.fitted:
        parts[files.embedder] = _npz(index.fitted[0].arrays())
    manifest = {
        "layout": LAYOUT,
        "content": content_hash(index.playbook),
        "size": len(index),
        "tokenizer": tokenizer_name(index.tokenizer),
        "embedder": index.embedder_name,
        "dimensions": int(index.vectors().shape[1]),
        "fitted_on": index.fitted[1] if index.fitted else None,
        "files": {path.name: _digest(data) for path, data in parts.items()},
    }
    files.manifest.parent.mkdir(parents=True, exist_ok=True)
    for path, data in parts.items():
        write_atomically(path, data)
    write_atomically(files.manifest, json.dumps(manifest, ensure_ascii=False, indent=2).encode() + b"\n")


def content_hash(playbook: Playbook) -> str:
    """A digest of the ids and texts of a playbook, in order."""
    texts = [[bullet.id, bullet.searchable_text] for bullet in playbook]
    return _digest(json.dumps(texts).encode())


def _read(files: IndexFiles, playbook: Playbook, tokenizer: str, embedder: Embedder | EmbedderFitter) -> SavedParts:
    """The parts on disk that fit a playbook; none when they are missing, unreadable, or of another tokenizer."""
    try:
        manifest = json.loads(files.manifest.read_bytes())
        if manifest["layout"] != LAYOUT or manifest["tokenizer"] != tokenizer:
            return SavedParts()
        words = _loaded(files.words, manifest)
        fitted, vectors, postings = None, dict[str, Any](), None
        if isinstance(embedder, EmbedderFitter) and manifest["embedder"].startswith(f"{embedder.name}:"):
            fitted = embedder.restore(_loaded(files.embedder, manifest))
        if manifest["embedder"] == (fitted or embedder).name:
            matrix, rows = _loaded(files.vectors, manifest), {row.tobytes(): n for n, row in enumerate(words["texts"])}
            texts = {bullet.searchable_text for bullet in playbook}
            vectors = {text: matrix[row] for text in texts if (row := rows.get(_text_digest(text))) is not None}
        if manifest["content"] == content_hash(playbook):
            counted = (words[name].astype("int64") for name in ("rows", "counts"))
            postings = PackedPostings(json.loads(words["vocabulary"].tobytes()), words["begins"], *counted)
        return SavedParts(vectors, manifest["embedder"], postings, fitted, manifest["fitted_on"] or 0)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, zipfile.BadZipFile):
        return SavedParts()


def _loaded(path: Path, manifest: Any) -> Any:
    """The arrays of a file; ValueError when the manifest names another file."""
    import numpy as np

    data = path.read_bytes()
    if _digest(data) != manifest["files"][path.name]:
        raise ValueError(f"{path.name} is not the file that the manifest names")
    loaded = np.load(io.BytesIO(data), allow_pickle=False)
    return dict(loaded) if path.suffix == ".npz" else loaded


def _arrays(playbook: Playbook, postings: PackedPostings) -> Mapping[str, NDArray[Any]]:
    """Digests of the bullets' texts and the occurrences of words in them, as arrays without objects."""
    import numpy as np

    digests = b"".join(_text_digest(bullet.searchable_text) for bullet in playbook)
    return {
        "texts": np.frombuffer(digests, np.uint8).reshape(-1, 16),
        "vocabulary": np.frombuffer(json.dumps(postings.vocabulary).encode(), np.uint8),
        "begins": postings.begins,
        "rows": postings.rows.astype(np.int32),
        "counts": postings.counts.astype(np.int32),
    }


def _npy(array: NDArray[Any]) -> bytes:
    import numpy as np

    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _npz(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """NumPy's archive of arrays; equal arrays give equal bytes at any time."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, array in arrays.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), _npy(array))
    return buffer.getvalue()


def _text_digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()
