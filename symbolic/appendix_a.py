"""Lemmas A.1 to A.3, derived: constant blocks, sums of rows, and retrieval up to a bounded error."""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Expr, Integer, Piecewise, Symbol, exp

from symbolic.checks import define, follow
from symbolic.derivation import Derivation, Step
from symbolic.on_symbols import computed_step
from symbolic.peaked_row import peaked_row
from symbolic.symbols import N, c, i, indexed, j, positive, size, total
from twoheads import appendix_a
from twoheads.scalars.sympy_expressions import DOMAIN
from twoheads.transformer import Transformer

__all__ = ["constant_block", "retrieval", "row_sum"]

x = indexed("x")


def constant_block() -> Derivation:
    """Lemma A.1.

    Raises:
        StepError: a step does not follow.
    """
    item, d = "Lemma A.1", size("d")
    phi, flag, first, other = indexed("phi"), indexed("f")[i], indexed("U"), indexed("U'")

    def column(U: Expr, number: int, where: str) -> Step:
        return define(f"column {where}", U, Piecewise((0, c <= d), (number, True)), item, "Zero but for its last row.")

    def entry(U: Expr, value: Expr, where: str, reason: str) -> Step:
        product = total(phi[i, c] * U, 1, d + 1, c)
        return follow(f"entries {where}", product, value, item, reason, "phi", f"column {where}")

    return Derivation(
        item,
        "a constant block as phi(X) U",
        (
            "The input MLP knows the position: f_i is 1 for i <= a and 0 after.",
            "The lower right block of U is 1 x (d-b); printed as d x (d-b) it does not fit beside one row of ones.",
        ),
        (
            define("phi", phi[i, c], Piecewise((x[i, c], c <= d), (flag, True)), item, "The token, padded with f_i."),
            column(first[c], 1, "up to b"),
            column(other[c], 0, "past b"),
            entry(first[c], flag, "up to b", "1 in the first a rows and 0 below, whatever the token."),
            entry(other[c], Integer(0), "past b", "0 in every row."),
            computed_step(
                f"run with d = {_D}, a = {_A}, b = {_B}",
                "Phi",
                _block,
                [int(row < _A and column < _B) for row in range(_ROWS) for column in range(_D)],
                item,
                "The code's phi and U, multiplied on symbols, give the block; entries row by row.",
                f"twoheads.appendix_a.constant_block was run on {_ROWS} tokens of symbols",
            ),
        ),
    )


_ROWS, _D, _A, _B = 3, 2, 2, 1


def _block() -> list[Any]:
    phi, U = appendix_a.constant_block(_D, _A, _B, DOMAIN)
    return list(DOMAIN.coordinates(phi(_tokens(_ROWS, _D), np.arange(_ROWS)), U).ravel())


def _tokens(rows: int, d: int) -> np.ndarray:
    return np.array([[Symbol(f"x_{r}{e}", real=True) for e in range(1, d + 1)] for r in range(1, rows + 1)], object)


def row_sum() -> Derivation:
    """Lemma A.2.

    Raises:
        StepError: a step does not follow.
    """
    item, output, prefix = "Lemma A.2", indexed("y")[i, c], indexed("y'")[i, c]
    one = exp(Integer(0))
    value = N * x[j, c]
    X = _tokens(3, 1)
    return Derivation(
        item,
        "the sum of all rows",
        (
            "N tokens exactly; W^Q = W^K = 0 and W^V = N times the identity (the printed keys have two values).",
            "c is a coordinate.",
        ),
        (
            define(
                "row",
                output,
                total(one * value, 1, N) / total(Integer(1), 1, N),
                item,
                "All scores are 0, so all weights are exp(0) = 1; the values are N x_j.",
            ),
            follow("sum", output, total(x[j, c], 1, N), item, "The average of N x_j is the sum of the x_j.", "row"),
            define(
                "row of a causal oracle",
                prefix,
                total(value, 1, i) / total(Integer(1), 1, i),
                "Definition 2.3",
                "Under a causal mask row i sees the first i rows.",
            ),
            follow(
                "prefix",
                prefix,
                N / i * total(x[j, c], 1, i),
                "Definition 2.3",
                "There only the last row, i = N, is the sum of all.",
                "row of a causal oracle",
            ),
            computed_step(
                "run with N = 3, d = 1",
                "Y",
                lambda: _output(appendix_a.row_sum(3, 1, DOMAIN), X),
                [sum(X.ravel())] * 3,
                item,
                "The code's transformer, run on symbols: every row is the sum.",
                "twoheads.appendix_a.row_sum was run on 3 tokens of symbols",
            ),
        ),
    )


def retrieval() -> Derivation:
    """Lemma A.3.

    Raises:
        StepError: a step does not follow.
    """
    item, B, t = "Lemma A.3", positive("B"), size("tau")
    score, key, query = indexed("z")[j], indexed("k")[j, c], indexed("q")[c]
    X, target = _tokens(3, 1), 1
    weights = [exp(2 * (target**2 - (place - target) ** 2)) for place in range(3)]
    return Derivation(
        item,
        "retrieval of the row τ = τ(x_i, i), up to a bounded error",
        (
            "Softmax weights are positive, so retrieval is never exact; B > 0 is a factor chosen beforehand.",
            "The input MLP writes (2 τ, 1) for queries and (j, -j^2) for keys.",
            "x_j is one coordinate of a token, between -X and X; rho is applied afterwards.",
        ),
        (
            define("query", query, Piecewise((2 * B * t, c <= 1), (B, True)), item, "The code of the wanted position."),
            define("key", key, Piecewise((j, c <= 1), (-(j**2), True)), item, "The code of the key's own position."),
            define("score", score, total(query * key, 1, 2, c), item, "Their product."),
            follow(
                "parabola",
                score,
                B * (t**2 - (j - t) ** 2),
                item,
                "Largest at j = τ, and there by at least B, since (j - τ)^2 >= 1 for every other j.",
                "score",
                "query",
                "key",
            ),
            *peaked_row(B, item),
            computed_step(
                "run with N = 3, B = 2, τ = 2",
                "Y",
                lambda: _output(appendix_a.retrieval(lambda _, i: np.full(len(i), target), 2, 1, DOMAIN), X),
                [sum(w * x for w, x in zip(weights, X.ravel(), strict=True)) / sum(weights)] * 3,
                item,
                "The code's transformer, run on symbols, is the softmax average with these scores.",
                "twoheads.appendix_a.retrieval was run on 3 tokens of symbols",
            ),
        ),
    )


def _output(transformer: Transformer, X: np.ndarray) -> list[Any]:
    return list(transformer(X, None, DOMAIN).ravel())
