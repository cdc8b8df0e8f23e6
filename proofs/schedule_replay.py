"""Replaying a false schedule: the simulator runs it, over exact rationals and in floats, beside the judge.

A coverage proof speaks of pairs of positions. What a missed, doubled or foreign pair does to attention is shown
by running the real reconstruction on that schedule at the sizes of the witness, with weights that are exact
rationals, and by comparing it with sums over the allowed pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from proofs.obligation import Difference
from twoheads.errors import UncoveredQueryError
from twoheads.oracle import Oracle
from twoheads.plans import run
from twoheads.reconstruction import reconstruction
from twoheads.scalars import given_weights
from twoheads.schedules import Part
from twoheads.transformer import Head

__all__ = ["Allowed", "exact_difference", "instance", "replayed", "weighted_means"]

Allowed = Callable[[int, int], bool]
"""Whether query i may attend to key j."""

_LONGEST = 64  # positions of a witness that is replayed


def instance(N: int) -> tuple[np.ndarray, np.ndarray]:
    """Weights A (N, N) and values V (N, 1): fixed positive rationals without symmetries."""
    rng = np.random.default_rng(N)
    A = [[Fraction(int(rng.integers(1, 40)), int(rng.integers(1, 20))) for _ in range(N)] for _ in range(N)]
    V = [[Fraction(int(rng.integers(-40, 40)), int(rng.integers(1, 20)))] for _ in range(N)]
    return np.array(A, dtype=object).reshape(N, N), np.array(V, dtype=object).reshape(N, 1)


def weighted_means(A: np.ndarray, V: np.ndarray, allowed: Allowed) -> np.ndarray:
    """Row i is sum_j a_ij v_j / sum_j a_ij over the allowed j, by plain loops: (N, d_v)."""
    N = len(A)
    rows = []
    for i in range(N):
        seen = [j for j in range(N) if allowed(i, j)]
        rows.append(sum(A[i, j] * V[j] for j in seen) / sum(A[i, j] for j in seen))
    return np.array(rows, dtype=object).reshape(V.shape)


def exact_difference(output: np.ndarray | None, right: np.ndarray) -> Fraction:
    """The largest difference of an entry; an output that does not exist counts as 0."""
    return max(abs(Fraction(x)) for x in (right if output is None else output - right).ravel())


def replayed(schedule: Sequence[Part], N: int, allowed: Allowed) -> Difference:
    """What the schedule computes at N positions, against the allowed pairs.

    Raises:
        ValueError: the witness is too long to be replayed.
    """
    if N > _LONGEST:
        raise ValueError(f"a witness of N = {N} positions is not replayed: ask for one of at most {_LONGEST}.")
    A, V = instance(N)
    right = weighted_means(A, V, allowed)
    exact = _output(schedule, given_weights(A, V))
    logs = np.log(A.astype(float))
    unit = np.eye(2 * N + 1)
    floats = (np.hstack([np.eye(N), logs.T, V.astype(float)]), unit[:, :N], unit[:, N : 2 * N], unit[:, 2 * N :])
    output = _output(schedule, floats)
    nearest = np.zeros_like(right, dtype=float) if output is None else output
    return Difference(exact_difference(exact, right), float(np.max(np.abs(nearest - right.astype(float)))))


def _output(schedule: Sequence[Part], arrays: tuple[np.ndarray, ...]) -> np.ndarray | None:
    """The simulator's output; None if a query is left without a call or without any weight."""
    X, *W = arrays
    oracle = Oracle(max(_length(part) for part in schedule), causal=schedule[0].family.causal)
    try:
        with np.errstate(all="ignore"):
            output = run([reconstruction(X, Head(*W), oracle, schedule, "stable")], oracle)[0]
    except (UncoveredQueryError, ZeroDivisionError):
        return None
    return None if output.dtype != object and not np.isfinite(output).all() else output


def _length(part: Part) -> int:
    """Tokens in a call of the part, at least 2."""
    sinks = part.sizes.s if part.family.sinks else 0
    return max(2, 1 + sinks + int(np.prod(part.family.rows(part.sizes))))
