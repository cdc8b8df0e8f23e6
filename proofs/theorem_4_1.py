"""Theorem 4.1 / C.1: the estimator is unbiased, and the step from its two events to the relative error.

The probability that the events happen rests on Hoeffding's inequalities, which are cited, not checked; that their
side conditions hold, and what the numbers in the exponents come to, is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import z3

from proofs.induction import Induction
from proofs.mutation import replay_of
from proofs.obligation import Assumption, Hypothesis, Kind, Mutant, Obligation, Subject

__all__ = ["obligations"]

ITEM = "Theorem 4.1"

A, S, x, beta, e = z3.Reals("A S x beta epsilon")
N, M, C, D, total, y, L, mean = z3.Reals("N M C D total y L mean")


def obligations() -> Iterator[Subject]:
    """Unbiasedness, the deterministic step, and the numbers of the Hoeffding steps."""
    yield from _unbiased().obligations()
    yield _combination()
    yield _hoeffding_exponent()
    yield _sample_size()
    yield _union()
    yield Assumption(
        ITEM,
        "hoeffding",
        "For M draws without replacement from N numbers in [a, b] with mean m, the mean of the draws is off from m "
        "by t or more with probability at most 2 exp(-2 M t^2 / (b - a)^2).",
        "Hoeffding, Probability inequalities for sums of bounded random variables, 1963, sections 2 and 6",
    )
    yield Assumption(
        ITEM,
        "hoeffding-vectors",
        "A bound of the same kind for vectors of bounded norm, with a dimension factor, as C.1.vector uses it.",
        "cited by the paper for C.1.vector",
    )


def _unbiased() -> Induction:
    """The expectation of a sum of m draws, each uniform over all N keys, is m/N times the sum over all keys."""

    def grown(now: dict[str, Any], after: dict[str, Any], factor: Any) -> Any:
        return after["expected"] == now["expected"] + factor * mean

    return Induction(
        item=ITEM,
        name="unbiased",
        kind=Kind.ANALYSIS,
        scope="all numbers of keys and of draws, scalar and vector alike by coordinates",
        proves="the expected sum of n draws is n times the mean over all keys",
        statement=lambda n, now: now["expected"] * N == z3.ToReal(n) * total,
        state=("expected",),
        start=lambda now: [Hypothesis("nothing-drawn", now["expected"] == 0)],
        definition=lambda n, now, after: [
            Hypothesis(
                "next-draw",
                grown(now, after, 1),
                "expectation is linear, and each place of a uniformly random permutation is uniform over the keys: "
                "(N-1)! of the N! permutations put a given key there",
            )
        ],
        given=[
            Hypothesis("keys", N >= 1, "there are keys"),
            Hypothesis("mean", mean * N == total, "the mean over all keys"),
        ],
        base_mutants=[
            Mutant(
                "one-drawn",
                "the sum starts with a draw",
                replay_of(z3.Real("expected") * N, z3.RealVal(0)),
                changed=[Hypothesis("nothing-drawn", z3.Real("expected") == mean)],
            )
        ],
        step_mutants=[
            Mutant(
                "biased-draw",
                "a draw twice as heavy",
                replay_of(z3.Real("expected_after") * N, (z3.ToReal(z3.Int("n")) + 1) * total),
                changed=[
                    Hypothesis(
                        "next-draw", z3.Real("expected_after") == z3.Real("expected") + 2 * mean, "twice the mean"
                    )
                ],
            )
        ],
    )


def _combination() -> Obligation:
    def conclusion(limit: Any) -> Any:
        return x * A + beta * z3.If(S >= A, S - A, A - S) <= limit * beta * S

    def events(largest: Any) -> list[Hypothesis]:
        return [
            Hypothesis("accuracy", z3.And(e > 0, e <= largest), "0 < epsilon <= 2"),
            Hypothesis("weight", A > 0, "A, the sum of all weights"),
            Hypothesis("values", beta >= 0, "beta, the norm of the sum of all values"),
            Hypothesis(
                "weights-event",
                z3.And(4 * (S - A) <= e * A, 4 * (A - S) <= e * A),
                "S, the estimated sum of weights, is off by at most epsilon/4 of A, to either side",
            ),
            Hypothesis("values-event", z3.And(x >= 0, 4 * x <= e * beta), "x, the estimated values' error, likewise"),
            Hypothesis("positive", S > 0, "an average of positive weights is positive"),
        ]

    wide = events(3)
    return Obligation(
        item=ITEM,
        name="combination",
        kind=Kind.ANALYSIS,
        scope="all 0 < epsilon <= 2, both signs of 1 - delta",
        hypotheses=events(2),
        goal=conclusion(e),
        proves="x A + beta |A - S| <= epsilon beta S: the estimate is off by at most epsilon, relatively",
        lifting=(
            "with b the estimated and B the true sum of values, b/S - B/A = ((b - B) A + B (A - S))/(S A), of norm at "
            "most (x A + beta |A - S|)/(S A); epsilon <= 2 is where (epsilon/2)/(1 - epsilon/4) is at most epsilon"
        ),
        mutants=[
            Mutant(
                "epsilon-up-to-three",
                "epsilon may be 3",
                replay_of(x * A + beta * z3.If(S >= A, S - A, A - S), e * beta * S),
                changed=[wide[0]],
            ),
            Mutant(
                "half-the-error",
                "the error is at most epsilon/2",
                replay_of(x * A + beta * z3.If(S >= A, S - A, A - S), e / 2 * beta * S),
                conclusion(e / 2),
            ),
        ],
    )


def _hoeffding_exponent() -> Obligation:
    goal = (total * total) * (C * C * C * C) >= (N * N) * (D * D)
    return Obligation(
        item=ITEM,
        name="hoeffding-exponent",
        kind=Kind.ANALYSIS,
        scope="all C >= 1 and N >= 1",
        hypotheses=[
            Hypothesis("bounds", z3.And(C >= 1, N >= 1), "1/C <= a <= C"),
            Hypothesis("range", z3.And(D >= 0, D <= C), "the weights' range D = C - 1/C is at most C"),
            Hypothesis("sum", total * C >= N, "N weights of at least 1/C"),
        ],
        goal=goal,
        proves="(sum a)^2 / (C - 1/C)^2 >= N^2 / C^4, the second inequality of C.1.hoeffding",
        lifting="dividing by (C - 1/C)^2 C^4, for C > 1; for C = 1 all weights are equal and the estimator is exact",
        mutants=[
            Mutant(
                "sum-too-large",
                "the sum taken for at least N",
                replay_of(total * total * (C * C), N * N * (D * D)),
                (total * total) * (C * C) >= (N * N) * (D * D),
            ),
            Mutant(
                "wider-range",
                "a range of 2C",
                replay_of((total * total) * (C * C * C * C), (N * N) * (D * D)),
                changed=[Hypothesis("range", z3.And(D >= 0, D <= 2 * C))],
            ),
        ],
    )


def _sample_size() -> Obligation:
    fourth = C * C * C * C
    return Obligation(
        item=ITEM,
        name="sample-size",
        kind=Kind.ANALYSIS,
        scope="all C >= 1, epsilon > 0, N",
        hypotheses=[
            Hypothesis("bounds", z3.And(C >= 1, e > 0, L >= 0), "L = log(40 N)"),
            Hypothesis("size", M * (e * e) >= 8 * fourth * L, "M >= 8 C^4 log(40 N)/epsilon^2"),
            Hypothesis("exponent", y * (8 * fourth) == (e * e) * M, "y = 2 epsilon^2 M/(16 C^4)"),
        ],
        goal=y >= L,
        proves="the exponent is at least log(40 N), so that the failure probability 2 exp(-y) is at most 1/(20 N)",
        lifting="2 exp(-log(40 N)) = 2/(40 N) = 1/(20 N), the natural logarithm being meant",
        depends_on=[f"{ITEM}/hoeffding", f"{ITEM}/hoeffding-exponent"],
        mutants=[
            Mutant(
                "half-the-size",
                "M >= 4 C^4 log(40 N)/epsilon^2",
                replay_of(y, L),
                changed=[Hypothesis("size", M * (e * e) >= 4 * fourth * L)],
            ),
        ],
    )


def _union() -> Obligation:
    H, layers, failure = z3.Reals("H layers failure")
    one_event = Hypothesis(
        "one-query", 20 * (N * failure) <= 1, "a query's event fails with probability at most 1/(20 N)"
    )
    return Obligation(
        item=ITEM,
        name="union-bound",
        kind=Kind.ANALYSIS,
        scope="one head of one layer",
        hypotheses=[Hypothesis("queries", N >= 1), one_event],
        goal=10 * (2 * (N * failure)) <= 1,
        proves="two events for each of N queries fail with probability at most 0.1, for one head of one layer",
        lifting=(
            "H heads and L layers need 1/(20 N H L) for a query, so log(40 N H L) in place of log(40 N): a condition "
            "that the printed proof leaves out"
        ),
        depends_on=[f"{ITEM}/sample-size", f"{ITEM}/hoeffding-vectors"],
        mutants=[
            Mutant(
                "two-heads",
                "the same for the heads of a layer",
                replay_of(2 * (N * failure) * H, z3.RealVal("1/10")),
                z3.Implies(z3.And(H >= 2, layers >= 1), 10 * (2 * (N * failure) * H) <= 1),
            ),
        ],
    )
