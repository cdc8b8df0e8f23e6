"""How often the estimate of Theorem 4.1 fails: exactly where small, else sampled with a confidence interval.

A row fails if its estimate differs from attention by more than epsilon times attention's norm; a run fails if one of
its rows does. The theorem bounds the latter's probability by 0.1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations
from statistics import NormalDist

import numpy as np

from numeric.inputs import AttentionInput, qkv_input
from numeric.reference import direct_attention, relative_row_errors
from twoheads.average_case_premise import Premise, RequiredLength, premise, required_length
from twoheads.errors import InputError
from twoheads.oracle import Oracle
from twoheads.plans import run
from twoheads.theorem_4_1 import chunks, plan, random_permutation
from twoheads.transformer import Head

__all__ = [
    "Diagnosis",
    "FailureRate",
    "diagnose",
    "exact_row_failures",
    "exact_run_failure",
    "sampled_failure",
    "wilson_interval",
]

_MOST_CASES = 50_000


@dataclass(frozen=True)
class FailureRate:
    """Runs that failed, out of runs with independent permutations."""

    failures: int
    trials: int
    interval: tuple[float, float]
    """Wilson's interval for the probability that a run fails."""
    confidence: float
    row_failures: int
    """Rows that failed, over all runs."""
    rows: int
    """Rows of all runs; those of one run are not independent, so they get no interval."""
    worst: float
    """Largest relative row error seen."""

    @property
    def rate(self) -> float:
        """The share of runs that failed."""
        return self.failures / self.trials


@dataclass(frozen=True)
class Diagnosis:
    """One head: what the theorem asks for, beside what was seen."""

    premise: Premise
    required: RequiredLength
    """As printed."""
    required_shifted: RequiredLength
    """With the C that remains after a constant is taken off every row's scores."""
    applies: bool
    """Whether M meets what the theorem asks for, in either form."""
    seen: FailureRate


