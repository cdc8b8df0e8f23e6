"""Theorem 4.1 / C.1: attention estimated by N/M calls, each chunk of queries meeting a random sample of the keys.

A permutation tau of the positions is drawn. The queries of chunk S_t meet the keys tau(S_t), in one call, and
the call's output, sum b / sum a over those n keys, is the estimator of attention (C.1.step2).

*merged* is that and nothing more: N/M calls, which is all the algorithm needs. *printed* also makes the
calls of C.1.step1, with a synthetic token, for the estimator N/n sum a of the softmax denominator; only the analysis
speaks of it, no output depends on it, and `estimates` returns both. Two more remarks on the text:

- C.1.permute spends N/M calls of Lemma A.3 on the permutation. It is drawn without looking at the input, so placing
  tokens is arranging them in memory (section 1.1.c) and costs no call; nor could calls of M tokens do it alone, since
  tau(S_t) may come from M different chunks.
- C.1.step1 prints V' = [1_{M x d}, 0; 1_{d x 1}, 1], whose lower left block has d rows where one is meant. With ones
  there, the output's first column is 1 whatever the weights; R needs zeros there, as in B.1.diag, and has them here.

N need not be a multiple of n: the last chunk is the last n positions, so that every query meets exactly n keys and
every tau(S_t) is a uniformly random set of n keys. With N <= M the one call holds all keys and the result is exact.

Over H heads and L layers with the premise in each, the union bound runs over all H L N rows: log(40 N) becomes
log(40 N H L) in both bounds on M. From the second layer on the premise is about layers that read estimates, and
the printed proof does not follow the error from one layer into the next.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from twoheads.errors import InputError
from twoheads.oracle import Batch
from twoheads.plans import Asked, Plan, checked_domain, run
from twoheads.reconstruction import Rows, Tokens, extended_head, sequences
from twoheads.scalars import Array, Domain
from twoheads.schedules import block_length, ceil_div
from twoheads.transformer import Head, Transformer, single_head

__all__ = ["VARIANTS", "Estimates", "Variant", "calls", "chunks", "estimates", "plan", "random_permutation", "simulate"]

Variant = Literal["printed", "merged"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)


@dataclass(frozen=True, eq=False)
class Estimates:
    """What the two steps of C.1 estimate, for every query."""

    weights: Array
    """N/n sum of a_{i,j} over the sampled keys, (N, 1)."""
    attention: Array
    """sum b / sum a over the sampled keys, (N, d_v)."""


def random_permutation(N: int, seed: int) -> np.ndarray:
    """tau, a permutation of 0, ..., N-1 that depends on the seed alone.

    Raises:
        InputError: a negative seed, or N < 1.
    """
    if seed < 0 or N < 1:
        raise InputError(f"a random permutation needs a seed >= 0 and N >= 1, not seed = {seed} and N = {N}.")
    return np.random.default_rng(seed).permutation(N)


def chunks(N: int, n: int) -> np.ndarray:
    """The positions S_t of every chunk, (T, n): n at a time, the last chunk being the last n.

    Raises:
        InputError: not 1 <= n <= N.
    """
    if not 1 <= n <= N:
        raise InputError(f"chunks of n positions need 1 <= n <= N, not n = {n} and N = {N}.")
    starts = np.minimum(np.arange(ceil_div(N, n)) * n, N - n)
    return starts[:, None] + np.arange(n)


def calls(N: int, M: int, variant: Variant = "merged") -> int:
    """N/M rounded up; as printed twice N/(M-1), since each chunk is called twice and leaves a place for the token."""
    n = _chunk_length(N, M, variant)
    return (2 if variant == "printed" else 1) * ceil_div(N, n)


def simulate(
    X: Array,
    W_Q: Array,
    W_K: Array,
    W_V: Array,
    oracle: Asked,
    seed: int = 0,
    variant: Variant = "merged",
) -> Array:
    """The estimate of softmax(X W_Q (X W_K)^T) X W_V with the seed's permutation, in one round.

    Args:
        X: tokens (N, d).
        W_Q, W_K: (d, m).
        W_V: (d, d_v).
        oracle: not causal; reads M >= 2 tokens; any scalars.
        seed: of the permutation, at least 0.
        variant: `printed` or `merged`.

    Returns:
        (N, d_v).

    Raises:
        InputError: shapes do not fit, the variant is unknown, the seed is negative, or the oracle is causal.
        MixedScalarsError: the arrays do not share one kind of scalar.
    """
    tau = random_permutation(X.shape[0], seed)
    return run([plan(X, Head(W_Q, W_K, W_V), oracle, tau, variant)], oracle)[0]


def plan(X: Array, head: Head, oracle: Asked, tau: np.ndarray, variant: Variant = "merged") -> Plan:
    """`simulate` with a given permutation tau (N,), as a plan of one round, to be run beside others."""
    domain = _checked(X, head, oracle, tau)
    if variant == "printed":
        return (yield from _both_steps(X, head, oracle, tau))[1]
    S = chunks(len(tau), _chunk_length(len(tau), oracle.M, variant))
    (ratios,) = yield [Batch(_side_by_side(X, S, tau, domain), _queries_then_keys(head, domain), domain)]
    return _by_position(ratios, S)


def estimates(X: Array, head: Head, oracle: Asked, tau: np.ndarray) -> Estimates:
    """Both estimators of C.1 for the permutation tau (N,), from 2 calls a chunk, in one round.

    The first is R/(1-R) (B.1.recover), which over float64 has no digits left once the sum passes 2^53.

    Raises:
        InputError: see `simulate`; tau is not a permutation of 0, ..., N-1.
    """
    domain, N = _checked(X, head, oracle, tau), len(tau)
    [(R, attention)] = run([_both_steps(X, head, oracle, tau)], oracle)
    scale = domain.number([[N]]) / domain.number([[block_length(N, oracle.M)]])
    return Estimates(scale * (R / (domain.number([[1]]) - R)), attention)


def _both_steps(
    X: Array, head: Head, oracle: Asked, tau: np.ndarray
) -> Generator[Iterable[Batch], list[Array], tuple[Array, Array]]:
    """R = A/(A+1) of step 1, (N, 1), and sum b / sum a of step 2, (N, d_v)."""
    domain = oracle.domain_for(X, head.W_Q, head.W_K, head.W_V)
    S = chunks(len(tau), block_length(len(tau), oracle.M))
    rows = Rows(S, tau[S], np.ones_like(S), 0, np.zeros(S.shape[1], dtype=np.int64), 1)
    layout = Tokens(X.shape[1], 0)
    step_1 = single_head(*extended_head(head, domain, layout, "weight"))
    R, ratios = yield [
        Batch(sequences(X, rows, layout, domain), step_1, domain),
        Batch(_side_by_side(X, S, tau, domain), _queries_then_keys(head, domain), domain),
    ]
    return _by_position(R[:, 1:], S), _by_position(ratios, S)


def _side_by_side(X: Array, S: np.ndarray, tau: np.ndarray, domain: Domain) -> Array:
    """[X[S_t, :], X[tau(S_t), :]] for every chunk, (T, n, 2d)."""
    return domain.xp.concat([X[S], X[tau[S]]], axis=-1)


def _queries_then_keys(head: Head, domain: Domain) -> Transformer:
    """W'' of C.1.step2: queries from the first half of a token, keys and values from the second."""

    def unread(W: Array) -> Array:
        return domain.constant(np.zeros(W.shape, dtype=np.int64))

    concat = domain.xp.concat
    return single_head(
        concat([head.W_Q, unread(head.W_Q)], axis=0),
        concat([unread(head.W_K), head.W_K], axis=0),
        concat([unread(head.W_V), head.W_V], axis=0),
    )


def _by_position(answers: Array, S: np.ndarray) -> Array:
    """Answers (T, n, c) as (N, c), every position from the first chunk that holds it."""
    position = np.arange(int(S[-1, -1]) + 1)
    chunk = position // S.shape[1]
    return answers[chunk, position - S[chunk, 0]]


def _chunk_length(N: int, M: int, variant: str) -> int:
    if variant not in VARIANTS:
        raise InputError(f"variant must be one of {', '.join(VARIANTS)}, not {variant!r}.")
    with_synthetic = block_length(N, M)
    return with_synthetic if variant == "printed" else min(M, N)


def _checked(X: Array, head: Head, oracle: Asked, tau: np.ndarray) -> Domain:
    if oracle.causal:
        raise InputError("Theorem 4.1 needs an oracle without a causal mask: make it with causal=False.")
    domain = checked_domain(X, head, oracle)
    if not np.array_equal(np.sort(tau), np.arange(X.shape[0])):
        raise InputError(f"tau must be a permutation of 0, ..., N-1 = {X.shape[0] - 1}.")
    return domain
