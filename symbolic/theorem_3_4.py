"""Corollary 3.2 and Theorem 3.4 / B.4, derived: whole transformers, layer by layer, and what they cost."""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Le, Symbol

from symbolic.checks import AtMost, define, follow
from symbolic.derivation import Derivation, Step
from symbolic.on_symbols import computed_step
from symbolic.symbols import N, T, n, positive, size
from twoheads import theorem_3_4
from twoheads.oracle import Oracle
from twoheads.scalars.sympy_expressions import DOMAIN
from twoheads.transformer import Head, Layer, Transformer

__all__ = ["build"]

H, L, K, M = size("H"), size("L"), size("K"), size("M")
lacking, spare, longer, empty, full = (size(name, zero=True) for name in ("g", "h", "y", "g'", "h'"))
calls = positive("C")
ITEM = "Theorem 3.4"


def build() -> Derivation:
    """The derivation.

    Raises:
        StepError: a step does not follow.
    """
    return Derivation(
        ITEM,
        "whole transformers: outputs by composition, calls by packing",
        (
            "Every head is simulated exactly (Lemma 3.1, Theorem 3.5 or 5.1) and packed exactly (Lemma 3.3).",
            "Then every layer reads what the large transformer's layer reads, by induction over the layers.",
            "A head takes T^2 calls of one length (Lemma 3.1, merged or stable); K = H'L' of them fit one call.",
            "M <= N; the layer MLPs are applied outside the oracle.",
        ),
        (*_one_head(), *_all_heads(), *_runs()),
    )


def _one_head() -> tuple[Step, ...]:
    item = "Lemma 3.1"
    return (
        define("block length", n, lacking + spare + 1, item, "n = M - 1; the last block lacks g <= n - 1 positions."),
        define("oracle length", M, n + 1, item, "One place is the synthetic token's."),
        define("positions", N, M + longer, "§1.1.a", "N is at least M."),
        Step(
            "blocks at most",
            Le((N + lacking) / n, 2 * N / M),
            "N/n rounded up, which is (N + g)/n, is at most twice N/M: the constant of one head is 4.",
            item,
            AtMost(
                (longer * (n - 1) + (n + 1) * spare) / (n * (n + 1)),
                "positions",
                "oracle length",
                "block length",
            ),
        ),
    )


def _all_heads() -> tuple[Step, ...]:
    per_layer = (H * T**2 + empty) / K
    return (
        define("capacity", K, empty + full + 1, "Lemma 3.3", "A layer's last call leaves g' <= K - 1 places empty."),
        define("calls", calls, L * per_layer, ITEM, "Of each of L layers: H T^2 calls, K at a time, rounded up."),
        follow(
            "bound and rounding",
            calls,
            H * L * T**2 / K + L * empty / K,
            ITEM,
            "HL/(H'L') times the calls of one head, and the places that stay empty.",
            "calls",
        ),
        Step(
            "calls at most",
            Le(calls, H * L * T**2 / K + L),
            "Rounding costs less than one call a layer, so with T <= 2N/M there are at most "
            "4 (N/M)^2 HL/(H'L') + L calls. The bound without + L needs H'L' <= H (N/M)^2.",
            ITEM,
            AtMost(L * (full + 1) / K, "calls", "capacity"),
        ),
    )


def _large(L: int, H: int) -> Transformer:
    """Heads side by side on one coordinate each, W_V = 1, W_K = 1 and W_Q a symbol of the head."""
    one = np.array([[1]], dtype=object)

    def head(layer: int, lane: int) -> Head:
        W_Q = np.array([[Symbol(f"W_{layer}{lane}", real=True)]], dtype=object)
        return Head(W_Q, one, one, columns=slice(lane - 1, lane))

    return Transformer([Layer([head(layer, lane) for lane in range(1, H + 1)]) for layer in range(1, L + 1)])


def _tokens(N: int, d: int) -> np.ndarray:
    return np.array([[Symbol(f"x_{i}{e}", real=True) for e in range(1, d + 1)] for i in range(1, N + 1)], dtype=object)


def _run(L: int, H: int, L_small: int, H_small: int) -> Step:
    X, large = _tokens(2, H), _large(L, H)

    def differences() -> list[Any]:
        oracle = Oracle(3, L_small=L_small, H_small=H_small)
        return list((theorem_3_4.simulate(X, large, oracle) - large(X, None, DOMAIN)).ravel())

    return computed_step(
        f"run with L = {L}, H = {H}, L' = {L_small}, H' = {H_small}",
        "D",
        differences,
        [0] * X.size,
        ITEM,
        "The simulator's output on symbols, minus the large transformer's own; entries row by row.",
        "twoheads.theorem_3_4.simulate was run on 2 tokens with an oracle of M = 3",
    )


def _runs() -> tuple[Step, ...]:
    return (_run(1, 2, 1, 2), _run(1, 2, 2, 1), _run(2, 1, 1, 1))
