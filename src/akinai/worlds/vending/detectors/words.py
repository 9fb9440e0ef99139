"""The word lists in `words.toml`, and in that of conduct, compiled to patterns."""

from akinai.core.untrusted.word_lists import WordLists

_LISTS = WordLists("akinai.worlds.vending.detectors", "akinai.worlds.vending.conduct")
pattern, pattern_text, table = _LISTS.pattern, _LISTS.pattern_text, _LISTS.table
