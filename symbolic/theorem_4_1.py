"""Theorem 4.1 / C.1, derived: the estimator is unbiased, and what its two events say about the relative error.

The events' probability rests on Hoeffding's inequality, which is cited; the numbers around it are derived.
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
from sympy import Eq, Expr, Integer, Le, Symbol, binomial, exp, log

from symbolic.checks import AtMost, BinomialsAgree, define, follow
from symbolic.derivation import Derivation, Step
from symbolic.on_symbols import Run, computed_step, symbols_of
from symbolic.symbols import N, a, i, indexed, j, n, positive, real, size, total, v
from twoheads import theorem_4_1
from twoheads.oracle import Oracle

__all__ = ["build"]

C, eps, M = positive("C"), positive("epsilon"), positive("M")
c, z, y = (Symbol(name, nonnegative=True) for name in "czy")
alpha = indexed("alpha", nonnegative=True)[i, j]
all_weights = total(a[i, j], 1, N)


def build() -> Derivation:
    """The derivation.

    Raises:
        StepError: a step does not follow.
    """
    return Derivation(
        "Theorem 4.1",
        "attention estimated from N/M calls",
        (
            "One head (C.1.wlog). A query meets the n keys of a uniformly random set of positions.",
            "1/C <= a_{i,j} <= C with C >= 1, and D N max_j ||b_{i,j}|| <= ||sum_j b_{i,j}||.",
            "Cited, not derived: Hoeffding's inequality for draws without replacement, for numbers and for vectors.",
            "Its events: both estimators are right up to a factor between 1 - ε/4 and 1 + ε/4.",
            "v_j is one coordinate of a value, and 0 < ε <= 2.",
        ),
        (*_premise(), *_unbiased(), *_exponent(), *_relative_error()),
    )


def _premise() -> tuple[Step, ...]:
    return (
        define("C", C, 1 + c, "Theorem 4.1", "c >= 0."),
        define("accuracy", eps, 2 / (1 + z), "Theorem 4.1", "Every ε with 0 < ε <= 2 is of this form, z >= 0."),
        define("weights", a[i, j], 1 / C + alpha, "Theorem 4.1", "No weight is below 1/C: α >= 0."),
    )


def _unbiased() -> tuple[Step, ...]:
    item, P = "C.1.unbiased", indexed("P")[j]
    E, E_values = indexed("E")[i], indexed("E'")[i]
    return (
        Step(
            "share of the sets",
            Eq(binomial(N - 1, n - 1) / binomial(N, n), n / N, evaluate=False),
            "Of all sets of n positions, these hold a given position j.",
            item,
            BinomialsAgree(),
        ),
        define("chance", P, n / N, item, "So this is the chance that j is drawn."),
        define("expected weights", E, total(P * a[i, j], 1, N), item, "Expectation is linear, drawn together or not."),
        follow(
            "unbiased weights",
            N / n * E,
            all_weights,
            item,
            "N/n times the sum over the drawn keys estimates the sum over all without bias.",
            "expected weights",
            "chance",
        ),
        define("expected values", E_values, total(P * a[i, j] * v[j], 1, N), "C.1.step2", "The same with values."),
        follow(
            "unbiased values",
            N / n * E_values,
            total(a[i, j] * v[j], 1, N),
            "C.1.step2",
            "Numerator and denominator are unbiased; their quotient is not, and needs the bounds below.",
            "expected values",
            "chance",
        ),
        _average(),
    )


def _average() -> Step:
    """The code's estimator of the weights, averaged over all permutations of 3 positions, n = 2 drawn."""
    X, head = symbols_of(Run("quadratic", "stable", 3, 3))
    orders = [np.array(tau) for tau in permutations(range(3))]

    def averaged() -> list[Any]:
        found = [theorem_4_1.estimates(X, head, Oracle(3), tau).weights for tau in orders]
        return list((sum(found) / Integer(len(orders))).ravel())

    sums = [sum(Symbol(f"a_{row}{column}", positive=True) for column in (1, 2, 3)) for row in (1, 2, 3)]
    return computed_step(
        "average over all permutations, N = 3, n = 2",
        "E",
        averaged,
        sums,
        "C.1.unbiased",
        "The code's own estimates, run on symbols for all 6 permutations: their average is the sum of all weights.",
        "twoheads.theorem_4_1.estimates was run on symbols with N = M = 3 for every permutation",
    )


