"""Theorem 3.5 / B.5 and Claim B.6 for one head: causal attention by calls to a causal oracle.

Blocks have n = M-1 positions. A block meets itself in one call, in order: row p sees the keys up to its own
(Claim B.6). A later block u meets an earlier block t in two calls: *forward*, in order, which gives the keys
of t whose place in the block is at most the query's; and *reversed*, both blocks backwards and the queries one
row ahead, which gives the others. The two halves are told apart by the place within the block: the printed
split B.5.split, by absolute positions, leaves the second half empty for every t before u.

Variants. *printed* takes four calls per pair of blocks, one per quantity, with the displays of B.5 taken
literally; B.5.second-values does not shift the queries, so key a of the block counts in both halves at query a,
and the result is wrong. *repaired* shifts them there too. *merged* and *stable* learn both sums of a half from
one call; see `twoheads.reconstruction`.
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

__all__ = ["DIAGONAL", "FORWARD", "REVERSED", "VARIANTS", "Variant", "calls", "plan", "schedule", "simulate"]

Variant = Literal["printed", "repaired", "merged", "stable"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)

DIAGONAL = CallFamily(
    name="every block with itself",
    arity=1,
    causal=True,
    rows=lambda z: (z.n,),
    query=lambda z, t, p: t * z.n + p,
    key=lambda z, t, q: t * z.n + q,
)
"""Claim B.6 on every block."""

FORWARD = CallFamily(
    name="a block of queries with an earlier block of keys, in order",
    arity=2,
    causal=True,
    rows=lambda z: (z.n,),
    query=lambda z, u, t, p: u * z.n + p,
    key=lambda z, u, t, q: t * z.n + q,
    exists=lambda z, u, t: [t < u],
)
"""A1: keys whose place in their block is at most the query's."""

REVERSED = CallFamily(
    name="a block of queries with an earlier block of keys, backwards",
    arity=2,
    causal=True,
    rows=lambda z: (z.n - 1,),
    query=lambda z, u, t, p: u * z.n + (z.n - 2 - p),
    key=lambda z, u, t, q: t * z.n + (z.n - 1 - q),
    exists=lambda z, u, t: [t < u, z.n >= 2],
)
"""A2: keys whose place in their block is greater than the query's. The last query has none."""

UNSHIFTED = CallFamily(
    name="a block of queries with an earlier block of keys, backwards, without the shift",
    arity=2,
    causal=True,
    rows=lambda z: (z.n,),
    query=lambda z, u, t, p: u * z.n + (z.n - 1 - p),
    key=lambda z, u, t, q: t * z.n + (z.n - 1 - q),
    exists=REVERSED.exists,
    has_query=lambda z, u, t, p: [p >= 1],
)
"""What B.5.second-values displays. Its first row's query has no second half, so that its output is not used."""


def schedule(N: int, M: int) -> list[Part]:
    """T diagonal calls and two for every pair of different blocks: T^2 in all, T(T+1)/2 if M = 2."""
    n = block_length(N, M)
    sizes = Sizes(N, n, ceil_div(N, n))
    return [Part(family, sizes) for family in (DIAGONAL, FORWARD, REVERSED)]


def calls(N: int, M: int, variant: Variant = "stable") -> int:
    """The number of oracle calls; `printed` and `repaired` make two for every one of the other variants."""
    n = block_length(N, M)
    T = ceil_div(N, n)
    return (2 if variant in ("printed", "repaired") else 1) * (T**2 if n > 1 else T * (T + 1) // 2)


def simulate(
    X: Array,
    W_Q: Array,
    W_K: Array,
    W_V: Array,
    oracle: Asked,
    variant: Variant = "stable",
    synthetic_score: float = 0,
) -> Array:
    """Causal attention of one head on X, by calls to a causal oracle, in one round.

    Args:
        X: tokens (N, d).
        W_Q, W_K: (d, m).
        W_V: (d, d_v).
        oracle: causal, reads M >= 2 tokens; any scalars.
        variant: `printed` (wrong, see the module), `repaired`, `merged` or `stable`.
        synthetic_score: score of the synthetic token, for `merged` and `stable`.

    Returns:
        (N, d_v).

    Raises:
        InputError: shapes do not fit, the variant is unknown, or the oracle is not causal.
        MixedScalarsError: the arrays do not share one kind of scalar.
    """
    return run([plan(X, Head(W_Q, W_K, W_V), oracle, variant, synthetic_score)], oracle)[0]


def plan(X: Array, head: Head, oracle: Asked, variant: Variant = "stable", synthetic_score: float = 0) -> Plan:
    """`simulate` as a plan of one round, to be run beside others."""
    if variant not in VARIANTS:
        raise InputError(f"variant must be one of {', '.join(VARIANTS)}, not {variant!r}.")
    if not oracle.causal:
        raise InputError("Theorem 3.5 needs an oracle with a causal mask: make it with causal=True.")
    checked_domain(X, head, oracle)
    parts = schedule(X.shape[0], oracle.M)
    if variant in ("merged", "stable"):
        return (yield from reconstruction(X, head, oracle, parts, variant, synthetic_score))
    values = {REVERSED: UNSHIFTED} if variant == "printed" else {}
    return (yield from two_call_reconstruction(X, head, oracle, parts, values))
