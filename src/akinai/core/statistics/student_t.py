"""Quantiles and probabilities of Student's t distribution."""

import math
from functools import lru_cache
from statistics import NormalDist

_NORMAL = NormalDist()
_MOST_TERMS_DF = 2_000  # above it an expansion in 1/df is good to 11 digits and shorter than the finite sum


@lru_cache(maxsize=8192)
def t_quantile(p: float, df: int) -> float:
    """The p-quantile of Student's t with `df` degrees of freedom, to at least 10 digits for p from 0.001 to 0.999.

    Raises ValueError unless 0 < p < 1 and df >= 1.
    """
    if not 0 < p < 1 or df < 1:
        raise ValueError(f"the {p!r} quantile of Student's t with {df!r} degrees of freedom: give 0 < p < 1, df >= 1")
    if p < 0.5:
        return -t_quantile(1 - p, df)
    x = _NORMAL.inv_cdf(p)
    if df > _MOST_TERMS_DF:
        return _t_expansion(x, df)
    log_peak = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - math.log(df * math.pi) / 2
    # The distribution function is concave above 0 and the normal quantile lies left of the root, so each Newton step
    # ends left of it too: the steps shrink and cannot overshoot.
    for _ in range(100):
        density = math.exp(log_peak - (df + 1) / 2 * math.log1p(x * x / df))
        step = (2 * p - 1 - t_within(x, df)) / (2 * density)
        x += step
        if abs(step) <= 1e-14 * x:
            break
    return x


def t_within(t: float, df: int) -> float:
    """P(|T| <= t) for Student's T and t >= 0, as a finite sum; Abramowitz and Stegun 26.7.3 and 26.7.4."""
    theta = math.atan(t / math.sqrt(df))
    cos2 = math.cos(theta) ** 2
    odd = df % 2
    term = math.cos(theta) if odd else 1.0
    total = term if df > 1 else 0.0
    for k in range(2 + odd, df, 2):
        term *= cos2 * (k - 1) / k
        total += term
    area = math.sin(theta) * total
    return 2 / math.pi * (theta + area) if odd else area


def _t_expansion(x: float, df: int) -> float:
    """Student's t quantile from the normal quantile x; Abramowitz and Stegun 26.7.5, to the term in 1/df^3."""
    g1 = (x**3 + x) / 4
    g2 = (5 * x**5 + 16 * x**3 + 3 * x) / 96
    g3 = (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384
    return x + (g1 + (g2 + g3 / df) / df) / df
