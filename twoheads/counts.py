"""What a construction costs for one head, in closed form: every number that its oracle's ledger would show.

All in N, M, the head's shapes (d, m, d_v), r and s; the calls come from the constructions' own modules. Tests hold
each against the ledger of a run.
"""

from __future__ import annotations

from dataclasses import dataclass

from twoheads import lemma_3_1, theorem_3_5, theorem_5_1
from twoheads.catalogue import DEFAULTS, Options, construction
from twoheads.oracle import Ledger
from twoheads.schedules import block_length, ceil_div

__all__ = ["HeadShape", "counts"]


@dataclass(frozen=True)
class HeadShape:
    """Tokens (N, d) read by W_Q, W_K (d, m) and W_V (d, d_v)."""

    d: int
    m: int
    d_v: int


def counts(name: str, variant: str, N: int, M: int, shape: HeadShape, options: Options = DEFAULTS) -> Ledger:
    """Calls, rounds, tokens, oracle embedding dimension and parameters of one head's run.

    Args:
        name, variant: of `twoheads.catalogue.CONSTRUCTIONS`.
        N, M: tokens, and the oracle's length.
        shape: the head's.
        options: r and s where the construction has a window.

    Raises:
        InputError: the construction does not take these parameters.
    """
    calls = construction(name).calls(N, M, construction(name).checked(variant), options)
    r, s = min(options.r, N), min(options.s, N) if name == "sink" else 0
    if name == "average-case":
        return _average_case(N, M, variant, shape)
    if name == "quadratic":
        tokens = _quadratic_tokens(N, M, variant)
    elif name == "causal":
        tokens = _causal_tokens(N, M, variant)
    else:
        tokens = _window_tokens(N, M, r, s, variant)
    bits = _code_bits(N, M, r, s) if name in ("window", "sink") and variant == "stable" else 0
    width = 2 * shape.d + 2 + 2 * bits
    returned = {"merged": shape.d_v + 1, "stable": shape.d_v + 2, "separate": shape.d_v + 2}
    values = returned.get(variant, max(1, shape.d_v))
    return Ledger(calls, 1, tokens, width, width * (2 * (shape.m + 1 + bits) + values))


def _average_case(N: int, M: int, variant: str, shape: HeadShape) -> Ledger:
    n = block_length(N, M) if variant == "printed" else min(M, N)
    T = ceil_div(N, n)
    step_2 = 2 * shape.d * (2 * shape.m + shape.d_v)
    if variant == "merged":
        return Ledger(T, 1, T * n, 2 * shape.d, step_2)
    step_1 = (2 * shape.d + 2) * (2 * (shape.m + 1) + 1)
    return Ledger(2 * T, 1, T * (2 * n + 1), 2 * shape.d + 2, max(step_1, step_2))


def _quadratic_tokens(N: int, M: int, variant: str) -> int:
    n = block_length(N, M)
    calls = lemma_3_1.calls(N, M)
    return calls * (2 * n + 1 if variant == "printed" else n + 1)


def _causal_tokens(N: int, M: int, variant: str) -> int:
    n = block_length(N, M)
    T = ceil_div(N, n)
    pairs = T * (T - 1) // 2
    backwards = pairs if n > 1 else 0
    one_call = (T + pairs) * (n + 1) + backwards * n
    if variant in ("merged", "stable"):
        return one_call
    # a second call of each, without the synthetic token; as printed, the unshifted one has a row more
    return 2 * one_call - theorem_3_5.calls(N, M) + (backwards if variant == "printed" else 0)


def _window_tokens(N: int, M: int, r: int, s: int, variant: str) -> int:
    sinks = s + 1 if s else 0
    rest, behind = N - s, max(N - s - r, 0)
    if rest == 0:
        one_call = sinks
    elif variant in ("printed", "merged"):
        n = min(M - 1 - s, rest + r)
        one_call = sinks + ceil_div(rest, n - r) * (2 * n - r + s + 2)
    else:
        G, G_behind = _groups(N, M, r, s, variant)
        one_call = sinks + ceil_div(rest, G * r) * (1 + s + G * r)
        if r > 1 and behind:
            one_call += ceil_div(behind, G_behind * r) * (1 + G_behind * (r - 1))
    if variant == "printed":
        return 2 * one_call - theorem_5_1.calls(N, M, r, s, "merged")
    return one_call


def _groups(N: int, M: int, r: int, s: int, variant: str) -> tuple[int, int]:
    """How many groups share a PREFIX and a SUFFIX call."""
    most = 1 if variant == "separate" else M
    ahead = min((M - 1 - s) // r, ceil_div(N - s, r), most)
    return ahead, min((M - 1) // (r - 1), max(ceil_div(N - s - r, r), 1), most) if r > 1 else 1


def _code_bits(N: int, M: int, r: int, s: int) -> int:
    if N == s:
        return 0
    return (max(_groups(N, M, r, s, "stable")) - 1).bit_length()
