"""What of a long conversation a model still sees: the newest messages that fit, calls and their results together."""

from collections.abc import Callable, Sequence

from akinai.core.models import Message

WINDOW_TOKENS = 30_000
"""As in Vending-Bench (arXiv 2502.15840, section 2.3)."""
STRIDE = 0.25
"""The share of the window that is given up at once when it is full: what stays is then the same for many calls, and a
provider's prompt cache keeps hitting."""

Count = Callable[[Message], int]


def estimated_tokens(message: Message) -> int:
    """Tokens of a message before anybody counted them: four characters of Latin text make one, other scripts more."""
    text = message.text + "".join(f"{call.name}{call.arguments}" for call in message.calls)
    if text.isascii():
        return 4 + len(text) // 4
    wide = sum(not letter.isascii() for letter in text)
    return 4 + (len(text) - wide) // 4 + wide


class Window:
    """The messages that are in sight. What falls out is handed over once, oldest first, and then forgotten."""

    def __init__(self, tokens: int = WINDOW_TOKENS, count: Count = estimated_tokens) -> None:
        self._limit, self._count = tokens, count
        self._messages: list[Message] = []
        self._sizes: list[int] = []
        self._total = 0

    def add(self, message: Message) -> None:
        """A message at the end."""
        self._messages.append(message)
        self._sizes.append(self._count(message))
        self._total += self._sizes[-1]

    @property
    def messages(self) -> Sequence[Message]:
        """All that is in sight, oldest first."""
        return self._messages

    def overflow(self, reserved: int = 0) -> list[Message]:
        """Take out what no longer fits beside `reserved` tokens for the system's message; mostly nothing.

        When it is too much, a quarter of the window is given up, at a border between an exchange and the next: a call
        never stays without its result, nor a result without its call. The last exchange always stays.
        """
        limit = self._limit - reserved
        if self._total <= limit:
            return []
        borders = [i for i, message in enumerate(self._messages) if i and message.speaker == "assistant"]
        cut, left = 0, self._total
        for border in borders:
            if left <= limit * (1 - STRIDE):
                break
            left -= sum(self._sizes[cut:border])
            cut = border
        out = self._messages[:cut]
        del self._messages[:cut], self._sizes[:cut]
        self._total = left
        return out