def _exponent() -> tuple[Step, ...]:
    item, S, spread, d, D = "C.1.hoeffding", positive("S"), positive("W"), size("d"), positive("D")
    beta, theta, M_values = Symbol("beta", nonnegative=True), Symbol("theta", nonnegative=True), positive("M_1")
    least, enough = N / C, positive("M_0")
    gained = least**2 * (2 * theta + theta**2) + (2 * least * beta + beta**2) * (1 + theta) ** 2
    return (
        Step(
            "spread of the weights",
            Le((C - 1 / C) ** 2, C**2),
            "Weights lie between 1/C and C.",
            item,
            AtMost((1 + 4 * c + 2 * c**2) / (1 + c) ** 2, "C"),
        ),
        Step(
            "sum of the weights",
            Le(least, all_weights),
            "No weight is below 1/C.",
            item,
            AtMost(total(alpha, 1, N), "weights"),
        ),
        define("sum", S, least + beta, item, "The sum of the weights, at least N/C: β >= 0."),
        define("spread", spread, C / (1 + theta), item, "The spread C - 1/C, at most C: θ >= 0."),
        Step(
            "exponent at least",
            Le(2 * eps**2 * M / (16 * C**4), 2 * eps**2 * M**2 / (16 * N**2) * S**2 / (M * spread**2)),
            "The exponent of Hoeffding's inequality, with the two bounds put in.",
            item,
            AtMost(eps**2 * M / (8 * N**2 * C**2) * gained, "sum", "spread"),
        ),
        define("draws", enough, 8 * C**4 * log(40 * N) / eps**2, item, "So many draws ..."),
        follow(
            "failure",
            2 * exp(-2 * eps**2 * enough / (16 * C**4)),
            1 / (20 * N),
            item,
            "... fail for one query with at most this probability, and for any of the N with at most 1/20.",
            "draws",
        ),
        define(
            "draws for values",
            M_values,
            128 * (log(d) + log(40) + log(N)) / (eps**2 * D**2),
            "C.1.vector",
            "So many ...",
        ),
        follow(
            "failure for values",
            2 * exp(-(eps**2) * M_values * D**2 / 128),
            1 / (20 * N * d),
            "C.1.vector",
            "... fail with at most this probability: log d is more than is asked for.",
            "draws for values",
        ),
    )


def _relative_error() -> tuple[Step, ...]:
    item, S_a, S_b, A, B = "C.1.combine", real("S_a"), real("S_b"), positive("A"), real("B")
    x, delta, kappa = real("x"), real("delta"), (1 + 2 * z) / (2 * (1 + z))
    upper, lower = eps / (4 - eps), eps / (4 + eps)

    def combined(side: Expr) -> Expr:
        return eps / 4 + side * (1 + eps / 4)

    return (
        define("relative error of the weights", x, y - eps / 4, item, "At least -ε/4 by the event: y >= 0."),
        define("drawn weights", S_a, (1 + x) * n / N * A, item, "The drawn weights' sum, A being the sum of all."),
        define("delta", delta, n * A / (N * S_a), item, "As in the paper, with n = M."),
        follow("delta from x", delta, 1 / (1 + x), item, "Put in.", "delta", "drawn weights"),
        follow(
            "two parts of the error",
            B - S_b * A / S_a,
            (B - N / n * S_b) + (1 - delta) * N / n * S_b,
            item,
            "The first part is at most ε/4 |B| by the event, the factor N/n S_b at most (1 + ε/4) |B|.",
            "delta",
        ),
        follow("lower side", 1 - 1 / (1 + eps / 4), lower, item, "1 - δ where x is largest, as printed."),
        follow("upper side", 1 / (1 - eps / 4) - 1, upper, item, "δ - 1 where x is smallest, which is not printed."),
        Step(
            "delta at most",
            Le(delta - 1, upper),
            "No x of the event gives more.",
            item,
            AtMost(y / (kappa * (kappa + y)), "delta", "drawn weights", "relative error of the weights", "accuracy"),
        ),
        follow(
            "the upper side is larger",
            upper - lower,
            2 * eps**2 / (16 - eps**2),
            item,
            "So the printed bound of |1 - δ| by the lower side does not hold.",
        ),
        follow("sum as printed", combined(lower), eps / 2, item, "What the printed bound adds up to."),
        Step(
            "relative error at most",
            Le(combined(upper), eps),
            "With the larger side the sum still is at most ε, as long as ε <= 2.",
            item,
            AtMost(2 * z / ((1 + z) * (1 + 2 * z)), "accuracy"),
        ),
    )
