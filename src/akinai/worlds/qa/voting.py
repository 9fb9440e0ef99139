"""Choosing without a model: by the words that a question and a choice share, or by bullets that speak for a choice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from akinai.retrieval import Tokenizer, tokenize


def overlap(question: str, choices: Sequence[str], tokenizer: Tokenizer = tokenize) -> list[int]:
    """How many different words of the question stand in each choice."""
    words = frozenset(tokenizer(question))
    return [len(words.intersection(tokenizer(choice))) for choice in choices]


def best(scores: Sequence[float]) -> int:
    """The place of the highest score, the first of several."""
    return max(range(len(scores)), key=lambda place: (scores[place], -place))


@dataclass(frozen=True, slots=True)
class Ballot:
    """What bullets say to the choices of a question."""

    votes: tuple[float, ...]
    """By choice, 0 to 1; 0 where no bullet speaks for it."""
    voters: tuple[tuple[str, ...], ...]
    """By choice, the ids of the bullets that were found by the question and by the choice, the weightiest first."""

    @property
    def choice(self) -> int | None:
        """The choice with the most votes; None when nobody voted."""
        return best(self.votes) if any(self.votes) else None


def vote(question: Mapping[str, float], choices: Sequence[Mapping[str, float]]) -> Ballot:
    """Each bullet that the question and a choice both find votes for the choice, with the squares of both scores.

    `question` and `choices` are search scores by bullet, 0 to 1. A choice's votes are divided by the length of its
    vector of squared scores, so that a common word which finds many bullets is worth no more than a rare one; and by
    the question's, which makes them a cosine.
    """
    asked = {id: score * score for id, score in question.items()}
    shares = [{id: score * score * asked[id] for id, score in one.items() if id in asked} for one in choices]
    lengths = [_length(question) * _length(one) for one in choices]
    return Ballot(
        tuple(sum(share.values()) / length if length else 0.0 for share, length in zip(shares, lengths, strict=True)),
        tuple(tuple(sorted(share, key=lambda id: (-share[id], id))) for share in shares),
    )


def _length(scores: Mapping[str, float]) -> float:
    """Of the vector of the squared scores."""
    return sum(score**4 for score in scores.values()) ** 0.5
