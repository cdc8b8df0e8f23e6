"""Theorem 3.4 / B.4: L layers and H heads by calls to an oracle of L' layers and H' heads."""

from __future__ import annotations

from fractions import Fraction

from proofs.audit.entry import Entry
from proofs.audit.reading import Affects, Reading, Slip, grid
from twoheads.schedules import ceil_div

__all__ = ["ENTRIES", "a_call_for_each_layer", "a_token_for_the_mlp"]


def _bound(N: int, M: int, H: int, L: int, K: int, power: int = 2) -> Fraction:
    """(N/M)^power HL/(H'L') with K = H'L'."""
    return Fraction(N, M) ** power * Fraction(H * L, K)


def _calls(N: int, M: int, H: int, L: int, K: int) -> int:
    """One call for every pair of blocks and head, K to a call, layer after layer."""
    return L * ceil_div(H * (N // M) ** 2, K)


_SIZES = grid(
    lambda N, M, H, L, K: N % M == 0, N=[2, 4, 8], M=[2, 4], H=[1, 2, 4], L=[1, 2, 4], K=[1, 2, 4, 8, 16, 32, 64]
)


def a_call_for_each_layer(power: int, slip: str, theorem: str) -> Reading:
    """The bound O((N/M)^power HL/(H'L')), held against the L calls that L layers need one after the other."""
    return Reading(
        "the count, with the constant 8 for the O, is at least one call for each of the L layers",
        _SIZES,
        lambda x, N, M, H, L, K: 8 * _bound(N, M, H, L, K, power),
        lambda x, N, M, H, L, K: L,
        ">=",
        Slip(slip, Affects.STATEMENT, theorem=theorem),
    )


def a_token_for_the_mlp(slip: str, theorem: str) -> Reading:
    """The embedding dimension O(dH'L'/H), held against what a layer MLP reads."""
    return Reading(
        "a token of embedding dimension c d H'L'/H holds the d numbers that a layer MLP may depend on (c <= 4)",
        grid(lambda c, d, H, K: d % H == 0, c=[1, 2, 4], d=[1, 2, 4, 8], H=[1, 2, 4, 8], K=[1, 2]),
        lambda x, c, d, H, K: Fraction(c * d * K, H),
        lambda x, c, d, H, K: d,
        ">=",
        Slip(slip, Affects.STATEMENT, theorem=theorem),
    )


ENTRIES = [
    Entry(
        id="Theorem 3.4 / B.4",
        restatement="A transformer of L layers and H heads is simulated by O((N/M)^2 HL/(H'L')) calls to an oracle "
        "of L' layers, H' heads and embedding dimension O(dH'L'/H).",
        readings=[
            a_call_for_each_layer(
                2,
                "Layers are computed one after the other, each by at least one call, however large the oracle: the "
                "count needs H'L' <= H (N/M)^2.",
                "B_4_fewer_calls_than_layers",
            ),
            a_token_for_the_mlp(
                "If H'L' is much less than H, a token is too narrow for the layer MLP, as in Corollary 3.2.",
                "B_4_token_is_too_narrow",
            ),
        ],
        remarks=[
            Reading(
                "within H'L' <= H (N/M)^2 rounding up costs less than a factor 2",
                [case for case in _SIZES if case["K"] <= case["H"] * (case["N"] // case["M"]) ** 2],
                lambda x, N, M, H, L, K: _calls(N, M, H, L, K),
                lambda x, N, M, H, L, K: 2 * _bound(N, M, H, L, K),
                "<",
            )
        ],
        repair="Add the range H'L' <= H (N/M)^2 (or the summand L), and embedding dimension O(d + dH'L'/H); for L' "
        ">= 2 the repair of Lemma 3.3.",
        evidence=[
            "Theorem 3.4/heads-packed",
            "Theorem 3.4/heads-packed-once",
            "Theorem 3.4/layers-base",
            "Theorem 3.4/layers-step",
            "Theorem 3.4/count-layer",
            "Theorem 3.4/count-constant",
        ],
        survives="With MLPs and sums outside the oracle, and L' = 1 or residual connections: exact, at most "
        "8 (N/M)^2 HL/(H'L') calls for 2 <= M <= N and H'L' <= H (N/M)^2.",
        parts=["Lemma 3.1 / B.1", "Corollary 3.2 / B.2", "Lemma 3.3 / B.3"],
        depends=["Lemma 3.1 / B.1", "Corollary 3.2 / B.2", "Lemma 3.3 / B.3"],
    )
]