def wilson_interval(failures: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's two-sided score interval for a probability; its coverage is approximate.

    Raises:
        InputError: not 0 <= failures <= trials with trials >= 1, or the confidence is not inside (0, 1).
    """
    if not 0 <= failures <= trials or trials < 1 or not 0 < confidence < 1:
        raise InputError(
            f"an interval needs 0 <= failures <= trials, trials >= 1 and a confidence between 0 and 1, not "
            f"{failures}, {trials} and {confidence}."
        )
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    p, zz = failures / trials, z * z / trials
    center, half = p + zz / 2, z * math.sqrt(p * (1 - p) / trials + zz / (4 * trials))
    low, high = (center - half) / (1 + zz), (center + half) / (1 + zz)
    return (0.0 if failures == 0 else low, 1.0 if failures == trials else high)


def exact_row_failures(A: np.ndarray, V: np.ndarray, M: int, epsilon: Fraction) -> list[Fraction]:
    """Every row's probability of failing, by all binom(N, M) sets of keys that a call can hold.

    Args:
        A, V: weights (N, N), positive, and values (N, d), as Fractions.
        M: keys of a call, at most N.
        epsilon: relative error of a row, above 0.

    Raises:
        InputError: a number is out of range, or there are more than 50,000 cases.
    """
    N = _checked(A, V, M, epsilon)
    sets = math.comb(N, M)
    _few_enough(sets * N)
    fails = _failing_sets(A, V, M, epsilon)
    return [Fraction(len(fails[i]), sets) for i in range(N)]


def exact_run_failure(A: np.ndarray, V: np.ndarray, M: int, epsilon: Fraction) -> Fraction:
    """The probability that a run fails, by all N! permutations; arguments as in `exact_row_failures`."""
    N = _checked(A, V, M, epsilon)
    _few_enough(math.factorial(N))
    fails = _failing_sets(A, V, M, epsilon)
    S = chunks(N, M)
    owner = np.arange(N) // M
    failed = sum(
        any(held[owner[i]] in fails[i] for i in range(N))
        for tau in permutations(range(N))
        for held in [[frozenset(tau[j] for j in chunk) for chunk in S]]
    )
    return Fraction(failed, math.factorial(N))


def sampled_failure(
    X: np.ndarray, head: Head, M: int, epsilon: float, trials: int, seed: int = 0, confidence: float = 0.95
) -> FailureRate:
    """Runs of the simulator with the permutations of the seeds seed, ..., seed + trials - 1.

    Args:
        X, head: tokens (N, d) and the head that reads them.
        M: the oracle's length.
        epsilon: relative error of a row, above 0.
        trials: number of runs.
        seed: the first seed.
        confidence: of the interval.

    Raises:
        InputError: a number is out of range.
    """
    if not epsilon > 0 or trials < 1:
        raise InputError(f"sampling needs epsilon > 0 and at least one trial, not {epsilon} and {trials}.")
    Q, K, V = X @ head.W_Q, X @ head.W_K, X @ head.W_V
    exact = direct_attention(Q, K, V)
    # the projections are the same in every run, and much narrower than X
    projected = qkv_input(Q, K, V)
    outputs = _outputs(projected.tokens[0], projected.heads[0], M, trials, seed)
    errors = np.stack([relative_row_errors(output, exact) for output in outputs])
    failing = ~(errors <= epsilon)  # an error that is not a number fails
    failures = int(failing.any(axis=1).sum())
    interval = wilson_interval(failures, trials, confidence)
    return FailureRate(failures, trials, interval, confidence, int(failing.sum()), failing.size, float(np.max(errors)))


def diagnose(data: AttentionInput, M: int, epsilon: float, trials: int, seed: int = 0) -> list[Diagnosis]:
    """For every head of an input, the premise, the M that the theorem needs, and the failures seen with this M.

    Each head is held against the theorem for one head (H L = 1).

    Raises:
        InputError: a number is out of range.
    """
    found = []
    for h, (X, head) in enumerate(zip(data.tokens, data.heads, strict=True)):
        measured = premise(*data.qkv(h))
        printed = required_length(measured, epsilon)
        shifted = required_length(measured, epsilon, shifted=True)
        seen = sampled_failure(X, head, M, epsilon, trials, seed)
        found.append(Diagnosis(measured, printed, shifted, printed.admits(M) or shifted.admits(M), seen))
    return found


def _outputs(X: np.ndarray, head: Head, M: int, trials: int, seed: int) -> Iterator[np.ndarray]:
    oracle = Oracle(M)
    for trial in range(trials):
        tau = random_permutation(len(X), seed + trial)
        yield run([plan(X, head, oracle, tau)], oracle)[0]


def _failing_sets(A: np.ndarray, V: np.ndarray, M: int, epsilon: Fraction) -> list[set[frozenset[int]]]:
    """For every row, the sets of M keys whose estimate is off by more than epsilon."""
    N = len(A)
    everything = range(N)
    fails: list[set[frozenset[int]]] = []
    for row in A:
        exact = _average(row, V, everything)
        limit = epsilon**2 * sum(x * x for x in exact)
        fails.append(
            {
                frozenset(keys)
                for keys in combinations(everything, M)
                if sum((x - y) ** 2 for x, y in zip(_average(row, V, keys), exact, strict=True)) > limit
            }
        )
    return fails


def _average(row: np.ndarray, V: np.ndarray, keys: range | tuple[int, ...]) -> list[Fraction]:
    total = sum(row[j] for j in keys)
    return [sum(row[j] * V[j, c] for j in keys) / total for c in range(V.shape[1])]


def _checked(A: np.ndarray, V: np.ndarray, M: int, epsilon: Fraction) -> int:
    N = len(A)
    if A.shape != (N, N) or V.ndim != 2 or len(V) != N or not 1 <= M <= N or not epsilon > 0:
        raise InputError(
            f"exact rates need A (N, N), V (N, d), 1 <= M <= N and epsilon > 0, not {A.shape}, {V.shape}, M = {M} and "
            f"epsilon = {epsilon}."
        )
    return N


def _few_enough(cases: int) -> None:
    if cases > _MOST_CASES:
        raise InputError(f"{cases} cases are too many to enumerate: take a smaller N, or sample.")
