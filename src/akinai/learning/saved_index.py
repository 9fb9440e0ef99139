"""An index on disk beside its playbook: arrays and a manifest, used again as far as they still fit. Never a pickle."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from akinai.learning.embedders import Fitted, Fitting
from akinai.learning.files import locked, write_whole
from akinai.learning.index import PlaybookIndex, Remembered, tokenizer_name
from akinai.learning.playbook import Playbook
from akinai.retrieval import ALPHA, Embedder, HashedTermVectors, Tokenizer, tokenize

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LAYOUT = 1
"""The number of the files' layout; others are built anew."""

LOCK_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class IndexFiles:
    """Where the index of a playbook is kept."""

    manifest: Path
    vectors: Path
    words: Path
    embedder: Path
    """The basis of a fitted embedder; absent for others."""
    lock: Path

    @classmethod
    def beside(cls, playbook_path: Path | str) -> IndexFiles:
        """`<name>.index.json`, `<name>.vectors.npy`, `<name>.bm25.npz` and `<name>.embedder.npz` beside a playbook."""
        path = Path(playbook_path).resolve()
        stem = path.name.removesuffix(".json")
        names = [f"{stem}.index.json", f"{stem}.vectors.npy", f"{stem}.bm25.npz", f"{stem}.embedder.npz"]
        manifest, vectors, words, embedder = (path.with_name(name) for name in names)
        return cls(manifest, vectors, words, embedder, path.with_name(f".{stem}.index.lock"))


def open_index(
    playbook: Playbook,
    playbook_path: Path | str,
    *,
    tokenizer: Tokenizer = tokenize,
    embedder: Embedder | Fitting | None = None,
    alpha: float = ALPHA,
    floor: float | None = None,
) -> PlaybookIndex:
    """The index of a playbook, with the words and vectors on disk wherever they are those of its texts.

    What is missing, was made by another tokenizer or embedder, or cannot be read is made anew, and the files with it.
    """
    files = IndexFiles.beside(playbook_path)
    kept = _read(files, tokenizer_name(tokenizer), embedder or HashedTermVectors(tokenizer=tokenizer))
    remembered = kept.remembered(playbook) if kept else Remembered({}, {})
    texts = dict.fromkeys(bullet.searchable_text for bullet in playbook)
    words = {text: tokenizer(text) if (known := remembered.words.get(text)) is None else known for text in texts}
    remembered = replace(remembered, words=words)
    index = PlaybookIndex(
        playbook, tokenizer=tokenizer, embedder=embedder, alpha=alpha, floor=floor, remembered=remembered
    )
    if kept is None or kept.content != content_hash(playbook) or kept.embedder != index.embedder_name:
        _save(index, files, words)
    return index


def _save(index: PlaybookIndex, files: IndexFiles, words: Mapping[str, Sequence[str]]) -> None:
    """Write an index, the manifest last. Who reads meanwhile sees the old one, the new one, or builds its own."""
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
    with locked(files.lock, LOCK_TIMEOUT_S):
        for path, data in parts.items():
            write_whole(path, data)
        write_whole(files.manifest, json.dumps(manifest, ensure_ascii=False, indent=2).encode() + b"\n")


def content_hash(playbook: Playbook) -> str:
    """Of the ids and texts that an index holds, in their order."""
    told = [[bullet.id, bullet.searchable_text] for bullet in playbook]
    return _digest(json.dumps(told).encode())


@dataclass(frozen=True, slots=True)
class _Kept:
    """What the files hold, of the tokenizer and embedder that were asked for."""

    content: str
    embedder: str
    row_of: Mapping[bytes, int]
    """By the digest of a text."""
    vocabulary: Sequence[str]
    words: NDArray[np.int32]
    """Of all texts, one after the other, by place in the vocabulary."""
    ends: NDArray[np.int64]
    vectors: NDArray[np.float32] | None
    """None when another embedder made them."""
    fitted: Fitted | None
    fitted_on: int

    def remembered(self, playbook: Playbook) -> Remembered:
        """What of it belongs to the texts of a playbook."""
        words: dict[str, Sequence[str]] = {}
        vectors: dict[str, NDArray[np.float32]] = {}
        for text in {bullet.searchable_text for bullet in playbook}:
            row = self.row_of.get(_text_digest(text))
            if row is not None:
                places: list[int] = self.words[self.ends[row] : self.ends[row + 1]].tolist()
                words[text] = [self.vocabulary[place] for place in places]
                if self.vectors is not None:
                    vectors[text] = self.vectors[row]
        return Remembered(words, vectors, self.fitted, self.fitted_on)


def _read(files: IndexFiles, tokenizer: str, embedder: Embedder | Fitting) -> _Kept | None:
    """What is on disk; None when there is nothing, or nothing that this tokenizer made, or it cannot be read."""
    try:
        manifest = json.loads(files.manifest.read_bytes())
        if manifest["layout"] != LAYOUT or manifest["tokenizer"] != tokenizer:
            return None
        packed = _loaded(files.words, manifest)
        fitted = None
        if isinstance(embedder, Fitting) and manifest["embedder"].startswith(f"{embedder.name}:"):
            fitted = embedder.restore(_loaded(files.embedder, manifest))
        wanted = fitted.name if fitted else embedder.name
        vectors = _loaded(files.vectors, manifest) if manifest["embedder"] == wanted else None
        rows = {row.tobytes(): number for number, row in enumerate(packed["texts"])}
        return _Kept(
            manifest["content"],
            manifest["embedder"],
            rows,
            json.loads(packed["vocabulary"].tobytes()),
            packed["words"],
            packed["ends"],
            vectors,
            fitted,
            manifest["fitted_on"] or 0,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, zipfile.BadZipFile):
        return None


def _loaded(path: Path, manifest: Any) -> Any:
    """The arrays of a file; ValueError when it is not the one that the manifest speaks of."""
    import numpy as np

    data = path.read_bytes()
    if _digest(data) != manifest["files"][path.name]:
        raise ValueError(f"{path.name} is not the file that the manifest names")
    loaded = np.load(io.BytesIO(data), allow_pickle=False)
    return dict(loaded) if path.suffix == ".npz" else loaded


def _packed(words: Mapping[str, Sequence[str]]) -> Mapping[str, NDArray[Any]]:
    """Texts by digest and their words by place in a vocabulary, as arrays without objects."""
    import numpy as np

    vocabulary: dict[str, int] = {}
    flat = [vocabulary.setdefault(word, len(vocabulary)) for some in words.values() for word in some]
    digests = np.frombuffer(b"".join(map(_text_digest, words)), np.uint8).reshape(-1, 16)
    return {
        "texts": digests,
        "vocabulary": np.frombuffer(json.dumps(list(vocabulary)).encode(), np.uint8),
        "words": np.array(flat, np.int32),
        "ends": np.cumsum([0, *map(len, words.values())]),
    }


def _npy(array: NDArray[Any]) -> bytes:
    import numpy as np

    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _npz(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """NumPy's archive of arrays; the same arrays, the same bytes, whatever the time."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, array in arrays.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), _npy(array))
    return buffer.getvalue()


def _text_digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()
