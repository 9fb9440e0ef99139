"""Labelled chance: a function of seed and label, equal in Python and NumPy, even, and unrelated between neighbours."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from akinai.core.chance import POOLS, SEED_BITS, Chance, Fan, absorb, part, pooled_seed, split_of, word
from akinai.core.ledger import Genesis
from together import together

WORD = st.integers(0, 2**64 - 1)
LABEL = st.lists(st.text() | st.integers(-(2**70), 2**70), max_size=4)


@given(h=WORD, xs=st.lists(WORD, min_size=1, max_size=20))
def test_numpy_draws_the_same_bits(h: int, xs: list[int]) -> None:
    """An array of labels gives, bit for bit, what the labels give one by one."""
    words = Chance(h).many(np.array(xs, dtype=np.uint64))
    assert words.dtype == np.uint64
    assert words.tolist() == [Chance(h)(x).h for x in xs]


@given(hs=st.lists(WORD, min_size=1, max_size=5), xs=st.lists(WORD, min_size=1, max_size=5))
def test_numpy_broadcasts_the_same_bits(hs: list[int], xs: list[int]) -> None:
    """Many worlds side by side: rows of states against columns of labels."""
    table = absorb(np.array(hs, dtype=np.uint64)[:, None], np.array(xs, dtype=np.uint64)[None, :])
    assert table.tolist() == [[absorb(h, x) for x in xs] for h in hs]


@given(h=WORD, xs=st.lists(WORD, max_size=20))
def test_a_fan_draws_the_same_bits(h: int, xs: list[int]) -> None:
    """Words absorbed together give, bit for bit, what each gives alone, whatever stands beside it."""
    assert Fan(xs).absorb(h) == tuple(absorb(h, x) for x in xs)


def test_published_values() -> None:
    """The roots of the seeds 0 to 4 are the first outputs of SplitMix64 from state 0, as its authors print them."""
    assert [Chance.of(seed).h for seed in range(5)] == [
        0xE220A8397B1DCDAF,
        0x6E789E6AA1B965F4,
        0x06C45D188009454F,
        0xF88BB8A8724C81EC,
        0x1B39896A51A8749B,
    ]


def test_pinned_values() -> None:
    """Every recorded run stands on these: a change of the arithmetic cannot pass unseen."""
    assert [word(text) for text in ("", "demand", "商い")] == [
        0xB4B2797457A0A6E4,
        0xE8D9FC0ED194B849,
        0x17F2AA6FD6075374,
    ]
    node = Genesis("vending@1", 7, {}).chance("demand", 12, "coke_can")
    assert node.h == 0x9EB5C7FA336E76AD
    assert node.uniform() == 0.6199612603990603
    assert node.below(1000) == 619
    assert node.between(-3, 3) == 1
    assert [Chance.of(3)("sky", day).below(100) for day in range(10)] == [69, 84, 17, 57, 12, 39, 59, 69, 40, 52]
    assert absorb(1, 2) == 0xF893A2EEFB32555E


@given(seed=st.integers(-(2**64), 2**64), label=LABEL)
def test_chance_is_a_function_of_seed_and_label(seed: int, label: list[object]) -> None:
    """Asked twice, in one step or in several, a place gives the same numbers, and asking leaves no trace."""
    node = Chance.of(seed)(*label)
    step_by_step = Chance.of(seed)
    for label_part in label:
        step_by_step = step_by_step(label_part)
    assert node == step_by_step == Chance.of(seed)(*label)
    assert node.uniform() == node.uniform()


@given(h=WORD, n=st.integers(1, 2**32))
def test_numbers_stay_in_their_range(h: int, n: int) -> None:
    """`uniform` is in [0, 1), `below(n)` in [0, n), `between` within both its ends."""
    assert 0 <= Chance(h).uniform() < 1
    assert 0 <= Chance(h).below(n) < n
    assert -5 <= Chance(h).between(-5, n) <= n


def test_ends_of_the_range_are_reached() -> None:
    """The smallest and the largest word give the smallest and the largest number."""
    low, high = Chance(0), Chance(2**64 - 1)
    assert (low.uniform(), low.below(6), low.between(1, 6)) == (0.0, 0, 1)
    assert (high.uniform(), high.below(6), high.between(1, 6)) == (1 - 2**-53, 5, 6)


@together("kind", [1.0, None, b"day", ("sky", 1), ["sky"], {"day": 1}, np.uint64(3)])
def test_other_kinds_of_labels_are_refused(kind: object) -> None:
    """A label is text and whole numbers; what prints alike but is another thing would be another chance in silence."""
    with pytest.raises(TypeError, match="a chance label is made of text and whole numbers, not"):
        Chance.of(1)("sky", kind)


def test_text_and_number_are_different_labels() -> None:
    """The word "1" is not the number 1, and one label of two words is not two labels."""
    root = Chance.of(1)
    assert root("1") != root(1)
    assert root("sky", "rain") != root("skyrain")
    assert root("sky", "rain") != root("rain", "sky")
    assert part(-1) == part(2**64 - 1)


def _correlation(a: list[float], b: list[float]) -> float:
    mean_a, mean_b = math.fsum(a) / len(a), math.fsum(b) / len(b)
    both = math.fsum((x - mean_a) * (y - mean_b) for x, y in zip(a, b, strict=True))
    return both / math.sqrt(math.fsum((x - mean_a) ** 2 for x in a) * math.fsum((y - mean_b) ** 2 for y in b))


def test_neighbouring_seeds_are_unrelated() -> None:
    """The skies of seeds 0 to 40 do not follow one another, on the same day or shifted by one: |r| below 4.5 sigma."""
    days = 2000
    skies = [[Chance.of(seed)("sky", day).uniform() for day in range(days)] for seed in range(41)]
    for sky, other in pairwise(skies):
        assert abs(_correlation(sky, other)) < 4.5 / math.sqrt(days)
        assert abs(_correlation(sky[1:], other[:-1])) < 4.5 / math.sqrt(days - 1)
    for sky in skies:
        assert abs(_correlation(sky[1:], sky[:-1])) < 4.5 / math.sqrt(days - 1), "one day tells of the next"


def test_every_bit_of_a_seed_reaches_every_bit() -> None:
    """Flipping one bit of a seed flips half of the bits of a number: each of 64 x 64 pairs within 5 sigma of it."""
    seeds = 400
    for bit in range(64):
        flips = [Chance.of(seed)("x").h ^ Chance.of(seed ^ 1 << bit)("x").h for seed in range(1000, 1000 + seeds)]
        for position in range(64):
            share = sum(flip >> position & 1 for flip in flips) / seeds
            assert abs(share - 0.5) < 5 * 0.5 / math.sqrt(seeds), f"bit {bit} of the seed, bit {position} of the number"


def test_numbers_are_even() -> None:
    """Over 64,000 labels each of 16 faces comes up 4,000 times, chi-squared below its 99.99 % point of 44.3."""
    faces = Counter(Chance.of(5)("die", throw).below(16) for throw in range(64_000))
    assert sum((faces[face] - 4000) ** 2 / 4000 for face in range(16)) < 44.3


@given(st.integers(0, 2**63 - 1), st.integers(0, 2**63 - 1))
def test_pools_are_disjoint_by_construction(number: int, other: int) -> None:
    """Bits mark the pool: no seed is in two, none is one that people write or that a key gives."""
    seeds = {split: pooled_seed(split, number) for split in POOLS}
    assert [split_of(seed) for seed in seeds.values()] == [*seeds]
    assert pooled_seed("train", other) not in (seeds["validation"], seeds["test"])
    assert all(1 << SEED_BITS <= seed < 1 << 63 for seed in seeds.values())
    assert split_of(number >> 1) is None
