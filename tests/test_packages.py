"""What a stranger installs: the sdist holds all that the wheel is made of, and the wheel alone plays."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


def done(*words: str | Path, cwd: Path, home: Path | None = None) -> str:
    """What a program printed. It sees nothing of the checkout, and the given folder as its home."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "AKINAI_", "VIRTUAL"))}
    ran = subprocess.run(
        [str(word) for word in words], cwd=cwd, env=env | ({"HOME": str(home)} if home else {}),
        capture_output=True, text=True,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist."""
    folder = tmp_path_factory.mktemp("dist")
    done(sys.executable, "-m", "hatchling", "build", "-d", folder, cwd=ROOT)
    return folder


def names_in_wheel(folder: Path) -> set[str]:
    (wheel,) = folder.glob("*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


@pytest.mark.slow
def test_sdist_makes_the_same_wheel(built: Path, tmp_path: Path) -> None:
    """File by file; worlds' data, templates, translations and type marks are among them. `make` works in the sdist."""
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    kinds = ("Makefile", "constraints.txt", "*.md", "*.toml", "*.yml", "*.cff")
    assert {path.name for kind in kinds for path in ROOT.glob(kind)} <= {path.name for path in source.iterdir()}
    done(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path / "dist", cwd=source)
    names = names_in_wheel(tmp_path / "dist")
    assert names == names_in_wheel(built)
    packaged = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "akinai").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert packaged <= names


def interpreter(version: str) -> str | None:
    """The path of a Python, on the PATH or among those of pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    for path in (*pyenv.glob(f"{version}.*/bin/python{version}"), shutil.which(f"python{version}")):
        if path and subprocess.run([path, "-c", ""], capture_output=True).returncode == 0:
            return str(path)
    return None


@pytest.mark.slow
@pytest.mark.parametrize("python", list(filter(None, map(interpreter, PYTHONS))), ids=lambda path: Path(path).name)
def test_wheel_plays_the_demo_by_uvx(built: Path, tmp_path: Path, python: str) -> None:
    """With an empty home, on every Python that is there: the report is drawn, no other extra is needed."""
    pytest.importorskip("uv")
    (wheel,) = built.glob("*.whl")
    here = tmp_path / "here"
    here.mkdir()
    uvx = (sys.executable, "-m", "uv", "tool", "run", "--no-python-downloads", "--python", python)
    demo = ("--from", f"{wheel}[report]", "akinai", "demo", "--seeds", "1-2", "--days", "3")
    assert "Bank balance" in done(*uvx, *demo, cwd=here, home=tmp_path)
    assert (here / "akinai-report" / "report.html").is_file()


@pytest.mark.slow
def test_wheel_plays_by_pipx_without_extras(built: Path, tmp_path: Path) -> None:
    """The base alone plays; the demo names the extra that draws the report."""
    pytest.importorskip("pipx")
    (wheel,) = built.glob("*.whl")
    pipx = (sys.executable, "-m", "pipx", "run", "--spec", wheel)
    shown = done(*pipx, "akinai", "demo", "--seeds", "1-2", "--days", "3", cwd=tmp_path, home=tmp_path)
    assert 'pip install "akinai[report]"' in shown
