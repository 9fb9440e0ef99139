"""An index on disk beside its playbook: arrays and a manifest. Parts that still fit are reused. No pickles."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from akinai.learning.playbook.atomic import write_atomically
from akinai.learning.playbook.bullets import Playbook
from akinai.learning.playbook.file import PlaybookFile
from akinai.learning.search.embedders import EmbedderFitter, FittedEmbedder
from akinai.learning.search.index import (
    CachedTexts,
    PackedIndex,
    PlaybookIndex,
    SearchQuery,
    SearchResult,
    tokenizer_name,
)
from akinai.retrieval import ALPHA, Embedder, HashedTermVectors, Tokenizer, tokenize
from akinai.retrieval.bm25 import PackedPostings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LAYOUT = 2
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
    make = partial(PlaybookIndex, playbook, tokenizer=tokenizer, embedder=embedder, alpha=alpha)
    saved = _read(files, tokenizer_name(tokenizer), embedder or HashedTermVectors(tokenizer=tokenizer))
    if saved and saved.vectors is not None and saved.is_of(playbook):
        whole = PackedIndex(saved.packed, saved.vectors)
        return make(cached=CachedTexts({}, {}, saved.fitted, saved.fitted_on, whole))
    cached = saved.cached(playbook) if saved else CachedTexts({}, {})
    texts = dict.fromkeys(bullet.searchable_text for bullet in playbook)
    words = {text: tokenizer(text) if (held := cached.words.get(text)) is None else held for text in texts}
    index = make(cached=replace(cached, words=words))
    if saved is None or saved.content != content_hash(playbook) or saved.embedder != index.embedder_name:
        with suppress(OSError):  # a folder where nobody may write
            _save(index, files, words)
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
        elif self._index.playbook is not (newest := self._file.load()):
            self._index.refresh(newest)
        return self._index.search(query)


def _save(index: PlaybookIndex, files: IndexFiles, words: Mapping[str, Sequence[str]]) -> None:
    """Write an index, the manifest last. Whoever finds parts that the manifest does
    not name, as beside another process that saves, builds its own."""
    rows = {bullet.searchable_text: row for row, bullet in enumerate(index.playbook)}
    parts = {
        files.vectors: _npy(index.vectors()[[rows[text] for text in words]]),
        files.words: _npz(_packed(words)),
    }
    if index.fitted:
        parts[files.embedder] = _npz(index.fitted[0].arrays())
    manifest = {
        "layout": LAYOUT,
        "content": content_hash(index.playbook),
        "size": len(index),
        "texts": len(words),
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


@dataclass(frozen=True, slots=True)
class _SavedIndex:
    """The content of the files, for the requested tokenizer and embedder."""

    content: str
    embedder: str
    row_of: Mapping[bytes, int]
    """The row of a text, by its digest."""
    packed: PackedPostings
    """The words of the texts, one row for each."""
    vectors: NDArray[np.float32] | None
    """None when they are of another embedder."""
    fitted: FittedEmbedder | None
    fitted_on: int

    def is_of(self, playbook: Playbook) -> bool:
        """Whether it is an index of exactly this playbook, with one row for each bullet."""
        return len(self.row_of) == len(playbook) and self.content == content_hash(playbook)

    def cached(self, playbook: Playbook) -> CachedTexts:
        """The parts that belong to the texts of a playbook."""
        held, counts, begins = self.packed.by_row(len(self.row_of))
        vocabulary = self.packed.vocabulary
        words: dict[str, Sequence[str]] = {}
        vectors: dict[str, NDArray[np.float32]] = {}
        for text in {bullet.searchable_text for bullet in playbook}:
            row = self.row_of.get(_text_digest(text))
            if row is not None:
                indices: list[int] = (
                    held[begins[row] : begins[row + 1]].repeat(counts[begins[row] : begins[row + 1]]).tolist()
                )
                words[text] = [vocabulary[index] for index in indices]
                if self.vectors is not None:
                    vectors[text] = self.vectors[row]
        return CachedTexts(words, vectors, self.fitted, self.fitted_on)


def _read(files: IndexFiles, tokenizer: str, embedder: Embedder | EmbedderFitter) -> _SavedIndex | None:
    """The index on disk; None when it is missing, unreadable, or of another tokenizer."""
    try:
        manifest = json.loads(files.manifest.read_bytes())
        if manifest["layout"] != LAYOUT or manifest["tokenizer"] != tokenizer:
            return None
        packed = _loaded(files.words, manifest)
        fitted = None
        if isinstance(embedder, EmbedderFitter) and manifest["embedder"].startswith(f"{embedder.name}:"):
            fitted = embedder.restore(_loaded(files.embedder, manifest))
        embedder_name = fitted.name if fitted else embedder.name
        vectors = _loaded(files.vectors, manifest) if manifest["embedder"] == embedder_name else None
        rows = {row.tobytes(): number for number, row in enumerate(packed["texts"])}
        return _SavedIndex(
            manifest["content"],
            manifest["embedder"],
            rows,
            PackedPostings(
                json.loads(packed["vocabulary"].tobytes()),
                packed["begins"],
                packed["rows"].astype("int64"),
                packed["counts"].astype("int64"),
            ),
            vectors,
            fitted,
            manifest["fitted_on"] or 0,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, zipfile.BadZipFile):
        return None


def _loaded(path: Path, manifest: Any) -> Any:
    """The arrays of a file; ValueError when the manifest names another file."""
    import numpy as np

    data = path.read_bytes()
    if _digest(data) != manifest["files"][path.name]:
        raise ValueError(f"{path.name} is not the file that the manifest names")
    loaded = np.load(io.BytesIO(data), allow_pickle=False)
    return dict(loaded) if path.suffix == ".npz" else loaded


def _packed(words: Mapping[str, Sequence[str]]) -> Mapping[str, NDArray[Any]]:
    """Digests of texts and the occurrences of words in them, as arrays without objects."""
    import numpy as np

    packed = PackedPostings.of(list(words.values()))
    digests = np.frombuffer(b"".join(map(_text_digest, words)), np.uint8).reshape(-1, 16)
    return {
        "texts": digests,
        "vocabulary": np.frombuffer(json.dumps(packed.vocabulary).encode(), np.uint8),
        "begins": packed.begins,
        "rows": packed.rows.astype(np.int32),
        "counts": packed.counts.astype(np.int32),
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
