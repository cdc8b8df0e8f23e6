"""The independent judge of the tests: attention by plain loops over Fractions, and instances to judge."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from twoheads.catalogue import CONSTRUCTIONS, Construction, Options
from twoheads.errors import InputError

Allowed = Callable[[int, int], bool]

ALLOWED: dict[str, Callable[[Options], Allowed]] = {
    "quadratic": lambda o: lambda i, j: True,
    "causal": lambda o: lambda i, j: j <= i,
    "window": lambda o: lambda i, j: i - o.r < j <= i,
    "average-case": lambda o: lambda i, j: True,
    "sink": lambda o: lambda i, j: j <= i and (i - o.r < j or j < o.s),
}
"""Which pairs each construction attends to, written down anew from Definitions 2.3 to 2.5."""


def rational_instance(N: int, d_v: int = 1, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Positive rational weights A (N, N) and rational values V (N, d_v), as objects."""
    rng = np.random.default_rng(seed)

    def entry(low: int) -> Fraction:
        return Fraction(int(rng.integers(low, 30)), int(rng.integers(1, 12)))

    A = np.array([[entry(1) for _ in range(N)] for _ in range(N)], dtype=object).reshape(N, N)
    V = np.array([[entry(-30) for _ in range(d_v)] for _ in range(N)], dtype=object).reshape(N, d_v)
    return A, V


def judged(A: np.ndarray, V: np.ndarray, allowed: Allowed) -> list[list[Fraction]]:
    """Row i is sum_j a_ij v_j / sum_j a_ij over the allowed j."""
    N, d_v = V.shape
    rows = []
    for i in range(N):
        seen = [j for j in range(N) if allowed(i, j)]
        total = sum((A[i, j] for j in seen), Fraction(0))
        rows.append([sum((A[i, j] * V[j, c] for j in seen), Fraction(0)) / total for c in range(d_v)])
    return rows


def admits(construction: Construction, N: int, M: int, variant: str, options: Options) -> bool:
    """Whether the construction takes these parameters."""
    try:
        construction.calls(N, M, variant, options)
    except InputError:
        return False
    return True


WRONG_AS_PRINTED = {("causal", "printed")}
"""Printed constructions that compute something else than attention."""

EVERY_VARIANT = [(name, variant) for name, entry in CONSTRUCTIONS.items() for variant in entry.variants]
EXACT_VARIANTS = [
    (name, variant)
    for name, variant in EVERY_VARIANT
    if (name, variant) not in WRONG_AS_PRINTED
    # groups that share a call are parted by a large score, not exactly
    and not (name in ("window", "sink") and variant == "stable")
    and not CONSTRUCTIONS[name].approximate
]
