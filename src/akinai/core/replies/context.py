"""Whether a call in a reply is decided, or quoted, drafted, given as an example, or declined. Pure.

Only the words around a call are looked at. A doubt sets it aside: the reply is asked again, and nothing is done.
"""

import re
from enum import Enum
from itertools import pairwise

from akinai.core.replies.cues import CUES


def _any(name: str) -> str:
    return "(?:" + "|".join(phrase.replace(" ", r"\s+") for phrase in CUES[name]) + ")"


def _words(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w'])(?:{_any(name)})(?![\w])", re.IGNORECASE)


_MINE, _QUOTED, _QUOTED_BEFORE = _words("mine"), _words("quoted"), _words("quoted_before")
_DOUBTED, _LABELS, _ALTERNATIVE = _words("doubted"), _words("labels"), _words("alternatives")
_DOUBTED_UNSPACED = re.compile(_any("doubted_unspaced"))
_TAKEN_BACK = re.compile(rf"^\W*(?:{_any('taken_back')}|{_any('taken_back_unspaced')})", re.IGNORECASE)
_DISOWNED = re.compile(
    rf"(?<![\w'])(?:{_any('disowned')})(?![\w])|{_any('disowned_unspaced')}",
    re.IGNORECASE,
)
_FINAL = re.compile(rf"{_any('final')}\b[^.!?]*\Z", re.IGNORECASE)
_NEGATED = re.compile(
    r"(?<!\w)(?:i|we)\s+(?:will\s+(?:not|never)|won't|do\s+not|don't|would|wouldn't|refuse|decline|ignore|reject"
    r"|cannot|can't|could|might|should\s+not|must\s+not|am\s+not|was|had|considered|thought|tried)\b",
    re.IGNORECASE,
)
_OR = re.compile(r"^\W*(?:or|oder|ou|o|或者?|または|或いは|あるいは)\W*$", re.IGNORECASE)
_FIRST = re.compile(
    r"(?<!\w)(?:first|firstly|to begin|to start|step 1|erst|zuerst|primero|d'abord)(?!\w)|首先|第一步|先|まず|最初に",
    re.I,
)
_THEN = re.compile(
    r"^\W*(?:and )?(?:then|next|after that|afterwards|second|secondly|third|thirdly|finally|lastly|step \d|dann"
    r"|danach|luego|después|ensuite|puis)(?!\w)|^\W*(?:然后|接着|接下来|其次|再|最后|第[二三四]步|次に|それから|そして|その後|最後に)",
    re.IGNORECASE,
)
_OTHER_SCRIPT = re.compile(
    r"[\u0400-\u04ff\u0590-\u06ff\u0900-\u0dff\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
_SENTENCE_END = re.compile(r"(?:(?<=[.!?])[\"'”)*_]*\s+|\n\s*\n|\n(?=\s*(?:[-*>#]|\d+[.)]))|(?<=[。！？])|\n)")
_GOES_ON = re.compile(r"[\s`*_'\"”)]*(?:[,;]\s*)?(?!(?:and|then|or|vs|oder|und|dann)\b)[a-zà-ÿ]")
_INSIDE = re.compile(r"\w\Z")
_ENDS_HERE = re.compile(r"[`*_'\"”)]*[.!](?:\s|\Z)")
_TURN = re.compile(
    r"^\W*(?:observation|user|human|tool|result|tool output|outcome)\W*:|<\|im_start\|>|<tool_response>"
    r"|<start_of_turn>",
    re.IGNORECASE | re.MULTILINE,
)
_FENCE = re.compile(r"^[ \t>]*```[\w-]*[ \t]*$|```(?:json)?", re.MULTILINE)
_ENDED = re.compile(r"[.!?。！？][\"'”)*_`]*\Z")
_ELEMENT = re.compile(r"<([A-Za-z][\w-]*)(?:\s[^<>]*)?>")
_ELEMENT_MARK = re.compile(r"</?[A-Za-z][\w-]*(?:\s[^<>]*)?>")
_DECIDING_ELEMENTS = frozenset(
    "tool_call tool_calls function_call function_calls toolcall tool_use answer action actions response output final "
    "final_answer json result reply decision call move".split()
)
_MAIL_HEADER = re.compile(
    r"^\W*(?:from|subject|betreff|von|sent|dear)\b[^\n:,]{0,60}[:,][^\n]*$", re.IGNORECASE | re.MULTILINE
)
_JSON_LIKE = re.compile(r"\{[^{}]*\}")
HEADING_WORDS = 7
"""The most words of a line that introduces a call as its heading, without a colon."""


class Standing(Enum):
    """What the words around a call make of it."""

    DECIDED = "decided"
    ALTERNATIVE = "alternative"
    """It is one of several that could be done."""
    SET_ASIDE = "set aside"
    """It is quoted, drafted, an example or declined."""


def standing_of(text: str, start: int, end: int, before: int, after: int) -> Standing:
    """What the words around the call at [start, end) make of it.

    `before` is the end of the call before it, `after` the start of the next one.
    """
    leading, following = _prose(text[before:start]), _prose(text[end:after])
    if _quoted_by_form(text, start, end) or _in_quotation_marks(text[:start], text[end:]):
        return Standing.SET_ASIDE
    connected = not text[before:start].rstrip(" \t`").endswith("\n")
    intro, sentence = _last_sentence(leading), _first_sentence(following)
    if _declined_before(intro, connected=connected, first=before == 0):
        return Standing.SET_ASIDE
    if _MAIL_HEADER.search(leading) and not _MINE.search(intro):
        return Standing.SET_ASIDE
    if following.startswith("?") or _TAKEN_BACK.match(sentence) or _DISOWNED.search(following):
        return Standing.SET_ASIDE
    if _mentioned_in_a_sentence(text, start, end):
        return Standing.SET_ASIDE
    alternative = not _ENDED.search(intro) and _ALTERNATIVE.search(intro) and not _MINE.search(intro)
    return Standing.ALTERNATIVE if alternative or _OR.match(following) else Standing.DECIDED


def imagines_outcomes(text: str, spans: list[tuple[int, int]]) -> bool:
    """Whether between calls the reply goes on with what others would answer to them."""
    return any(_TURN.search(text[end:start]) for (_, end), (start, _) in pairwise(spans))


def in_order(text: str, spans: list[tuple[int, int]]) -> bool:
    """Whether the words between calls put them in an order: first this, then that."""
    ends = [0, *(end for _, end in spans)]
    intros = [_prose(text[end:start]) for end, (start, _) in zip(ends, spans, strict=False)]
    return bool(_FIRST.search(intros[0])) and all(
        _THEN.search(_last_sentence(intro)) or _THEN.search(intro) for intro in intros[1:]
    )


def is_final(text: str, start: int, before: int) -> bool:
    """Whether the words before a call say that it is the decision, whatever was written before."""
    intro = _last_sentence(_prose(text[before:start]))
    return bool(_FINAL.search(intro)) and not _declined_before(intro, connected=True, first=False)


def _declined_before(intro: str, *, connected: bool, first: bool) -> bool:
    """Whether the sentence before a call says last that somebody else speaks, or that it is not done.

    A whole sentence before the call introduces nothing: there only words that point at what follows count.
    """
    mine = max((match.start() for match in _MINE.finditer(intro)), default=-1)
    if _ENDED.search(intro):
        forms = [_QUOTED_BEFORE] if first else []
    elif connected or intro.rstrip("*_ ").endswith((":", ",", "-", "–", "—", "(")):
        forms = [_QUOTED, _DOUBTED, _NEGATED, _DOUBTED_UNSPACED]
    else:
        forms = [_LABELS] if len(intro.split()) <= HEADING_WORDS else [_QUOTED_BEFORE]
    doubts = [match.end() for form in forms for match in form.finditer(intro)]
    return max(doubts, default=-1) > mine


def _mentioned_in_a_sentence(text: str, start: int, end: int) -> bool:
    """Whether the call is a part of a sentence that goes on after it, and that does not say that it is done now.

    Of a line in another script, which our lists of words say little about, any words on both sides make it one.
    """
    before = text[text.rfind("\n", 0, start) + 1 : start]
    after = text[end:].partition("\n")[0]
    if _OTHER_SCRIPT.search(before) and _OTHER_SCRIPT.search(after):
        return True
    intro = "" if _ENDED.search(before.rstrip()) else before.strip("\"'`*_ ")
    if _MINE.search(intro):
        return False
    return bool(_GOES_ON.match(after) or (_INSIDE.search(intro) and _ENDS_HERE.match(after)))


def _quoted_by_form(text: str, start: int, end: int) -> bool:
    """Whether the call is in a block quotation, struck out, or in an element that is no answer, such as <email>."""
    line = text[text.rfind("\n", 0, start) + 1 : start]
    if re.match(r"\s*(?:>|\||❌|✗|✘|🚫)", line) and not line.lstrip().startswith(">>>"):
        return True
    for opening, closing in (("~~", "~~"), ("<!--", "-->")):
        if text[:start].rstrip().endswith(opening) and text[end:].lstrip().startswith(closing):
            return True
    for match in _ELEMENT.finditer(text, 0, start):
        name = match[1].lower()
        if name in _DECIDING_ELEMENTS or name.startswith(("tool", "function")):
            continue
        closing = re.compile(rf"</{re.escape(name)}\s*>", re.IGNORECASE)
        if not closing.search(text, match.end(), start) and closing.search(text, end):
            return True
    return False


def _in_quotation_marks(before: str, after: str) -> bool:
    """Whether the text before opens a quotation in its paragraph that the text after closes."""
    paragraph = before[max(before.rfind("\n\n"), 0) :]
    following = after.partition("\n\n")[0]
    for opening, closing in (("“", "”"), ("«", "»"), ("「", "」"), ("„", "“")):
        if paragraph.rfind(opening) > paragraph.rfind(closing) and closing in following:
            return True
    bare = _JSON_LIKE.sub("", paragraph)
    if bare.count('"') % 2 == 1 and '"' in following:
        return True
    stripped, closed = paragraph.rstrip(), after.lstrip()
    return stripped.endswith("'") and closed.startswith("'") and bool(stripped[:-1].strip())


def _prose(text: str) -> str:
    return _ELEMENT_MARK.sub("", _FENCE.sub("", text)).strip()


def _last_sentence(text: str) -> str:
    parts = [part for part in _SENTENCE_END.split(text) if part and part.strip(" \t\n*_#`-")]
    return parts[-1].strip() if parts else ""


def _first_sentence(text: str) -> str:
    parts = [part for part in re.split(r"(?<=[.!?])\s+|\n\s*\n|(?<=[。！？])", text, maxsplit=1) if part.strip()]
    return parts[0].strip() if parts else ""
