"""Laws of what runs amount to: known scores, costs that stay level, failed runs that stay in every denominator."""

from typing import Any

from hypothesis import note
from hypothesis import strategies as st

from akinai.core.agents import Agent, AgentFactory, Move, View
from akinai.core.canonical import canonical
from akinai.core.ledger import Ledger, Outcome
from akinai.core.scores import Score
from akinai.runtime import api
from akinai.runtime.runs import Runs
from akinai.testing.world_case import Case, for_all, played, wander
from akinai.testing.world_costs import FEWEST_ENTRIES, growth


def cost_of_an_action_stays_level(case: Case[Any]) -> None:
    """Late in a long run an action runs no more code, takes no more memory and gives no more to read than early."""
    ledger = played(case, next(iter(case.world.players.values())), case.long_genesis)
    count = len(ledger.entries)
    assert count >= FEWEST_ENTRIES, (
        f"the long run has {count} entries; lengthen it by `long`, to {FEWEST_ENTRIES} or more"
    )
    found = growth(case.world, ledger)
    assert found, "no action comes often enough in the long run to be compared"
    grown = [str(one) for one in found if one.unbounded]
    assert not grown, f"over {count} entries: {'; '.join(grown)}"


def scores_are_known(case: Case[Any]) -> None:
    """Scorers give the known values to players of whom they are known: the idle one, one that answers all right."""
    named: set[str] = set()
    for player, known in case.scores.items():
        assert player in case.cast, f"scores are given for {player!r}; the players are {', '.join(case.cast)}"
        ledger = case.played[player]
        found = {score.name: score for score in _scores(case, ledger)}
        for name, value in known.items():
            assert name in found, f"no score {name!r}; there is {', '.join(found)}"
            got = found[name].value
            assert got == value, f"{player} scores {name} {got!r}, and {value!r} is what is known"
        named |= known.keys()
    missing = {score.name for score in _scores(case, Ledger(case.genesis))} - named
    assert not missing, (
        f"nothing is known of {', '.join(sorted(missing))}: say what players score of it, the idle one at least"
    )


def every_record_has_its_scores(case: Case[Any]) -> None:
    """A record of any length, or of none, has all scores under the same names, each shown by its own entries."""
    empty = _scores(case, Ledger(case.genesis))
    names = [score.name for score in empty]
    assert names, "the world has no scores"
    assert len(set(names)) == len(names), f"two scores have one name: {names}"

    async def check(data: st.DataObject) -> None:
        run = await wander(case, data)
        scores = _scores(case, run.ledger)
        names_now = [score.name for score in scores]
        assert names_now == names, f"the scores of {len(run.entries)} entries are {names_now}, of none {names}"
        for score in scores:
            note(repr(score))
            assert list(score.because) == sorted(set(score.because)), f"the entries of {score.name} are not in order"
            assert set(score.because) <= set(range(1, len(run.entries) + 1)), (
                f"{score.name} names entries that are not there"
            )
            canonical(score.to_json())
        assert _scores(case, run.ledger) == scores, "scored twice, one record gives two results"

    for_all(case, check)


def _scores(case: Case[Any], ledger: Ledger) -> list[Score]:
    return [score for scorer in case.world.scorers for score in scorer(ledger)]


class _Breaking:
    """Plays like another agent and breaks at one of its moves."""

    def __init__(self, agent: Agent, last: int) -> None:
        self._agent, self._left = agent, last

    async def act(self, view: View, heard: Outcome | None) -> Move:
        self._left -= 1
        if not self._left:
            raise ConnectionError("the model is gone")
        return await self._agent.act(view, heard)


def failed_runs_stay_in_every_denominator(case: Case[Any]) -> None:
    """A run that ended, one that broke and one that never began are in every summary, each as its ledger stands."""
    player = next(iter(case.cast.values()))

    def breaking(last: int) -> AgentFactory:
        return lambda role: _Breaking(player(role), last)

    agents = (player, breaking(2), breaking(1))
    found = [api.run(case.world, agent=one, seeds=case.seed, settings=case.setup)[0] for one in agents]
    told = [(run.status, bool(run.ledger.entries)) for run in found]
    assert told[1:] == [("failed", True), ("failed", False)], (
        f"who breaks at the second or first move leaves {told[1:]}"
    )
    assert told[0][0] == "done", f"the player that does not break leaves {told[0]}, {found[0].error}"
    for name, one in Runs(found).summary().items():
        assert (one.n, one.failed) == (3, 0), f"{name} counts {one.n} values and leaves out {one.failed} of 3 runs"
