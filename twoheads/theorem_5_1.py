"""Theorem 5.1 / D.1 for one head: sliding windows and attention sinks by calls to a causal oracle.

Query i sees its window of r keys, i-r < j <= i, and the s sink keys j < s, each key once. The first s queries see
a prefix of the sinks and nothing else: one call on the sinks answers them. For every later query two schedules:

*Difference* (D.1.difference; variants `printed`, `merged`). A chunk of n - r queries and its keys, with the r
keys before it, fill one call, whose row i sums the keys from the chunk's start up to i (LEAD); a second call on
the same keys, the queries moved r rows up, sums up to i-r (LAG). Their difference is the window. In floating
point it loses digits to every key that has left the window.

*Suffix and prefix* (variants `stable`, `separate`). From position s on, groups of r positions: a window is a suffix
of one group and a prefix of the next. PREFIX calls sum the latter and the sinks, SUFFIX calls, backwards, the
former; nothing is subtracted. `separate` gives each group its own call, which is exact over every scalar and needs
about 2N/r calls. `stable` lets as many groups as fit share a call and keeps them apart by group codes, scores lowered
by `reconstruction.GAP`; it is for floating point and balls.

The sinks' keys stand in the same call as the queries that see them. As printed (D.1.sinks) their sum is the
difference of the sums over a whole prefix and over the keys after the sinks, and no single call of M tokens gives
the first once the prefix is longer than the call; so `printed` takes no sinks.

A call must hold the synthetic token, the sinks and one group: r + s <= M-1; with differences r + s <= M-2.
"""

from __future__ import annotations

from typing import Literal, get_args

from twoheads.errors import InputError
from twoheads.plans import Asked, Plan, checked_domain, run
from twoheads.reconstruction import OneCall, reconstruction
from twoheads.scalars import Array
from twoheads.schedules import CallFamily, Part, Sizes, block_length, ceil_div
from twoheads.transformer import Head
from twoheads.two_call import two_call_reconstruction

__all__ = [
    "LAG",
    "LEAD",
    "PREFIX",
    "SINKS",
    "SUFFIX",
    "VARIANTS",
    "Variant",
    "calls",
    "plan",
    "schedule",
    "simulate",
]

Variant = Literal["printed", "merged", "separate", "stable"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)

SINKS = CallFamily(
    name="the sinks with themselves",
    arity=1,
    causal=True,
    rows=lambda z: (z.s,),
    query=lambda z, c, p: p,
    key=lambda z, c, q: q,
)

LEAD = CallFamily(
    name="a chunk of queries with the keys from r before the chunk up to their own, and the sinks",
    arity=1,
    causal=True,
    sinks=True,
    rows=lambda z: (z.n,),
    query=lambda z, c, p: z.s + c * (z.n - z.r) + (p - z.r),
    key=lambda z, c, q: z.s + c * (z.n - z.r) + (q - z.r),
    has_query=lambda z, c, p: [p >= z.r],
    has_key=lambda z, c, q: [z.s + c * (z.n - z.r) + (q - z.r) >= z.s],
)

LAG = CallFamily(
    name="a chunk of queries with the keys from r before the chunk up to r before their own, subtracted",
    arity=1,
    causal=True,
    sign=-1,
    rows=lambda z: (z.n - z.r,),
    query=lambda z, c, p: z.s + c * (z.n - z.r) + p,
    key=LEAD.key,
    has_key=LEAD.has_key,
)

PREFIX = CallFamily(
    name="groups of queries with the keys of their group up to their own, and the sinks",
    arity=1,
    causal=True,
    grouped=True,
    sinks=True,
    rows=lambda z: (z.G, z.r),
    query=lambda z, c, g, p: z.s + (c * z.G + g) * z.r + p,
    key=lambda z, c, g, q: z.s + (c * z.G + g) * z.r + q,
)

SUFFIX = CallFamily(
    name="groups of queries, backwards, with the keys of the group before that are still in the window",
    arity=1,
    causal=True,
    grouped=True,
    rows=lambda z: (z.G, z.r - 1),
    query=lambda z, c, g, p: z.s + (c * z.G + g + 1) * z.r + (z.r - 2 - p),
    key=lambda z, c, g, q: z.s + (c * z.G + g) * z.r + (z.r - 1 - q),
)


