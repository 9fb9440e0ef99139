"""Lines of Japanese: they may end between any two wide characters, but no line begins with a full stop or a comma."""

from collections.abc import Iterator
from unicodedata import east_asian_width

ENDS, OPENS = "、。，．」』）】：；？！ー],)}", "「『（【["
"""Characters that may not begin a line, and those that may not end one."""


def line_breaks(text: str, width: int, fold: bool = True) -> list[int]:
    """Indices of the characters at which `rich` breaks a text of one line into lines of at most `width` columns.

    A line has room for the space at its end, which `rich` would cut off with three dots. A longer word is cut with
    `fold`, and has a line of its own without.
    """
    breaks, index, column = list[int](), 0, 0
    for word in unbreakable(text):
        if column and column + columns(word) > width:
            breaks.append(index)
            column = 0
        if fold and columns(word.rstrip()) > width:
            for letter in word:
                if column and column + columns(letter) > width:
                    breaks.append(index)
                    column = 0
                column += columns(letter)
                index += 1
        else:
            column += columns(word)
            index += len(word)
    return breaks


def unbreakable(text: str) -> Iterator[str]:
    """Yield the parts that may not be broken: a word with the space after it, a wide character with its full stop."""
    word = ""
    for letter in text:
        ends = word.endswith(" ") or is_wide(letter) or is_wide(word[-1:])
        if word and ends and letter not in ENDS and letter != " " and word[-1] not in OPENS:
            yield word
            word = ""
        word += letter
    if word:
        yield word


def columns(text: str) -> int:
    """Columns that a text takes in a terminal."""
    return sum(2 if is_wide(letter) else 1 for letter in text)


def is_wide(letter: str) -> bool:
    return bool(letter) and east_asian_width(letter) in "FW"
