"""A letter as it is read: its clauses, and the goods and numbers that some of them name."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from akinai.worlds.vending.letters.acts import Act, Said, line_of
from akinai.worlds.vending.letters.amounts import ORDER_NUMBER, QUOTE_NUMBER
from akinai.worlds.vending.letters.goods import read_items
from akinai.worlds.vending.letters.intents import Items
from akinai.worlds.vending.letters.judging import reports
from akinai.worlds.vending.letters.names import GoodName


@dataclass(slots=True)
class Letter:
    """The clauses of a letter with what they do."""

    names: Sequence[GoodName]
    subject: str
    said: list[Said] = field(default_factory=list[Said])

    def of(self, *acts: Act) -> list[Said]:
        return [said for said in self.said if said.act in acts]

    def items(self, *acts: Act) -> Items:
        """The items of all clauses that do one of these, read together."""
        text = "\n".join(line_of(said.clause) for said in self.of(*acts))
        return read_items(self.names, text, any_mood="order" in acts)

    def listed(self) -> Items:
        """The items of bare lists, without lines whose words speak against an order and a question for prices."""
        lines = [line_of(said.clause) for said in self.of("") if not reports(said)]
        return read_items(self.names, "\n".join(lines))

    def orders(self, *acts: Act) -> tuple[int, ...]:
        """The numbers of orders in these clauses, else in the whole letter and its subject."""
        for texts in (
            [said.clause.low for said in self.of(*acts)],
            [*(said.clause.low for said in self.said), self.subject],
        ):
            numbers = [
                int(number)
                for text in texts
                for found in ORDER_NUMBER.finditer(text)
                for number in found.groups()
                if number
            ]
            if numbers:
                return tuple(dict.fromkeys(numbers))
        return ()

    def quotes(self, *acts: Act) -> tuple[int, ...]:
        """The numbers of quotes, like `orders`."""
        for texts in (
            [said.clause.low for said in self.of(*acts)],
            [*(said.clause.low for said in self.said), self.subject],
        ):
            numbers = [
                int(found["number"] or found["worded"] or found["ja"])
                for text in texts
                for found in QUOTE_NUMBER.finditer(text)
            ]
            if numbers:
                return tuple(dict.fromkeys(numbers))
        return ()
