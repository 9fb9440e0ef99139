"""The words of tables and pages, each in a sentence: `akinai explain`, and the words at the end of a report."""

from collections.abc import Iterable

from akinai.core.errors import UnknownName

TERMS = {
    "group": "Runs that were played alike: one world, settings, agent, model, prompt, program and playbook.",
    "seed": "The number that decides all chance of a run: on one seed everybody meets the same days.",
    "practice seed": "A small number as a seed: everybody knows it, so what it brings can be looked up.",
    "sealed": "A run whose seed comes from a secret key: nobody can look it up until the key is revealed.",
    "commitment": "The hash of a key, published before its games are played: another key does not fit it.",
    "pair": "The runs of both sides on one seed or sample; what was played several times counts once, by its mean.",
    "difference": "The mean of the second side less the mean of the first, over the pairs.",
    "95 % from": "The lower end of the interval that holds the true value in 95 of 100 studies; 'to' is the upper end.",
    "to": "The upper end of the interval that holds the true value in 95 of 100 studies; '95 % from' is the lower end.",
    "p": "How often chance alone would show so large a difference if there were none; below 0.05 it counts as shown.",
    "p (Holm)": "The p of a difference, raised for the number of differences that were looked at together.",
    "smallest visible": "The difference that so many runs would show four times in five.",
    "wins": "Pairs in which the second side is better.",
    "losses": "Pairs in which the first side is better.",
    "ties": "Pairs in which neither side is better.",
    "place": "One more than the number of groups that are shown to be better; what cannot be told apart shares it.",
    "idle to reference": "Where the mean stands between a player that does nothing (0 %) and the reference (100 %).",
    "informed": "A player by rules that knows what is hidden from the others; nobody is meant to reach it.",
    "bound": "The first score that nobody can expect to exceed.",
    "fault": "One thing that the reference player is made to do wrong, to see what it costs.",
    "ladder": "The vending world's players by rules, from weak to strong; informed stands above them as a yardstick.",
    "rung": "A player of the ladder; what it gains over the one below is its step.",
    "idle": "The player that does nothing.",
    "naive": "The lowest rung that trades: five products at list prices from one supplier, every second day.",
    "listed": "The rung above naive: eight products at list prices from one supplier, every day.",
    "careful": "The rung above listed: ten products at list prices from reviewed suppliers, up to three sites. A "
    "market has another player of this name.",
    "bargainer": (
        "The rung above careful: twelve products at list prices, suppliers it bargains with, up to four sites."
    ),
    "stocker": "The rung above bargainer and below reference: its products are chosen by what sells, at list prices.",
    "reference": "The highest rung that knows no more than an owner can: it learns tastes and prices, reads the news, "
    "bargains, counts and claims.",
    "advice": "What the setting advice=true adds: the briefing says what matters, and refusals give hints.",
    "finding": "A mistake that the record shows: its entries, what was assumed and what was true.",
    "coherence": "How well an agent kept the thread, from 0 to 1, by what it began and finished.",
    "in no figure": "Runs that are unreadable, of other rules or damaged: they have no value and are counted beside "
    "the figures.",
    "unreadable": "A run in which no action could be read in what its model wrote.",
    "of other rules": "A run of a version of its world that is not installed here; the message names the release that "
    "plays it.",
    "damaged": "A run whose record cannot be read or does not follow from the rules.",
    "n": "The number of runs that a figure stands on.",
    "digest": "The hash that stands for a whole record; 'akinai verify RUN' compares it.",
    "pass@k": "The share of seeds on which at least one of k tries reaches the threshold.",
    "pass^k": "The share of seeds on which each of k tries reaches the threshold.",
}
"""Words as tables have them, in the order in which they are learned best."""


def explain(term: str | None = None) -> dict[str, str]:
    """Say in a sentence what a word of tables and reports means; without a word, what all of them mean.

    UnknownName for a word that is not explained.
    """
    if term is None:
        return dict(TERMS)
    words = " ".join(term.replace("_", " ").split()).casefold()
    by_name = {name.casefold(): name for name in TERMS}
    for spelling in (words, words.removesuffix("s"), f"{words}s"):
        if spelling in by_name:
            return {by_name[spelling]: TERMS[by_name[spelling]]}
    raise UnknownName("term", term, TERMS)


def terms_in(heads: Iterable[str]) -> dict[str, str]:
    """The terms among some heads of tables, with their sentences."""
    present = {head.partition(":")[0] for head in heads}
    return {name: text for name, text in TERMS.items() if name in present or f"{name}s" in present}
