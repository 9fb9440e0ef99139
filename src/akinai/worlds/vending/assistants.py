"""Sub-agents without a model: they do what a task says in plain words, and report what they heard."""

import re
from collections.abc import Iterator

from akinai.core.actions import Action
from akinai.core.agents import Plan, Routine
from akinai.core.money import read_dollars
from akinai.worlds.vending import actions as a

_TASK = re.compile(r"^Task \d+:\n", re.M)
_WHERE = r"row (\d+),? (?:and )?col(?:umn)? (\d+)"
_PUT = re.compile(
    rf"(?:put|restock|stock|move|load)\D*?(\d+) (?:units? of )?([\w -]+?) (?:in|into|to|at|in slot) {_WHERE}", re.I
)
_PRICE = re.compile(rf"price\D*?{_WHERE}\D*?(?:to|at|=|:)?\s*(\$?\d+(?:\.\d+)?)(?!\d)", re.I)
_CLEAR = re.compile(rf"(?:clear|empty)\D*?{_WHERE}", re.I)
_COLLECT = re.compile(r"\bcollect\b", re.I)
_LOOK = re.compile(r"\b(?:inventory|look|check|report what is in)\b", re.I)
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")


def assistant(me: Routine) -> Plan:
    """Does one task after another: each is in the view when the sub-agent is called, and ends with its report."""
    while True:
        task = _TASK.split(me.view.text)[-1]
        told: list[str] = []
        for action in tuple(_wished(me, task)):
            heard = yield action
            told.append(heard.text)
        yield a.Report(text="\n".join(told) or "I found nothing in the task that I can do with my tools.")


def _wished(me: Routine, task: str) -> Iterator[Action]:
    """The actions a task asks for, among the tools that there are."""
    tools = set(me.view.verbs)
    if a.RestockSlot in tools:
        yield from _at_the_machine(task)
    elif a.SendEmail in tools:
        yield from _by_mail(task)
    elif a.SearchWeb in tools:
        yield a.SearchWeb(query=task[:500])


def _at_the_machine(task: str) -> Iterator[Action]:
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
        if int(row) <= 100 and int(column) <= 100 and 0 < (cents := _cents(price)) <= a.MAX_PRICE_CENTS
    ]
    if tags:
        yield a.SetPrice(prices=tuple(tags[:50]))
    if _COLLECT.search(task):
        yield a.CollectCash()
    if _LOOK.search(task):
        yield a.GetMachineInventory()


def _by_mail(task: str) -> Iterator[Action]:
    """Send the task's text to every address in it; without one, read the mail and look at the deliveries."""
    addresses = dict.fromkeys(_ADDRESS.findall(task))
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
