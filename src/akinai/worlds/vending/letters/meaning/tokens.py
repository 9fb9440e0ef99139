"""The tokens of a text: words, goods, some punctuation, numbers by what they count, Japanese characters."""

import re

_NUMBERS = (
    (
        re.compile(
            r"\bq ?-? ?#?[0-9]{1,9}(?![0-9a-z])|"
            r"\bquot(?:e|ation) ?(?:number |no\.? ?|nr\.? ?|id ?|#)?#?[0-9]{1,9}\b(?! ?(?:§|units|cases|x\b))|"
            r"見積(?:書|もり|り)?(?:番号)?\s?[0-9]{1,9}"
        ),
        " QUO ",
    ),
    (
        re.compile(
            r"\borders? ?(?:number |no\.? ?|nr\.? ?|id )?:? ?#?[0-9]{1,6}\b(?! ?(?:§|x\b|units|cases))|"
            r"注文(?:番号)?\s?[0-9]{1,6}|#[0-9]{1,6}\b"
        ),
        " ORD ",
    ),
    (
        re.compile(r"[$＄][0-9][0-9.,]*|[0-9][0-9.]{0,9} ?(?:cents?\b|c\b|¢|dollars?\b|usd\b|bucks\b|セント|ドル)"),
        " MON ",
    ),
    (re.compile(r"[0-9][0-9.]{0,5} ?(?:%|per ?cent\b|割)"), " PCT "),
    (
        re.compile(
            r"\b[0-9][0-9,.]{0,9} ?(?:x |units? |cases? |bottles? |cans? |bags? |packs? |pieces? |of ){0,3}(?=§)|"
            r"(?<=§)[ :x-]{0,4}[0-9]{1,6}(?: (?:units|cases))?"
        ),
        " CNT ",
    ),
    (re.compile(r"[0-9]+(?:[.,:/-][0-9]+){0,6}"), " NUM "),
)
"""Numbers of quotes and orders, money, per cent, quantities of goods, anything else."""
_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?|§|[A-Z]{3}|[?!:]|[\u3040-\u30ff\u3400-\u9fff]")
MOST_TOKENS = 48
"""Tokens of a clause that are read; those after them are not."""


def tokens(low: str) -> list[str]:
    """The first tokens of a text in lower case in which a section sign stands for each product."""
    if re.search("[0-9]", low):
        for pattern, name in _NUMBERS:
            low = pattern.sub(name, low)
    return _TOKEN.findall(low)[:MOST_TOKENS]
