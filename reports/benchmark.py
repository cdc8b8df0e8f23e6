"""The simulators' time beside direct attention in NumPy, both measured in turns in the same run.

Under a window the baseline computes no more than each query's own keys, so that it is the best of its kind.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from numeric.inputs import AttentionInput, qkv_input
from numeric.reference import direct_attention
from twoheads.catalogue import CONSTRUCTIONS, Construction, Options
from twoheads.oracle import Oracle
from twoheads.plans import run

__all__ = ["BASELINE", "Timing", "banded_attention", "time_simulators"]

BASELINE = "direct attention in NumPy, float64; with a window, over each query's own keys only"


@dataclass(frozen=True)
class Timing:
    """Median seconds of a simulator and of direct attention under the same mask, on one head of N tokens."""

    construction: str
    variant: str
    N: int
    M: int
    calls: int
    seconds: float
    baseline_seconds: float

    @property
    def ratio(self) -> float:
        """How many times direct attention's time the simulator takes."""
        return self.seconds / self.baseline_seconds


def time_simulators(
    lengths: Sequence[int],
    M: int,
    options: Options,
    repeats: int = 5,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Timing]:
    """Every construction in its default variant, on seeded normal Q, K, V of 16 coordinates.

    Raises:
        InputError: a construction does not take the parameters.
    """
    random = np.random.default_rng(0)
    found = []
    for N in lengths:
        Q, K, V = (random.normal(size=(N, 16)) for _ in range(3))
        data = qkv_input(Q, K, V)
        for chosen in CONSTRUCTIONS.values():
            progress(f"{chosen.name}, N = {N}")
            found.append(_timed(chosen, chosen.default, data, M, options, repeats))
    return found


def _timed(chosen: Construction, variant: str, data: AttentionInput, M: int, options: Options, repeats: int) -> Timing:
    X, head, qkv = data.tokens[0], data.heads[0], data.qkv(0)
    direct = _baseline(chosen, options)
    own, baseline, calls = [], [], 0
    for _ in range(repeats):
        oracle = Oracle(M, causal=chosen.causal)
        started = time.perf_counter()
        run([chosen.plan(X, head, oracle, variant, options)], oracle)
        own.append(time.perf_counter() - started)
        started = time.perf_counter()
        direct(*qkv)
        baseline.append(time.perf_counter() - started)
        calls = oracle.ledger.calls
    seconds, reference = statistics.median(own), statistics.median(baseline)
    return Timing(chosen.name, variant, data.N, M, calls, seconds, reference)


def banded_attention(Q: np.ndarray, K: np.ndarray, V: np.ndarray, r: int, s: int) -> np.ndarray:
    """Attention of Q, K (N, m), V (N, d_v) with a window r and s sinks, in O(N (r + s)) time and memory."""
    N = len(Q)
    i, back = np.arange(N)[:, None], np.arange(r)[None, :]
    keys = np.concatenate([i - back, np.broadcast_to(np.arange(s), (N, s))], axis=1)
    allowed = np.concatenate([i >= back, np.arange(s) <= i - r], axis=1)
    scores = np.einsum("im,ijm->ij", Q, K[keys % N], optimize=True)
    scores = np.where(allowed, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    summed: np.ndarray = np.einsum("ij,ijv->iv", weights, V[keys % N], optimize=True)
    return summed / weights.sum(axis=1, keepdims=True)


def _baseline(chosen: Construction, options: Options) -> Callable[..., np.ndarray]:
    if chosen.name in ("window", "sink"):
        return partial(banded_attention, r=options.r, s=options.s if chosen.name == "sink" else 0)
    return partial(direct_attention, causal=chosen.causal)
