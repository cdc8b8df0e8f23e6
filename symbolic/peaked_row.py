"""A softmax row that is close to one of its tokens: how far the output is from it. Shared by A.3 and Lemma 3.3."""

from __future__ import annotations

from sympy import Expr, Le, Symbol, exp

from symbolic.checks import AtMost, define, follow
from symbolic.derivation import Step
from symbolic.symbols import N, indexed, j, real, total

__all__ = ["peaked_row"]

x, omega = indexed("x"), indexed("omega", positive=True)
below, lighter = indexed("g", nonnegative=True), indexed("zeta", nonnegative=True)
target, output = real("x_0"), real("y")
above, largest = Symbol("h", nonnegative=True), Symbol("X", nonnegative=True)


def _others(summand: Expr) -> Expr:
    """The sum over the N - 1 tokens that are not the target."""
    return total(summand, 1, N - 1)


def peaked_row(gap: Expr, item: str) -> tuple[Step, ...]:
    """Steps to |y - x_0| <= 2 X (N - 1) exp(-gap), for one coordinate of a row.

    Args:
        gap: by how much the target's score is above every other one, at least.
        item: the paper's item.
    """
    S = _others(omega[j])
    moved = _others(omega[j] * (x[j] - target)) / (1 + S)
    return (
        define("other tokens", x[j], largest - below[j], item, "No coordinate is above X, g_j >= 0; j counts them."),
        define("target", target, above - largest, item, "None is below -X: h >= 0."),
        define(
            "other weights",
            omega[j],
            exp(-gap) / (1 + lighter[j]),
            item,
            "Relative to the target's weight. Their scores are lower by at least the gap: ζ_j >= 0.",
        ),
        define(
            "row",
            output,
            (target + _others(omega[j] * x[j])) / (1 + S),
            item,
            "One coordinate of the output.",
        ),
        follow("deviation", output - target, moved, item, "Only the other tokens' shares move the output.", "row"),
        Step(
            "deviation at most",
            Le(moved, 2 * largest * S),
            "In one direction; the other one follows with all signs changed.",
            item,
            AtMost((2 * largest * S**2 + _others(omega[j] * (below[j] + above))) / (1 + S), "other tokens", "target"),
        ),
        Step(
            "shares at most",
            Le(S, (N - 1) * exp(-gap)),
            "Added up. So the output is within 2 X (N - 1) exp(-gap) of the target.",
            item,
            AtMost(_others(omega[j] * lighter[j]), "other weights"),
        ),
    )
