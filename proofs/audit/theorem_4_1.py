"""Theorem 4.1 / C.1: its statement, its reduction to one head of one layer, and how its two events are combined."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import z3

from proofs.audit.entry import Entry
from proofs.audit.literal import Arithmetic
from proofs.audit.reading import Affects, Reading, Slip, grid
from proofs.audit.theorem_3_4 import a_call_for_each_layer
from proofs.audit.theorem_4_1_calls import UNBIASED, WITHOUT_MOVING
from proofs.audit.theorem_4_1_tails import VECTOR_TAIL
from proofs.induction import Induction
from proofs.mutation import replay_of
from proofs.obligation import Hypothesis, Kind, Mutant

__all__ = ["ENTRIES"]

Numbers = tuple[Any, ...]
HALF = Fraction(1, 2)


def _layers() -> Induction:
    """Errors through layers of which each amplifies a change of its input by at most a factor and adds its own."""
    factor, own = z3.Reals("factor own")

    def grown(now: dict[str, Any], after: dict[str, Any], by: Any) -> Any:
        return after["error"] <= by * now["error"] + own

    return Induction(
        item="C.1.wlog",
        name="layers",
        kind=Kind.ANALYSIS,
        scope="any number of layers, any Lipschitz constant",
        proves="the error is at most (1 + Λ + Λ^2 + ...) times a layer's own, one term for every layer",
        statement=lambda n, now: now["error"] <= own * now["powers"],
        state=("error", "powers"),
        start=lambda now: [Hypothesis("input", z3.And(now["error"] == 0, now["powers"] == 0), "the input is exact")],
        definition=lambda n, now, after: [
            Hypothesis("next-layer", grown(now, after, factor), "Λ times the error before, and the layer's own"),
            Hypothesis("next-power", after["powers"] == factor * now["powers"] + 1),
            Hypothesis(
                "product",
                z3.Implies(now["error"] <= own * now["powers"], factor * now["error"] <= factor * own * now["powers"]),
                "an inequality times the factor, which is not negative",
            ),
        ],
        given=[Hypothesis("signs", z3.And(factor >= 0, own >= 0), "Λ, and the error of a layer on its own input")],
        base_mutants=[
            Mutant(
                "inexact-input",
                "the input has an error of 1",
                replay_of(z3.Real("own") * z3.Real("powers"), z3.Real("error")),
                changed=[Hypothesis("input", z3.And(z3.Real("error") == 1, z3.Real("powers") == 0))],
            )
        ],
        step_mutants=[
            Mutant(
                "power-forgotten",
                "no layer's own error is added up",
                replay_of(own * z3.Real("powers_after"), z3.Real("error_after")),
                changed=[Hypothesis("next-power", z3.Real("powers_after") == factor * z3.Real("powers"))],
            )
        ],
    )


def _failure_of_heads(H: int) -> Fraction:
    """N = 20, M = 2, scores 0, values 0 at two keys and 1 at the others; every head with a permutation of its own.

    A query that meets two keys of mean m is off by |m - 9/10|; more than half of 9/10 for m = 0 only.
    """
    places = list(combinations(range(20), 2))
    failing = 0
    for zeros in places:
        means = [Fraction((2 * c not in zeros) + (2 * c + 1 not in zeros), 2) for c in range(10)]
        failing += any(abs(mean - Fraction(9, 10)) > HALF * Fraction(9, 10) for mean in means)
    return 1 - (1 - Fraction(failing, len(places))) ** H


def _through_two_layers(x: Arithmetic, v: Numbers, tau: Numbers, delta: Any, second: bool) -> Any:
    """Largest relative error after layer 1, or 2, of estimates by M = 1 key; all scores 0 (a = 1, C = 1).

    Layer 1 has the values v and the MLP y - mean(v) + delta, so that all values of layer 2 are delta in T.
    """
    exact = x.number(sum(v)) / len(v)
    estimates = [x.number(v[j - 1]) for j in tau]
    if second:
        values = [y - exact + x.number(delta) for y in estimates]
        exact, estimates = x.number(delta), [values[j - 1] for j in tau]
    return max(abs(y - exact) for y in estimates) / exact


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
            a_call_for_each_layer(1, "As in Theorem 3.4: the count needs H'L' <= H N/M."),
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
        note="C.1.wlog's counterexample is about the paper's algorithm; whether another one does without an "
        "assumption on the MLPs for L >= 2 is open here. The model of §1.1.c has no random bits.",
        repair="L = 1, or layers with a Lipschitz constant and absolute errors (C.1.wlog); log(40 N H L) in place of "
        "log(40 N); where M is below what C, D and ε ask, k calls a chunk on k parts of the sample; H'L' <= H N/M.",
        evidence=[
            *UNBIASED,
            "Theorem 4.1/combination",
            "Theorem 4.1/hoeffding-exponent",
            "Theorem 4.1/sample-size",
            "Theorem 4.1/union-bound",
            *VECTOR_TAIL,
            WITHOUT_MOVING,
        ],
        survives="For L = 1, all ε > 0 and H'L' <= H N/M, by O(N/M H/(H'L')) calls whose constant depends on C, D, ε.",
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
        id="C.1.wlog",
        restatement="It suffices to treat H = L = 1, the heads being computed in parallel.",
        readings=[
            Reading(
                "if one head fails with probability at most 1/10, so do H heads (N = 20, M = 2, scores 0, eighteen "
                "values 1 and two 0, ε = 1/2)",
                grid(H=[1, 2, 3]),
                lambda x, H: x.number(_failure_of_heads(H)),
                lambda x, H: x.number(Fraction(1, 10)),
                "<=",
                Slip(
                    "Probabilities of failure add up: the union bound has to run over the N rows of all HL heads, "
                    "which asks for log(40 N H L) in place of log(40 N).",
                    Affects.PROOF,
                ),
            ),
            Reading(
                "if T's layers satisfy the premise, and layer 1 is estimated within ε = 1/2, so is layer 2 (N = 2, "
                "M = 1, scores 0; values v, then y - mean(v) + δ)",
                grid(v=[(1, 3)], tau=[(1, 2), (2, 1)], delta=[Fraction(1, 4), HALF]),
                lambda x, v, tau, delta: _through_two_layers(x, v, tau, delta, second=True),
                lambda x, v, tau, delta: x.number(HALF),
                "<=",
                Slip(
                    "T's premise is about T's own tokens; from layer 2 on, the algorithm reads estimates, and an MLP "
                    "may amplify their error without bound: by 1/δ here, under every permutation.",
                    Affects.STATEMENT,
                ),
            ),
        ],
        remarks=[
            Reading(
                "in that case layer 1 is within 1/2",
                grid(v=[(1, 3)], tau=[(1, 2), (2, 1)], delta=[Fraction(1, 4), HALF]),
                lambda x, v, tau, delta: _through_two_layers(x, v, tau, delta, second=False),
                lambda x, v, tau, delta: x.number(HALF),
                "<=",
            ),
            Reading(
                "and T satisfies the premise with C = 1 and D = 2/3: D N max|b| <= |sum b| in layer 1; in layer 2 all "
                "values are equal",
                grid(v=[(1, 3)]),
                lambda x, v: x.number(Fraction(2, 3)) * len(v) * max(v),
                lambda x, v: x.number(sum(v)),
                "<=",
            ),
        ],
        note="The example is small, so that a chunk's deviation is large; with K (y - mean) + δ in place of "
        "y - mean + δ it is the same for any deviation other than 0.",
        repair="The union bound over all rows of all heads; for L >= 2 a Lipschitz constant Λ of T's layers, absolute "
        "errors, and the premise for what the algorithm reads: then errors grow to (1 + Λ + ... + Λ^(L-1)) times one "
        "layer's.",
        evidence=["Theorem 4.1/union-bound", "Theorem 4.1/sample-size", *_layers().obligations()],
        survives="H: yes, with that logarithm, at most three times as large for H, L <= N. L: with that assumption.",
        depends=["§1.1.e", "C.1.hoeffding", "C.1.vector"],
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
                Slip("It goes up to 2ε/(4-ε), which is ε for ε = 2.", Affects.PROOF),
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
                Slip("The chain ends at ε = 2; at ε = 4 its 1/(1 - ε/4) has no value.", Affects.PROOF),
            ),
        ],
        repair="|1 - δ| <= ε/(4-ε): the error is at most ε/4 + ε/(4-ε)(1+ε/4) = 2ε/(4-ε) <= ε for ε <= 2; for a larger "
        "ε the claim for 2 is used.",
        evidence=["Theorem 4.1/combination"],
        survives="Yes: for 0 < ε <= 2 with the same constants, and for all ε > 0 with min(ε, 2) in the bounds on M.",
        depends=["C.1.hoeffding", "C.1.vector"],
    ),
]
