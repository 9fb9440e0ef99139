"""The sentence with which a report opens, and the order of rows that share a place."""

import akinai
from akinai.analysis.leaderboard import make_board
from akinai.analysis.verdicts import opening_sentences
from akinai.runtime.runs.reading import Detail, read_run
from akinai.runtime.sync import wait
from akinai.stores.memory import MemoryStore


def test_a_report_says_first_who_is_best() -> None:
    """By how much over the next, or that the seeds do not tell."""
    books = MemoryStore()
    for agent in ("idle", "naive", "reference"):
        akinai.run("vending", agent=agent, days=25, seeds=[1, 2, 3, 4, 5, 6], store=books, name=agent, preset="classic")
    analysis = akinai.analyze("naive", "reference", store=books)
    verdict = opening_sentences(analysis.groups, analysis.standings)
    assert verdict.startswith("reference is best: net worth $")
    assert ", ahead of naive with $" in verdict
    analysis = akinai.analyze("naive", store=books)
    assert opening_sentences(analysis.groups, analysis.standings).startswith("naive: net worth $")
    analysis = akinai.analyze("naive-1", "reference-1", store=books)
    sentences = opening_sentences(analysis.groups, analysis.standings)
    assert sentences.startswith("Nothing can be told apart yet: 1 seed can show no difference, 6 can. reference has ")
    assert str(analysis).startswith(sentences)


def test_rows_that_share_a_place_are_in_the_order_of_their_means() -> None:
    """One seed tells nothing apart, and still the better mean is above."""
    books = MemoryStore()
    for agent in ("naive", "reference"):
        akinai.run("vending", agent=agent, days=25, store=books, name=agent, preset="classic")

    async def runs() -> list[akinai.Run]:
        return [await read_run(books, header, Detail()) for header in await books.runs()]

    board = make_board(wait(runs()))
    assert [(row.place, row.group) for row in board.rows] == [(1, "reference"), (1, "naive")]
