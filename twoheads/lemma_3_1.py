"""Lemma 3.1 / B.1: one attention head on N tokens by O((N/M)^2) calls that read M tokens.

Three variants. *printed* follows B.1: one call per pair of blocks for R = A/(A+1), one for B/A, then
A = R/(1-R); see `twoheads.two_call`. *merged* gets B/(A+1) and A/(A+1) from one call. *stable* also lets the call
return the synthetic token's own share, so that A and B come without a subtraction; `twoheads.reconstruction` does
both.

The paper's blocks have M data tokens and one synthetic token, which is M+1 for an oracle that takes M, and N is
a multiple of M. Here a block has n = M-1 data tokens, and rows past the end of the input are further synthetic
tokens. The paper feeds a block of queries that is also the block of keys without doubling its tokens; here it is
a pair like any other.
"""

from __future__ import annotations

from typing import Literal, get_args

from twoheads.errors import InputError
from twoheads.plans import Asked, Plan, checked_domain, run
from twoheads.reconstruction import reconstruction
from twoheads.scalars import Array
from twoheads.schedules import CallFamily, Part, Sizes, block_length, ceil_div
from twoheads.transformer import Head
from twoheads.two_call import two_call_reconstruction

__all__ = ["PAIRS", "VARIANTS", "Variant", "calls", "plan", "schedule", "simulate"]

Variant = Literal["printed", "merged", "stable"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)


PAIRS = CallFamily(
    name="every block of queries with every block of keys",
    arity=2,
    causal=False,
    rows=lambda z: (z.n,),
    query=lambda z, u, t, p: u * z.n + p,
    key=lambda z, u, t, q: t * z.n + q,
)
"""Call (u, t) pairs block u of the queries with block t of the keys."""


def schedule(N: int, M: int) -> list[Part]:
    """T^2 calls on blocks of n = M-1 positions (fewer if N < M), T = N/n rounded up."""
    n = block_length(N, M)
    return [Part(PAIRS, Sizes(N, n, ceil_div(N, n)))]


def calls(N: int, M: int, variant: Variant = "stable") -> int:
    """The number of oracle calls: T^2 with T = N/(M-1) rounded up, twice that as printed."""
    T = ceil_div(N, block_length(N, M))
    return (2 if variant == "printed" else 1) * T**2


def simulate(
    X: Array,
    W_Q: Array,
    W_K: Array,
    W_V: Array,
    oracle: Asked,
    variant: Variant = "stable",
    synthetic_score: float = 0,
) -> Array:
    """softmax(X W_Q (X W_K)^T) X W_V, computed by calls to an oracle that is not causal, in one round.

    Args:
        X: tokens (N, d).
        W_Q, W_K: (d, m).
        W_V: (d, d_v).
        oracle: reads M >= 2 tokens; any scalars.
        variant: `printed`, `merged` or `stable`.
        synthetic_score: score of the synthetic token, for `merged` and `stable`; a constant near the scores'
            middle keeps exp in range where they are all very large or very small.

    Returns:
        (N, d_v).

    Raises:
        InputError: shapes do not fit, the variant is unknown, or the oracle is causal.
        MixedScalarsError: the arrays do not share one kind of scalar.
    """
    return run([plan(X, Head(W_Q, W_K, W_V), oracle, variant, synthetic_score)], oracle)[0]


def plan(X: Array, head: Head, oracle: Asked, variant: Variant = "stable", synthetic_score: float = 0) -> Plan:
    """`simulate` as a plan of one round, to be run beside others."""
    if variant not in VARIANTS:
        raise InputError(f"variant must be one of {', '.join(VARIANTS)}, not {variant!r}.")
    if oracle.causal:
        raise InputError("Lemma 3.1 needs an oracle without a causal mask: make it with causal=False.")
    checked_domain(X, head, oracle)
    parts = schedule(X.shape[0], oracle.M)
    if variant == "printed":
        return (yield from two_call_reconstruction(X, head, oracle, parts))
    return (yield from reconstruction(X, head, oracle, parts, variant, synthetic_score))