def schedule(N: int, M: int, r: int, s: int = 0, variant: Variant = "stable") -> list[Part]:
    """The calls for N positions, a window of r and s sinks.

    Raises:
        InputError: r < 1, s < 0, M < 2, or a window and its sinks do not fit one call.
    """
    r, s = _limited(N, M, r, s, variant)
    sinks = [Part(SINKS, Sizes(N, s, 1, s=s))] if s else []
    if s == N:
        return sinks
    if variant in ("printed", "merged"):
        n = min(M - 1 - s, N - s + r)
        sizes = Sizes(N, n, ceil_div(N - s, n - r), r, s)
        return [*sinks, Part(LEAD, sizes), Part(LAG, sizes)]
    most = 1 if variant == "separate" else M
    G = min((M - 1 - s) // r, ceil_div(N - s, r), most)
    prefix = Part(PREFIX, Sizes(N, G * r, ceil_div(N - s, G * r), r, s, G))
    behind = N - s - r  # queries whose window reaches into a group before their own
    if r == 1 or behind <= 0:
        return [*sinks, prefix]
    G = min((M - 1) // (r - 1), ceil_div(behind, r), most)
    return [*sinks, prefix, Part(SUFFIX, Sizes(N, G * (r - 1), ceil_div(behind, G * r), r, s, G))]


def calls(N: int, M: int, r: int, s: int = 0, variant: Variant = "stable") -> int:
    """The number of oracle calls; `printed` makes each call of `merged` twice."""
    r, s = _limited(N, M, r, s, variant)
    first = 1 if s else 0
    if variant in ("printed", "merged"):
        chunk = min(M - 1 - s - r, N - s)
        return (2 if variant == "printed" else 1) * (first + (2 * ceil_div(N - s, chunk) if chunk else 0))
    groups, behind = ceil_div(N - s, r), ceil_div(N - s - r, r) if r > 1 else 0
    if variant == "separate":
        return first + groups + behind
    return first + ceil_div(groups, (M - 1 - s) // r) + (ceil_div(behind, (M - 1) // (r - 1)) if behind else 0)


def simulate(
    X: Array,
    W_Q: Array,
    W_K: Array,
    W_V: Array,
    oracle: Asked,
    r: int,
    s: int = 0,
    variant: Variant = "stable",
    synthetic_score: float = 0,
) -> Array:
    """Attention of one head with a window of size r and s sinks, by calls to a causal oracle, in one round.

    Args:
        X: tokens (N, d).
        W_Q, W_K: (d, m).
        W_V: (d, d_v).
        oracle: causal, reads M >= r + s + 1 tokens; any scalars (`stable`: not exact ones).
        r: window size, at least 1; s: sink size, at least 0.
        variant: `printed`, `merged`, `separate` or `stable`.
        synthetic_score: score of the synthetic token; not for `printed`.

    Returns:
        (N, d_v).

    Raises:
        InputError: shapes do not fit, the variant is unknown, the oracle is not causal, or r + s is too large for M.
        MixedScalarsError: the arrays do not share one kind of scalar.
    """
    return run([plan(X, Head(W_Q, W_K, W_V), oracle, r, s, variant, synthetic_score)], oracle)[0]


def plan(
    X: Array,
    head: Head,
    oracle: Asked,
    r: int,
    s: int = 0,
    variant: Variant = "stable",
    synthetic_score: float = 0,
) -> Plan:
    """`simulate` as a plan of one round, to be run beside others."""
    if not oracle.causal:
        raise InputError("Theorem 5.1 needs an oracle with a causal mask: make it with causal=True.")
    checked_domain(X, head, oracle)
    parts = schedule(X.shape[0], oracle.M, r, s, variant)
    if variant == "printed":
        return (yield from two_call_reconstruction(X, head, oracle, parts))
    one_call: OneCall = "merged" if variant == "merged" else "stable"
    return (yield from reconstruction(X, head, oracle, parts, one_call, synthetic_score))


def _limited(N: int, M: int, r: int, s: int, variant: Variant) -> tuple[int, int]:
    """r and s cut to N, once they are known to fit M."""
    if variant not in VARIANTS:
        raise InputError(f"variant must be one of {', '.join(VARIANTS)}, not {variant!r}.")
    if r < 1 or s < 0:
        raise InputError(f"a window needs r >= 1 and s >= 0, not r = {r} and s = {s}.")
    block_length(N, M)
    if variant == "printed" and s:
        raise InputError("D.1.sinks cannot run as printed: use the variant merged, separate or stable with sinks.")
    r, s = min(r, N), min(s, N)
    room = M - 1 if variant in ("separate", "stable") else M - 2
    if r + s > room:
        raise InputError(
            f"a window of r = {r} with s = {s} sinks does not fit a call of M = {M}: take M >= {r + s + M - room}."
        )
    return r, s
