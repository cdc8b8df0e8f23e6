"""Lower bounds on the number of oracle calls: by covering pairs, and under a hardness assumption (section 1.2.tight).

The *pair-covering* bound holds for every algorithm that has each allowed pair of a query and a key meet in the
attention of some call. It needs no assumption on complexity; it says nothing about algorithms that skip pairs, as
Theorem 4.1 does. The *conditional* bound holds for all algorithms, but rests on SETH and on constants nobody knows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from twoheads.errors import InputError
from twoheads.schedules import ceil_div

__all__ = [
    "ASSUMPTION",
    "ConditionalBound",
    "allowed_pairs",
    "conditional_bound",
    "covering_bound",
    "gap",
    "pairs_per_call",
]

ASSUMPTION = (
    "SETH: then, by Alman and Song (2023), for every q > 0 there is a constant c such that no algorithm approximates "
    "the attention of N tokens with d = c log N, and entries up to c sqrt(log N), to 1/poly(N) in time O(N^(2-q))"
)


def allowed_pairs(N: int, r: int | None = None, s: int = 0, causal: bool = False) -> int:
    """How many pairs (i, j) the mask allows: none, causal (`causal`), window (r), window with sinks (r, s).

    With t(n, r) = 1 + 2 + ... + r + r + ... (n terms, none above r): causal masks allow t(N, N); a window, whose query
    i sees min(i, r) keys, t(N, r); sinks add min(s, i-r) keys to every query i > r, hence t(N-r, s).

    Raises:
        InputError: N < 1, r < 1, s < 0, or sinks without a window.
    """
    _check_mask(N, r, s)
    if r is None:
        return _ramp(N, N) if causal else N * N
    return _ramp(N, r) + _ramp(max(N - r, 0), s)


def pairs_per_call(M: int, causal_oracle: bool, most_keys: int | None = None) -> int:
    """The most allowed pairs that one head of one layer of a call of M tokens can have meet.

    A call has at most M queries and M keys: M^2 pairs, or M (M+1)/2 under the oracle's causal mask, where the p-th
    query sees p keys. If the large mask shows every query at most `most_keys` keys (r + s with a window), no query of
    a call meets more than those.

    Raises:
        InputError: M < 1 or most_keys < 1.
    """
    most = M if most_keys is None else min(M, most_keys)
    if most < 1:
        raise InputError(f"a call needs M >= 1 and at least one key per query, not M = {M} and {most_keys} keys.")
    return _ramp(M, most) if causal_oracle else M * most


def covering_bound(
    N: int,
    M: int,
    r: int | None = None,
    s: int = 0,
    causal: bool = False,
    causal_oracle: bool | None = None,
    heads: int = 1,
    packed: int = 1,
) -> int:
    """The fewest calls with which every allowed pair can meet: allowed pairs over pairs per call, rounded up.

    Args:
        N, M: tokens of the large transformer and of the oracle.
        r, s, causal: the large transformer's mask, as in `allowed_pairs`.
        causal_oracle: the oracle's mask; as in the paper, causal if the large one's is (a window's is), if not given.
        heads: H L, the large transformer's attention heads in all layers.
        packed: H' L', the oracle's.

    Returns:
        The bound; at least N/M rounded up, since every query has to be in a call (both for H' L' = H L = 1).

    Raises:
        InputError: a size is not positive.
    """
    if M < 1 or heads < 1 or packed < 1:
        raise InputError(f"M, the heads H L and H' L' must be at least 1, not {M}, {heads} and {packed}.")
    if causal_oracle is None:
        causal_oracle = causal or r is not None
    per_call = packed * pairs_per_call(M, causal_oracle, None if r is None else r + s)
    return max(ceil_div(heads * allowed_pairs(N, r, s, causal), per_call), ceil_div(heads * N, packed * M))


def gap(calls: int, bound: int) -> Fraction:
    """Calls made for every call that the bound requires; 1 is optimal.

    Raises:
        InputError: the bound or the calls are not positive.
    """
    if calls < 1 or bound < 1:
        raise InputError(f"a gap needs at least one call and a bound of at least one, not {calls} and {bound}.")
    return Fraction(calls, bound)


@dataclass(frozen=True)
class ConditionalBound:
    """What section 1.2.tight gives for particular numbers."""

    calls: float
    """T is at least this."""
    exponent: float
    """x with calls = ((N/M)^2)^x; the paper says 1 - o(1). nan for M = N."""
    assumption: str
    """On what it rests."""


def conditional_bound(
    N: int, M: int, d: int, q: float, seconds_per_step: float = 1.0, attention_constant: float = 1.0
) -> ConditionalBound:
    """T >= attention_constant N^(2-q) / (seconds_per_step M^2 d), from comparing running times.

    The answers of T calls (L = H = L' = H' = 1) take time at most seconds_per_step T M^2 d. If all approximations of
    attention take at least attention_constant N^(2-q), so do these. Neither constant is known; both are 1 unless given.

    The paper's form T >= ((N/M)^2)^(1-o(1)) follows only while N/M is at least a fixed power of N: the loss N^q d is
    N^o(1), which must be a small power of N/M. At M = N/log N, which its regime allows, the bound
    N^(2-q)/(M^2 d) with d = log N falls below 1 for every fixed q once N is large, as `exponent` shows.

    Args:
        N, M, d: sizes, 1 <= M <= N, d = O(log N) being part of the assumption.
        q: how far below quadratic time the assumption is used, 0 < q < 2.
        seconds_per_step, attention_constant: the constants, in the same unit of time.

    Raises:
        InputError: a number is out of these ranges.
    """
    if not 1 <= M <= N or d < 1:
        raise InputError(f"the bound needs 1 <= M <= N and d >= 1, not M = {M}, N = {N}, d = {d}.")
    if not 0 < q < 2 or not seconds_per_step > 0 or not attention_constant > 0:
        raise InputError("the bound needs 0 < q < 2 and positive constants.")
    log_calls = math.log(attention_constant / seconds_per_step) + (2 - q) * math.log(N) - 2 * math.log(M) - math.log(d)
    exponent = log_calls / (2 * math.log(N / M)) if M < N else math.nan
    return ConditionalBound(math.exp(log_calls), exponent, ASSUMPTION)


def _ramp(n: int, r: int) -> int:
    """The sum of min(k, r) over k = 1, ..., n."""
    r = min(r, n)
    return r * n - r * (r - 1) // 2


def _check_mask(N: int, r: int | None, s: int) -> None:
    if N < 1 or s < 0 or (r is not None and r < 1):
        raise InputError(f"a mask needs N >= 1, r >= 1 and s >= 0, not N = {N}, r = {r}, s = {s}.")
    if r is None and s:
        raise InputError(f"s = {s} sinks need a window: give r.")
