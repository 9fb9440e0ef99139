"""Whole numbers below a hundred, as English words."""

_COUNTED = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ONES = _COUNTED.split()[1:10]
NUMBER_WORDS = {
    **{word: number for number, word in enumerate(_COUNTED.split())},
    **{word: 10 * number for number, word in enumerate(_TENS.split(), 2)},
    **{f"{ten}-{unit}": 10 * n + m for n, ten in enumerate(_TENS.split(), 2) for m, unit in enumerate(_ONES, 1)},
    **{"a": 1, "an": 1},
}
NUMBER_IN_TWO_WORDS = rf"(?:{_TENS.replace(' ', '|')})[- ](?:{'|'.join(_ONES)})\b"
