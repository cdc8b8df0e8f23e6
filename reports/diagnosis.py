"""Why a run gives no accurate answer: the formula is wrong, or float64 has no digits left for it.

Two questions separate the cases. Does the same variant equal attention in exact arithmetic, on weights of a few
digits? And what do the sums of the oracle's calls look like on the input at hand: R = A/(A+s) rounds to 1 once
A/s passes 2^53, and a difference of two sums loses what the larger one outweighs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from twoheads import lemma_3_1, theorem_3_5, theorem_5_1
from twoheads.catalogue import CONSTRUCTIONS, Construction, Options
from twoheads.errors import InputError
from twoheads.oracle import Oracle
from twoheads.plans import run
from twoheads.scalars import given_weights
from twoheads.schedules import Part, calls_of, rows_of, sight_of
from twoheads.transformer import Head

__all__ = ["DIGITS", "EXACT_SIZE", "Sums", "equals_attention_exactly", "loses_digits", "sums_of_calls"]

DIGITS = 53
"""Binary digits of a float64."""

EXACT_SIZE = {"N": 7, "M": 5, "r": 2, "s": 1}
"""The size of the exact comparison: two blocks, a last one that is not full, a window across them."""


@dataclass(frozen=True)
class Sums:
    """What the oracle's calls of one head sum over, as binary logarithms."""

    rows: int
    """Rows with a query and at least one key, over all calls."""
    largest: float
    """log2 of the largest A/s, A being a row's sum over data keys and s its number of synthetic tokens."""
    rounded: int
    """Rows whose R = A/(A+s) rounds to 1 in float64, so that 1 - R is 0."""
    outweighed: float
    """log2 of the largest ratio of a sum from which another is subtracted to their difference; 0 without any."""


def loses_digits(variant: str) -> bool:
    """Whether the variant recovers A from 1 - R; the others learn s/(A+s) from the oracle."""
    return variant in ("printed", "repaired", "merged")


@cache
def equals_attention_exactly(name: str, variant: str) -> bool | None:
    """Whether the variant equals attention in exact rationals at `EXACT_SIZE`; None where it cannot run on them."""
    chosen = CONSTRUCTIONS[name]
    if chosen.approximate:
        return None
    N, M, options = EXACT_SIZE["N"], EXACT_SIZE["M"], Options(r=EXACT_SIZE["r"], s=EXACT_SIZE["s"])
    random = np.random.default_rng(0)
    weights, V = _fractions(random.integers(1, 9, (N, N))), _fractions(random.integers(-5, 6, (N, 2)))
    X, *parameters = given_weights(weights, V)
    oracle = Oracle(M, causal=chosen.causal)
    try:
        output = run([chosen.plan(X, Head(*parameters), oracle, variant, options)], oracle)[0]
    except InputError:
        return None
    mask = chosen.mask(N, options)
    seen = weights if mask is None else weights * mask.astype(int)
    return bool((output == (seen @ V) / seen.sum(axis=1, keepdims=True)).all())


def sums_of_calls(
    Q: np.ndarray, K: np.ndarray, M: int, chosen: Construction, variant: str, options: Options
) -> Sums | None:
    """The sums of the calls on scores Q K^T (N, N), by the simulator's own schedule; None if it has no schedule."""
    parts = _schedule(len(Q), M, chosen.name, variant, options)
    if parts is None:
        return None
    scores = Q @ K.T
    logs = [_log_sums(scores, part) for part in parts]
    ratios = np.concatenate([(log_A - np.log(synthetic)) for _, log_A, synthetic in logs]) / np.log(2)
    return Sums(len(ratios), float(ratios.max()), int((ratios >= DIGITS).sum()), _outweighed(parts, logs, len(Q)))


def _schedule(N: int, M: int, name: str, variant: Any, o: Options) -> list[Part] | None:
    match name:
        case "quadratic":
            return lemma_3_1.schedule(N, M)
        case "causal":
            return theorem_3_5.schedule(N, M)
        case "window" | "sink":
            return theorem_5_1.schedule(N, M, o.r, o.s if name == "sink" else 0, variant)
    return None


def _log_sums(scores: np.ndarray, part: Part) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Query, log A and number of synthetic tokens of every row of the part that has a query and a key."""
    family, sizes = part.family, part.sizes
    query, key = rows_of(family, sizes, calls_of(family, sizes))
    seen = np.broadcast_to(sight_of(family, sizes) & (key >= 0)[:, None, :], (*query.shape, query.shape[1]))
    own = np.where(seen, scores[query[:, :, None], key[:, None, :]], -np.inf)
    if family.sinks:
        own = np.concatenate([own, scores[query][:, :, : sizes.s]], axis=-1)
    with np.errstate(divide="ignore"):
        log_A = np.logaddexp.reduce(own, axis=-1)
    synthetic = 1 + (key < 0) @ sight_of(family, sizes).T.astype(np.int64)
    there = (query >= 0) & np.isfinite(log_A)
    return query[there], log_A[there], synthetic[there]


def _outweighed(parts: list[Part], logs: Sequence[tuple[np.ndarray, ...]], N: int) -> float:
    """Binary digits that cancel where sums of one query are subtracted from others of it."""
    if all(part.family.sign > 0 for part in parts):
        return 0.0
    positive, negative = (np.full(N, -np.inf) for _ in range(2))
    for part, (query, log_A, _) in zip(parts, logs, strict=True):
        np.logaddexp.at(positive if part.family.sign > 0 else negative, query, log_A)
    ratio = np.exp(np.minimum(negative - positive, 0))
    with np.errstate(divide="ignore"):
        return float(np.max(-np.log2(1 - ratio)))


def _fractions(values: np.ndarray) -> np.ndarray:
    made: np.ndarray = np.vectorize(Fraction, otypes=[object])(values.astype(object))
    return made
