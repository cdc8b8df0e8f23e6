"""Lemma 3.3 / B.3, derived for one lane of two layers: independent instances packed into one transformer.

The printed packing averages what waits; the residual one is exact; the passing ones are close, by a proved bound.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Identity, MatrixSymbol, Piecewise, Symbol, ZeroMatrix, exp

from symbolic.blocks import blocks, blocks_agree
from symbolic.checks import define, follow
from symbolic.derivation import Derivation, Step
from symbolic.on_symbols import computed_step
from symbolic.peaked_row import peaked_row
from symbolic.symbols import c, indexed, positive, size, total
from twoheads.lemma_3_3 import PackedOracle
from twoheads.oracle import Batch, Oracle
from twoheads.transformer import single_head

__all__ = ["build"]

n, w = size("n"), size("w")
X_1, X_2, Y = (MatrixSymbol(name, n, w) for name in ("X_1", "X_2", "Y"))
P, P_2, W_V, W = MatrixSymbol("P", n, n), MatrixSymbol("P_2", n, n), MatrixSymbol("W_V", w, w), MatrixSymbol("W", w, w)
zero, one = ZeroMatrix(w, w), Identity(w)
ITEM = "B.3.construction"


def build() -> Derivation:
    """The derivation.

    Raises:
        StepError: a step does not follow.
    """
    return Derivation(
        "Lemma 3.3",
        "independent instances in the layers of one transformer",
        (
            "One lane of two layers: instance 1 is computed by layer 1, instance 2 by layer 2.",
            "Lanes stand side by side, each with heads of its own; more layers repeat the step.",
            "P is the softmax matrix of instance 1: every layer 1 head can only return P times its values.",
            "Passing packings: no coordinate of a token is above X in absolute value; N is the number of tokens.",
        ),
        (*_printed(), *_residual(), *_passing(), *_runs()),
    )


def _printed() -> tuple[Step, ...]:
    return (
        blocks_agree(
            "each head reads its own columns",
            blocks([X_1, X_2]) * blocks([W], [zero]),
            X_1 * W,
            ITEM,
            "W' = [W; 0] for W^Q, W^K and W^V: instance 2 does not enter the scores of instance 1.",
        ),
        blocks_agree(
            "printed: what waits is averaged",
            P * blocks([X_1, X_2]) * blocks([W_V, zero], [zero, one]),
            blocks([P * X_1 * W_V, P * X_2]),
            "3.3.sketch",
            "Value weights that are the identity on the other columns do not pass them on: layer 2 reads P X_2 instead "
            "of X_2.",
        ),
        blocks_agree(
            "printed: what is done is averaged, too",
            P_2 * blocks([Y, P * X_2]) * blocks([one, zero], [zero, W_V]),
            blocks([P_2 * Y, P_2 * P * X_2 * W_V]),
            "3.3.sketch",
            "Layer 2, whose softmax matrix is P_2, does the same to the output Y of instance 1. Right only where "
            "P X_2 = X_2 and P_2 Y = Y.",
        ),
    )


def _residual() -> tuple[Step, ...]:
    return (
        blocks_agree(
            "residual: the layer MLP keeps what waits",
            blocks([Y, X_1, X_2]) * blocks([one, zero], [zero, zero], [zero, one]),
            blocks([Y, X_2]),
            "3.3.sketch, repaired",
            "A layer that sees its own input beside the head's output Y = P X_1 W_V takes X_2 from there, unchanged.",
        ),
        blocks_agree(
            "layer 2 reads instance 2",
            blocks([Y, X_2]) * blocks([zero], [W]),
            X_2 * W,
            ITEM,
            "So its queries, keys and values are those of instance 2 alone.",
        ),
    )


def _passing() -> tuple[Step, ...]:
    bits, B, k, same = size("h", zero=True), positive("B"), size("k"), indexed("sigma")[c]
    item = "3.3.sketch, repaired"
    code, product = Symbol("z", real=True), Symbol("z'", real=True)
    return (
        define(
            "product of two codes",
            same,
            Piecewise((-1, c <= k), (1, True)),
            item,
            "Without a residual connection a further head passes X_2 on. Positions have codes of signs; the codes of "
            "two positions differ in k >= 1 coordinates, put first here.",
        ),
        define("own score", code, B * (k + bits), item, "k + h coordinates in all, every product of signs being 1."),
        define("other score", product, B * total(same, 1, k + bits, c), item, "B times the product of the codes."),
        follow(
            "gap",
            code - product,
            2 * B * k,
            item,
            "A token scores at least 2 B more on itself than on any other.",
            "own score",
            "other score",
            "product of two codes",
        ),
        *peaked_row(2 * B, item),
    )


def _two_instances() -> list[np.ndarray]:
    """Two instances of two tokens of one coordinate, all their matrices being 1."""
    return [np.array([[[Symbol(f"{name}_{i}", real=True)] for i in (1, 2)]], dtype=object) for name in "xy"]


def _packed(packing: str) -> list[Any]:
    one = np.array([[1]], dtype=object)
    oracle = PackedOracle(Oracle(2, L_small=2), packing)
    answers = oracle.round([Batch(tokens, single_head(one, one, one)) for tokens in _two_instances()])
    return [entry for answer in answers for entry in answer.ravel()]


def _softmax(tokens: np.ndarray) -> np.ndarray:
    """The softmax matrix of an instance, all its matrices being 1."""
    weights = np.array([[exp(score) for score in row] for row in tokens * tokens.T], dtype=object)
    return weights / weights.sum(axis=1, keepdims=True)


def _runs() -> tuple[Step, ...]:
    first, second = (tokens[0] for tokens in _two_instances())
    averaged, done = _softmax(first) @ second, _softmax(first) @ first
    wrong = [*(_softmax(averaged) @ done).ravel(), *(_softmax(averaged) @ averaged).ravel()]
    how = "twoheads.lemma_3_3.PackedOracle was asked for both instances in one call of an oracle with L' = 2, H' = 1"
    return (
        computed_step(
            "run of the residual packing",
            "Y_residual",
            lambda: _packed("residual"),
            [*done.ravel(), *(_softmax(second) @ second).ravel()],
            "Lemma 3.3",
            "The code's packed call, on symbols, returns both instances' own attention.",
            how,
        ),
        computed_step(
            "run of the printed packing",
            "D_printed",
            lambda: [ours - its for ours, its in zip(_packed("printed"), wrong, strict=True)],
            [0] * len(wrong),
            "Lemma 3.3",
            "As printed the call returns P_2 Y and P_2 P X_2, for P_2 the softmax matrix of P X_2: the difference to "
            "these is 0.",
            how,
        ),
    )
