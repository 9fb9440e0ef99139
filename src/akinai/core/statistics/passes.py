"""How often repeated tries at one task succeed: at least once in k (`pass@k`), and every time in k (`pass^k`)."""

from math import comb


def pass_at_k(successes: int, n: int, k: int) -> float:
    """The probability that at least one of k tries succeeds, estimated without bias from n tries at one task.

    Chen et al. 2021, arXiv 2107.03374. Raises ValueError unless 0 <= successes <= n and 1 <= k <= n.
    """
    _check(successes, n, k)
    return 1 - comb(n - successes, k) / comb(n, k)


def pass_hat_k(successes: int, n: int, k: int) -> float:
    """The probability that all of k tries succeed (`pass^k`), estimated without bias from n tries at one task.

    Yao et al. 2024, arXiv 2406.12045. Raises ValueError unless 0 <= successes <= n and 1 <= k <= n.
    """
    _check(successes, n, k)
    return comb(successes, k) / comb(n, k)


def _check(successes: int, n: int, k: int) -> None:
    if not 0 <= successes <= n or not 1 <= k <= n:
        raise ValueError(
            f"{k!r} of {n!r} tries with {successes!r} successes: give successes from 0 to n, k from 1 to n"
        )
