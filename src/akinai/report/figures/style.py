"""The style of every figure: type, axes, and looks that colour-blind readers and black-and-white prints tell apart."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from types import MappingProxyType

from akinai.core.untrusted.spelling import plain, shorten

# After Okabe and Ito 2008, "Color Universal Design", without yellow, which is lost on white paper.
HUES = {
    "g1": "#0068a3", "g2": "#b84a00", "g3": "#00785a", "g4": "#a0487c", "g5": "#3d3a36", "g6": "#2f7fae",
    "g7": "#8a6d00", "idle": "#8a8a8a", "reference": "#5a5a5a", "informed": "#3f6b4e", "ink": "#211e1a",
    "soft": "#726b61", "line": "#e6e1d8",
}  # fmt: skip
"""Colours on paper, by class."""
DARK = {
    "g1": "#62b1e8", "g2": "#f08f4f", "g3": "#3fc79d", "g4": "#e0a0c4", "g5": "#ece7de", "g6": "#8fd0f2",
    "g7": "#d9be5c", "idle": "#978f84", "reference": "#b3aba0", "informed": "#8dbb99", "ink": "#ece7de",
    "soft": "#978f84", "line": "#322f2b",
}  # fmt: skip
DASHES = ("", "6 2", "5 1.5 1.2 1.5", "2.5 1.5", "9 2 1.2 2 1.2 2")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LONGEST_NAME = 32
"""Characters of a name in a figure; tables show it in full."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a group is drawn, in every figure alike."""

    name: str
    hue: str
    """The class of its colour."""
    dash: str = ""
    marker: str = "o"


SCALE_LOOKS = {"idle": ("2 2", "o"), "reference": ("6 3", "s"), "informed": ("5 1.5 1.2 1.5", "^")}
"""Line and mark of the players of the scale."""
INK, SOFT, LINE = Look("", "ink"), Look("", "soft"), Look("", "line")


def looks(groups: Sequence[str], kinds: Mapping[str, str] = MappingProxyType({})) -> dict[str, Look]:
    """A look for each group, in their order; neighbours differ in colour, line and marker, and all in name.

    `kinds` are the lines of the page by group: "g1" has the first colour, "idle" and "reference" are grey, and groups
    without one follow in their order.
    """
    looks_by_group: dict[str, Look] = {}
    names: dict[str, int] = {}
    for index, (group, name) in enumerate(zip(groups, _cut(_without_common(groups)), strict=True)):
        names[name] = names.get(name, 0) + 1
        name = f"{name} ({names[name]})" if names[name] > 1 else name
        kind = kinds.get(group, "")
        if kind in SCALE_LOOKS:
            looks_by_group[group] = Look(name, kind, *SCALE_LOOKS[kind])
            continue
        own = int(kind.removeprefix("g")) - 1 if kind else index
        look = Look(name, f"g{own % 7 + 1}", DASHES[own % len(DASHES)], MARKERS[own % len(MARKERS)])
        looks_by_group[group] = look
    return looks_by_group


def _without_common(names: Sequence[str]) -> list[str]:
    """The names; if one is too long, without the words and the path of a setting with which all begin."""
    if len(names) < 2 or max(map(len, names)) <= LONGEST_NAME:
        return list(names)
    words = [name.split(" ") for name in names]
    columns = zip(*(parts[:-1] for parts in words), strict=False)
    same = sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns))
    ends = [" ".join(parts[same:]) for parts in words]
    path, dot, _ = ends[0].partition("=")[0].rpartition(".")
    long = max(map(len, ends)) > LONGEST_NAME and all(end.startswith(path + dot) for end in ends)
    return [end.removeprefix(path + dot) for end in ends] if long else ends


def _cut(names: Sequence[str]) -> list[str]:
    """Names cut to fit; those that would look alike keep their end as well."""
    cut = [short(name) for name in names]
    half = LONGEST_NAME // 2 - 2
    ends = [short(f"{name[:half]}...{name[-half:]}") if len(name) > LONGEST_NAME else name for name in names]
    return [end if cut.count(name) > 1 else name for name, end in zip(cut, ends, strict=True)]


def short(name: str) -> str:
    """A name cut to fit a figure."""
    return writable(shorten(name, LONGEST_NAME))


def writable(text: str) -> str:
    """Text without characters that XML cannot hold."""
    return re.sub("[\ufffe\uffff\ud800-\udfff]", "\ufffd", plain(text))
