"""Theorem 4.2 / C.2: N/M small instances, with weights of their own, by one call of a large transformer.

Instance i has tokens X_i (M, d) and a head. Its queries, keys and values are multiplied out beforehand, three products
an instance, and stand side by side in the large transformer's tokens, together with a code of the instance:
queries carry u_i, keys v_i, with <u_i, v_i> = 0 and <u_i, v_j> <= -B^2 for i != j. So a query's weight on another
instance's key is smaller by exp(-B^2) at least, and the one large head computes all small ones up to an
error that `error_bound` bounds.

The two variants are two ways to choose B and bound the error; the tokens are the same. With C bounding all query,
key and value norms (C.2.bounds):

*tight* (ours). A row of instance i gives A = sum a to its own keys and E to all others, and
(B_i + F)/(A + E) - B_i/A = (F - E B_i/A)/(A + E), where ||F|| <= C E and ||B_i/A|| <= C. So the error is at most
2 C E/(A + E). As A >= M exp(-C^2) and E <= (N-M) exp(C^2 - B^2), that is 2 C x/(1 + x) with
x = (N-M)/M exp(2 C^2 - B^2).

*printed*. N C exp(2C^2 - B^2) (1 + exp(C^2)) / M, which is larger, hence true. Its proof is not: C.2.error bounds
E/(A (A + E)) by N exp(2C^2 - B^2)/M^2, but A^2 can be as small as M^2 exp(-2C^2), not M^2 exp(-C^2), so
exp(3C^2 - B^2) is what stands there (`inverse_bound`; scores of -C^2 inside and C^2 outside exceed the printed one).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, islice
from typing import Literal, get_args

import numpy as np

from twoheads.errors import InputError
from twoheads.oracle import Batch
from twoheads.plans import Asked, checked_domain
from twoheads.scalars import Array, Domain
from twoheads.transformer import Head, single_head

__all__ = [
    "VARIANTS",
    "B_for",
    "Simulated",
    "Variant",
    "code_length",
    "codes",
    "error_bound",
    "inverse_bound",
    "log_error_bound",
    "norm_bound",
    "products",
    "simulate",
    "width",
]

Variant = Literal["printed", "tight"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)


@dataclass(frozen=True, eq=False)
class Simulated:
    """The outputs of all instances, and what was multiplied outside the large transformer."""

    outputs: Array
    """(N/M, M, d_v)."""
    products: int
    """Products of an M x d by a d x m (or d_v) matrix."""


def code_length(instances: int) -> int:
    """The smallest even r with binom(r, r/2) >= N/M; 0 for a single instance.

    Raises:
        InputError: no instances.
    """
    if instances < 1:
        raise InputError("give at least one instance.")
    r = 0
    while math.comb(r, r // 2) < instances:
        r += 2
    return r


def codes(instances: int) -> tuple[np.ndarray, np.ndarray]:
    """u / B and v / B, integers (N/M, r): u_i in {0, -1}^r with r/2 zeros, all distinct, and v_i = 1 + u_i.

    Raises:
        InputError: no instances.
    """
    r = code_length(instances)
    u = np.zeros((instances, r), dtype=np.int64)
    for i, places in enumerate(islice(combinations(range(r), r // 2), instances)):
        u[i, list(places)] = -1
    return u, 1 + u


def products(N: int, M: int) -> int:
    """The products of matrices outside the large transformer: 3 N/M.

    Raises:
        InputError: N is not a positive multiple of M.
    """
    return 3 * _instances(N, M)


def width(N: int, M: int, m: int, d_v: int) -> int:
    """The large transformer's embedding dimension, 2 (m + r) + d_v with r = O(log(N/M)).

    Raises:
        InputError: N is not a positive multiple of M.
    """
    return 2 * (m + code_length(_instances(N, M))) + d_v


def simulate(tokens: Sequence[Array], heads: Sequence[Head], oracle: Asked, B: int) -> Simulated:
    """All instances softmax(X_i W_Q (X_i W_K)^T) X_i W_V, each up to `error_bound`, by one call.

    Args:
        tokens: X_i (M, d), for every instance.
        heads: its W_Q, W_K (d, m) and W_V (d, d_v).
        oracle: the large transformer, not causal, of at least N tokens, for N the tokens of all instances.
        B: the size of the codes, a positive integer; see `B_for`.

    Raises:
        InputError: there are no instances, their shapes differ, B < 1, or the oracle is causal.
        OracleLengthError: the oracle reads fewer than N tokens.
        MixedScalarsError: the arrays do not share one kind of scalar.
    """
    domain = _checked(tokens, heads, oracle, B)
    M, m = tokens[0].shape[0], heads[0].W_Q.shape[1]
    u, v = codes(len(tokens))
    rows, multiplied = [], 0
    for X, head, own_u, own_v in zip(tokens, heads, B * u, B * v, strict=True):
        Q, K = domain.coordinates(X, head.W_Q), domain.coordinates(X, head.W_K)
        V = domain.tokens(domain.values(X, head.W_V))
        multiplied += 3
        code = (domain.constant(np.tile(x, (M, 1))) for x in (own_u, own_v))
        rows.append(domain.xp.concat([Q, next(code), K, next(code), V], axis=1))
    X = domain.xp.concat(rows, axis=0)
    select, c = domain.constant(np.eye(X.shape[1], dtype=np.int64)), m + u.shape[1]
    large = single_head(select[:, :c], select[:, c : 2 * c], select[:, 2 * c :])
    [answer] = oracle.round([Batch(X[None], large, domain)])
    return Simulated(domain.xp.reshape(answer, (len(tokens), M, -1)), multiplied)


def norm_bound(tokens: Sequence[np.ndarray], heads: Sequence[Head]) -> float:
    """The C of C.2.bounds: max over all i and W of ||X_i||_{inf,2} ||W_i||_2, for floats.

    Raises:
        InputError: there are no instances.
    """
    if not tokens:
        raise InputError("give at least one instance.")
    return max(
        float(np.linalg.norm(X, axis=1).max() * max(np.linalg.norm(W, 2) for W in (head.W_Q, head.W_K, head.W_V)))
        for X, head in zip(tokens, heads, strict=True)
    )


def log_error_bound(B: int, C: float, N: int, M: int, variant: Variant = "tight") -> float:
    """Natural logarithm of `error_bound`, which may be far below the smallest float; -inf for a single instance."""
    _check_sizes(B, C, N, M, variant)
    if variant == "printed":
        return math.log(N / M) + math.log(C) + 2 * C**2 - B**2 + _log1p_exp(C**2)
    if N == M:
        return -math.inf
    x = math.log((N - M) / M) + 2 * C**2 - B**2
    return math.log(2 * C) + x - _log1p_exp(x)


def error_bound(B: int, C: float, N: int, M: int, variant: Variant = "tight") -> float:
    """A bound on the l2 error of every output row; see the module's text. Infinite where no float holds it.

    Args:
        B: size of the codes, at least 1.
        C: bound on the norms of all queries, keys and values, above 0.
        N, M: tokens of all instances and of one, N a multiple of M.
        variant: `printed` or `tight`.

    Raises:
        InputError: a number is out of these ranges.
    """
    return _exp(log_error_bound(B, C, N, M, variant))


def inverse_bound(B: int, C: float, N: int, M: int, variant: Variant = "tight") -> float:
    """What C.2.error states for |1/A - 1/(A + E)|: N exp(2C^2 - B^2)/M^2 as printed, with 3C^2 as it should be.

    Raises:
        InputError: see `error_bound`.
    """
    _check_sizes(B, C, N, M, variant)
    return _exp(math.log(N) - 2 * math.log(M) + (2 if variant == "printed" else 3) * C**2 - B**2)


def B_for(error: float | Fraction, C: float, N: int, M: int, variant: Variant = "tight") -> int:
    """The smallest integer B >= 1 whose `error_bound` is at most `error`, computed in float64 logarithms.

    Args:
        error: wanted, above 0; as a Fraction it may be below the smallest float, such as 2^-N.
        C, N, M, variant: as in `error_bound`.

    Raises:
        InputError: error is not positive, or see `error_bound`.
    """
    if not 0 < error < math.inf:
        raise InputError(f"the wanted error must be a positive number, not {error}.")
    exact = Fraction(error)
    wanted = math.log(exact.numerator) - math.log(exact.denominator)
    # without the exp(-B^2) that the printed bound holds; tight is below it
    above = log_error_bound(1, C, N, M, "printed") + 1 - wanted
    candidates = range(1, math.isqrt(max(0, math.ceil(above))) + 3)
    return candidates[bisect_left(candidates, True, key=lambda B: log_error_bound(B, C, N, M, variant) <= wanted)]


def _exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def _log1p_exp(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def _instances(N: int, M: int) -> int:
    if M < 1 or N < M or N % M:
        raise InputError(f"N must be a positive multiple of M, not N = {N} and M = {M}.")
    return N // M


def _check_sizes(B: int, C: float, N: int, M: int, variant: str) -> None:
    _instances(N, M)
    if variant not in VARIANTS:
        raise InputError(f"variant must be one of {', '.join(VARIANTS)}, not {variant!r}.")
    if B < 1 or not 0 < C < math.inf:
        raise InputError(f"the bound needs B >= 1 and a finite C > 0, not B = {B} and C = {C}.")


def _checked(tokens: Sequence[Array], heads: Sequence[Head], oracle: Asked, B: int) -> Domain:
    if oracle.causal:
        raise InputError("Theorem 4.2 needs a large transformer without a causal mask: make it with causal=False.")
    if not tokens or len(tokens) != len(heads):
        raise InputError(f"give as many heads as token arrays, at least one, not {len(heads)} and {len(tokens)}.")
    if B < 1 or B % 1:
        raise InputError(f"B must be a positive integer, not {B}.")
    shapes = {tuple(map(tuple, (X.shape, h.W_Q.shape, h.W_K.shape, h.W_V.shape))) for X, h in zip(tokens, heads)}
    if len(shapes) > 1:
        raise InputError("the instances differ in M, d, m or d_v: pad them to the same shapes first.")
    domains = {domain.name: domain for domain in (checked_domain(X, h, oracle) for X, h in zip(tokens, heads))}
    if len(domains) > 1:
        raise InputError(f"the instances have scalars {' and '.join(sorted(domains))}: convert them to one of them.")
    return next(iter(domains.values()))
