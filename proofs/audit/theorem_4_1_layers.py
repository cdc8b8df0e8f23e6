"""C.1.wlog: Theorem 4.1 for many heads, many layers and MLPs, by the case of one head."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations
from typing import Any

import z3

from proofs.audit.entry import Entry
from proofs.audit.literal import Arithmetic
from proofs.audit.reading import Affects, Reading, Slip, grid
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


def _through_mlp(x: Arithmetic, v: Numbers, tau: Numbers, delta: Any) -> Any:
    """Largest relative error of ψ(y) = y - mean(v) + delta, y the same estimates; it is delta in T."""
    exact = x.number(sum(v)) / len(v)
    return max(abs(x.number(v[j - 1]) - exact) for j in tau) / x.number(delta)


def _without_mlp(x: Arithmetic, v: Numbers, tau: Numbers, delta: Any) -> Any:
    """Layer 2's largest relative error in the same example, its W^V = (1, delta - mean(v)) in place of an MLP.

    Tokens are (v_j, 1), and so are the estimates of layer 1.
    """
    column = x.array([[1], [x.number(delta) - x.number(sum(v)) / len(v)]])
    tokens = x.array([[v[j - 1], 1] for j in tau])
    estimates = [(tokens @ column)[j - 1, 0] for j in tau]
    return max(abs(y - x.number(delta)) for y in estimates) / x.number(delta)


def _with_one_permutation(x: Arithmetic, v: Numbers, anew: bool) -> Any:
    """The mean over all permutations of row 1 after two layers; N = 2, M = 1, scores 0."""
    orders = list(permutations(range(len(v))))
    rows = [v[first[second[0]]] for first in orders for second in (orders if anew else [first])]
    return sum(map(x.number, rows)) / len(rows)


ENTRIES = [
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
                    theorem="C_1_wlog_heads_fail_more_often",
                ),
            ),
            Reading(
                "if the attention is estimated within ε = 1/2, so is T(X) = ψ(attention), L = 1 (N = 2, M = 1, "
                "scores 0, values v, ψ(y) = y - mean(v) + δ)",
                grid(v=[(1, 3)], tau=[(1, 2), (2, 1)], delta=[Fraction(1, 4), HALF]),
                _through_mlp,
                lambda x, v, tau, delta: x.number(HALF),
                "<=",
                Slip(
                    "Exactly simulated, the MLPs may be left out (B.1.wlog); estimated, they may not: ψ amplifies a "
                    "relative error without bound, by 1/δ here, where its value is small.",
                    Affects.STATEMENT,
                    theorem="C_1_wlog_psi_amplifies",
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
                    theorem="C_1_wlog_errors_grow_without_bound",
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
                "without MLPs it is the same: tokens (v_j, 1), and W^V = (1, δ - mean(v)) in layer 2",
                grid(v=[(1, 3)], tau=[(1, 2), (2, 1)], delta=[Fraction(1, 4), HALF]),
                _without_mlp,
                lambda x, v, tau, delta: _through_two_layers(x, v, tau, delta, second=True),
            ),
            Reading(
                "drawn anew for layer 2, permutations make its estimate the mean, on the average (N = 2, M = 1)",
                grid(v=[(0, 1), (1, 3)]),
                lambda x, v: _with_one_permutation(x, v, anew=True),
                lambda x, v: x.number(sum(v)) / 2,
            ),
            Reading(
                "with layer 1's permutation it is v_1 always, since τ(τ(1)) = 1",
                grid(v=[(0, 1), (1, 3)]),
                lambda x, v: _with_one_permutation(x, v, anew=False),
                lambda x, v: x.number(v[0]),
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
        note="One permutation for all heads of a layer is enough, one for all layers is not: layer 2 would read rows "
        "that depend on it. The example is small, so that a chunk's deviation is large; with K (y - mean) + δ in place "
        "of y - mean + δ it is the same for any deviation other than 0.",
        repair="The union bound over all rows of all heads; a permutation for each layer; a Lipschitz constant Λ of "
        "T's layers, absolute errors, and the premise for what the algorithm reads: then errors grow to (1 + Λ + ... + "
        "Λ^(L-1)) times one layer's.",
        evidence=["Theorem 4.1/union-bound", "Theorem 4.1/sample-size", *_layers().obligations()],
        survives="H: yes, with that logarithm, at most three times as large for H, L <= N. L, and MLPs: with that "
        "assumption.",
        depends=["§1.1.e", "C.1.hoeffding", "C.1.vector"],
    ),
]
