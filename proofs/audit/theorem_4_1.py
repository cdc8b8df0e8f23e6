"""Theorem 4.1 / C.1: its statement, and how its two events are combined."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs.audit.entry import Entry
from proofs.audit.literal import Arithmetic
from proofs.audit.reading import Affects, Reading, Slip, grid
from proofs.audit.theorem_3_4 import a_call_for_each_layer
from proofs.audit.theorem_4_1_calls import UNBIASED, WITHOUT_MOVING
from proofs.audit.theorem_4_1_tails import VECTOR_TAIL

__all__ = ["ENTRIES"]

Numbers = tuple[Any, ...]
HALF = Fraction(1, 2)


def _estimate_off(x: Arithmetic, a: Numbers, v: Numbers) -> Any:
    """Relative error of the estimate from key 1 alone, N = 2, M = 1."""
    exact = sum(x.number(p) * x.number(q) for p, q in zip(a, v, strict=True)) / sum(map(x.number, a))
    return abs(x.number(v[0]) - exact) / exact


def _within_quarter(a: Numbers, v: Numbers, eps: Any) -> bool:
    """Whether both events of C.1 happen for the estimates from key 1 alone: sums within eps/4."""
    b = [p * q for p, q in zip(a, v, strict=True)]
    return all(4 * abs(2 * sums[0] - sum(sums)) <= eps * sum(sums) for sums in (a, b))


def _delta(x: Arithmetic, a: Numbers) -> Any:
    """M sum_j a / (N sum_{S_t} a) for N = 2, M = 1."""
    return sum(map(x.number, a)) / (2 * x.number(a[0]))


_SPLITS = [Fraction(n, 4) for n in range(1, 8)]  # of a total of 2
_PAIRS = [(Fraction(p), 2 - Fraction(p)) for p in _SPLITS]
_VALUES = [(b1 / p, (2 - b1) / (2 - p)) for p in _SPLITS for b1 in _SPLITS]
_ESTIMATES = grid(_within_quarter, a=_PAIRS, v=_VALUES, eps=[1, 2])
_WIDE = grid(_within_quarter, a=_PAIRS, v=_VALUES, eps=[3])

ENTRIES = [
    Entry(
        id="Theorem 4.1 / C.1",
        restatement="If 1/C <= a_{i,j} <= C and D N max_j ||b_{i,j}|| <= ||sum_j b_{i,j}||, then O(N/M HL/(H'L')) "
        "calls approximate every row of T up to a factor 1 + ε with probability 0.9.",
        readings=[
            a_call_for_each_layer(
                1, "As in Theorem 3.4: the count needs H'L' <= H N/M.", "C_1_fewer_calls_than_layers"
            ),
        ],
        remarks=[
            Reading(
                "the premise is not empty: equal scores and values have C = D = 1",
                grid(N=range(1, 9)),
                lambda x, N: N * max([1] * N),
                lambda x, N: sum([1] * N),
                "<=",
            )
        ],
        note="A factor 1 + ε for a fixed ε, with probability 0.9: not what §1.1.e calls to simulate. The oracle is not "
        "causal, and M | N is assumed (C.1.unbiased). C.1.wlog's counterexample is about the paper's algorithm; "
        "whether another one does without an assumption on the MLPs is open here. The model of §1.1.c has no random "
        "bits.",
        repair="L = 1 without an MLP after it, or layers with a Lipschitz constant and absolute errors (C.1.wlog); "
        "log(40 N H L) in place of log(40 N); where M is below what C, D and ε ask, k calls a chunk on k parts of the "
        "sample; H'L' <= H N/M.",
        evidence=[
            *UNBIASED,
            "Theorem 4.1/combination",
            "Theorem 4.1/hoeffding-exponent",
            "Theorem 4.1/sample-size",
            "Theorem 4.1/union-bound",
            *VECTOR_TAIL,
            WITHOUT_MOVING,
        ],
        survives="For L = 1 without an MLP after it, all ε > 0 and H'L' <= H N/M, by O(N/M H/(H'L')) calls whose "
        "constant depends on C, D, ε.",
        parts=[
            "C.1.wlog",
            "C.1.permute",
            "C.1.step1",
            "C.1.unbiased",
            "C.1.hoeffding",
            "C.1.step2",
            "C.1.vector",
            "C.1.combine",
        ],
        depends=["§1.1.a", "§1.1.e", "Lemma 3.3 / B.3"],
    ),
    Entry(
        id="C.1.combine",
        restatement="If both sums are within ε/4, the quotient is within ε.",
        readings=[
            Reading(
                "the error is at most ε/4 + (1-δ)(1+ε/4), relatively (N = 2, M = 1, key 1 drawn)",
                _ESTIMATES,
                lambda x, a, v, eps: _estimate_off(x, a, v),
                lambda x, a, v, eps: x.number(eps) / 4 + (1 - _delta(x, a)) * (1 + x.number(eps) / 4),
                "<=",
                Slip(
                    "For δ > 1 the factor 1 - δ is negative; |1 - δ| is meant, and goes up to ε/(4-ε), not only to "
                    "ε/(4+ε).",
                    Affects.PROOF,
                    theorem="C_1_combine_needs_an_absolute_value",
                ),
            ),
            Reading(
                "the third bound, ε/4 + ε/(4+ε)(1+ε/4), is ε/2",
                grid(eps=[Fraction(n, 8) for n in range(1, 40)]),
                lambda x, eps: (e := x.number(eps)) / 4 + e / (4 + e) * (1 + e / 4),
                lambda x, eps: x.number(eps) / 2,
            ),
            Reading(
                "the error is at most that bound",
                _ESTIMATES,
                lambda x, a, v, eps: _estimate_off(x, a, v),
                lambda x, a, v, eps: x.number(eps) / 2,
                "<=",
                Slip(
                    "It goes up to 2ε/(4-ε), which is ε for ε = 2.",
                    Affects.PROOF,
                    theorem="C_1_combine_bound_is_too_small",
                ),
            ),
            Reading(
                "the error is at most ε, for 0 < ε <= 2",
                _ESTIMATES,
                lambda x, a, v, eps: _estimate_off(x, a, v),
                lambda x, a, v, eps: x.number(eps),
                "<=",
            ),
            Reading(
                "the error is at most ε, for ε = 3",
                _WIDE,
                lambda x, a, v, eps: _estimate_off(x, a, v),
                lambda x, a, v, eps: x.number(eps),
                "<=",
                Slip(
                    "The chain ends at ε = 2; at ε = 4 its 1/(1 - ε/4) has no value.",
                    Affects.PROOF,
                    theorem="C_1_combine_passes_epsilon",
                ),
            ),
        ],
        repair="|1 - δ| <= ε/(4-ε): the error is at most ε/4 + ε/(4-ε)(1+ε/4) = 2ε/(4-ε) <= ε for ε <= 2; for a larger "
        "ε the claim for 2 is used.",
        evidence=["Theorem 4.1/combination"],
        survives="Yes: for 0 < ε <= 2 with the same constants, and for all ε > 0 with min(ε, 2) in the bounds on M.",
        depends=["C.1.hoeffding", "C.1.vector"],
    ),
]
