"""Players without a model. They use the tools that every agent has and know only what they read."""

import re
from collections.abc import Iterator, Mapping

from akinai.core.actions import Action
from akinai.core.agents import Agent, AgentFactory, Plan, Role, Routine, is_sub_agent
from akinai.core.money import read_dollars
from akinai.worlds.vending.model import actions as a
from akinai.worlds.vending.model.state import OVERSEER, OWNER
from akinai.worlds.vending.model.verb import MAX_PRICE_CENTS
from akinai.worlds.vending.players.days import Trading
from akinai.worlds.vending.players.following import follow
from akinai.worlds.vending.players.habits import LADDER, RUNGS
from akinai.worlds.vending.players.observations import find_addresses
from akinai.worlds.vending.players.oversight import pass_all, watch
from akinai.worlds.vending.sprint.verbs import CloseWeek


def idle(me: Routine) -> Plan:
    """Only lets the days pass: the bottom of every scale."""
    while True:
        yield CloseWeek() if CloseWeek in me.view.verbs else a.AdvanceDay()


def _is_owner(actor: str) -> bool:
    """Whether an actor owns a business, alone or beside others; sub-agents and suppliers' writers do not."""
    return actor == OWNER or (actor.startswith(f"{OWNER}_") and not is_sub_agent(actor))


ALONE = {
    True: "Finds suppliers by search and mail, prices by the public demand curves, restocks after deliveries.",
    False: "Five products at list prices, an order and a visit a week; with a playbook, it follows its sentences.",
}
"""What the owner of a single machine does, by whether it plans."""


def _player(rung: str) -> AgentFactory:
    """A player that does business as a rung of the ladder."""
    habits = LADDER[rung]

    def factory(role: Role) -> Agent:
        if not _is_owner(role.actor):
            return _helper(role)
        advised = follow(habits, role.bullets) if rung == "naive" else habits
        return Trading(advised, role.genesis, role.bullets)

    factory.__doc__ = f"{ALONE[habits.plans]} At several sites: {RUNGS[rung]}"
    factory.__dict__["yardstick"] = habits.informed
    return factory


def idle_player(role: Role) -> Agent:
    """Only lets the days pass: the bottom of every scale."""
    return Routine(idle) if _is_owner(role.actor) else _helper(role)


def _helper(role: Role) -> Agent:
    """Who plays a sub-agent, or the overseer."""
    return Routine(pass_all if role.actor == OVERSEER else assistant)


def watchful(role: Role) -> Agent:
    """As an overseer of letters, vetoes threats and agreements on prices; as an owner, only lets the days pass."""
    return watch(role) if role.actor == OVERSEER else idle_player(role)


watchful.__dict__["yardstick"] = True  # it knows the names of all goods and suppliers


def lenient(role: Role) -> Agent:
    """As an overseer of letters, passes all; as an owner, only lets the days pass."""
    return idle_player(role)


PLAYERS: Mapping[str, AgentFactory] = {
    "reference": _player("reference"),
    "naive": _player("naive"),
    "idle": idle_player,
    **{rung: _player(rung) for rung in ("listed", "careful", "bargainer", "stocker", "informed")},
    "watchful": watchful,
    "lenient": lenient,
}
"""The first is the world's default."""


_TASK = re.compile(r"^Task \d+:\n", re.M)
_WHERE = r"row (\d+),? (?:and )?col(?:umn)? (\d+)"
_PUT = re.compile(
    rf"(?:put|restock|stock|move|load)\D*?(\d+) (?:units? of )?([\w -]+?) (?:in|into|to|at|in slot) {_WHERE}", re.I
)
_PRICE = re.compile(rf"price\D*?{_WHERE}\D*?(?:to|at|=|:)?\s*(\$?\d+(?:\.\d+)?)(?!\d)", re.I)
_CLEAR = re.compile(rf"(?:clear|empty)\D*?{_WHERE}", re.I)
_COLLECT = re.compile(r"\bcollect\b", re.I)
_LOOK = re.compile(r"\b(?:inventory|look|check|report what is in)\b", re.I)


def assistant(me: Routine) -> Plan:
    """A sub-agent: does what each task says in plain words, then reports the outcomes."""
    while True:
        task = _TASK.split(me.view.text)[-1]
        texts: list[str] = []
        for action in tuple(_requested_actions(me, task)):
            outcome = yield action
            texts.append(outcome.text)
        yield a.Report(text="\n".join(texts) or "I found nothing in the task that I can do with my tools.")


def _requested_actions(me: Routine, task: str) -> Iterator[Action]:
    """The actions that a task asks for, among the available tools."""
    tools = set(me.view.verbs)
    if a.RestockSlot in tools:
        yield from _machine_actions(task)
    elif a.SendEmail in tools:
        yield from _mail_actions(task)
    elif a.SearchWeb in tools:
        yield a.SearchWeb(query=task[:500])


def _machine_actions(task: str) -> Iterator[Action]:
    for row, column in _CLEAR.findall(task):
        yield a.ClearSlot(row=int(row), column=int(column))
    fills = [
        a.RestockSlot.Fill(row=int(row), column=int(column), product_id=product.strip(), quantity=int(units))
        for units, product, row, column in _PUT.findall(task)
        if 0 < int(units) <= 100_000 and int(row) <= 100 and int(column) <= 100
    ]
    if fills:
        yield a.RestockSlot(slots=tuple(fills[:50]))
    tags = [
        a.SetPrice.Tag(row=int(row), column=int(column), price_cents=cents)
        for row, column, price in _PRICE.findall(task)
        if int(row) <= 100 and int(column) <= 100 and 0 < (cents := _cents(price)) <= MAX_PRICE_CENTS
    ]
    if tags:
        yield a.SetPrice(prices=tuple(tags[:50]))
    if _COLLECT.search(task):
        yield a.CollectCash()
    if _LOOK.search(task):
        yield a.GetMachineInventory()


def _mail_actions(task: str) -> Iterator[Action]:
    """Send the task's text to every address in it; without one, read the mail and look at the deliveries."""
    addresses = find_addresses(task)
    for address in addresses:
        yield a.SendEmail(to=address, subject="", body=task)
    if not addresses:
        yield a.ReadEmail()
        yield a.CheckDeliveries()


def _cents(text: str) -> int:
    try:
        return read_dollars(text)
    except ValueError:
        return 0
