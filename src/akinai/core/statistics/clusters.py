"""Runs that share a seed are one draw of chance: their values enter an interval together, as a cluster."""

from collections.abc import Hashable, Mapping, Sequence
from math import fsum
from typing import TypeVar

from akinai.core.statistics.intervals import finite, mean

Key = TypeVar("Key", bound=Hashable)


def clustered(values: Mapping[Key, Sequence[float]]) -> dict[Key, float]:
    """One value a cluster, such that their mean is the mean of all values and the standard error of that mean is the
    cluster-robust one (Liang and Zeger 1986, Biometrika 73:13, times G / (G - 1) for G clusters).

    With equally many values in each cluster these are the clusters' means. Clusters without a value are left out.
    """
    full = {key: [finite(value) for value in cluster] for key, cluster in values.items() if cluster}
    n = sum(map(len, full.values()))
    if n == len(full):
        return {key: cluster[0] for key, cluster in full.items()}
    sizes = {len(cluster) for cluster in full.values()}
    if len(sizes) == 1:
        return {key: mean(cluster) for key, cluster in full.items()}
    centre = mean([value for cluster in full.values() for value in cluster])
    share = len(full) / n
    return {key: centre + share * fsum(value - centre for value in cluster) for key, cluster in full.items()}
