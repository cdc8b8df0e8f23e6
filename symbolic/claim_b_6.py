"""Claim B.6, derived: one call of a causal oracle gives the sums over the keys up to each query."""

from __future__ import annotations

from sympy import Integer

from symbolic.checks import define, follow
from symbolic.derivation import Derivation
from symbolic.on_symbols import Run, simulation_steps
from symbolic.oracle_row import Row, outputs, recovery, weights_of
from symbolic.symbols import a, ell, i, indexed, j, total, v

__all__ = ["build"]

Y_i = indexed("Y")[i]
A, B, out, R, w = (indexed(name)[i] for name in "ABORw")
ROW = Row(indexed("e")[i, ell], Integer(1), i, ell - 1, A, B, out, R, w, "B.6.ratio")
"""Row i of the data: the oracle's mask shows it the synthetic token and the keys 1, ..., i."""

RUNS = [Run("causal", variant, 2, 3) for variant in ("repaired", "merged", "stable")]


def build() -> Derivation:
    """The derivation.

    Raises:
        StepError: a step does not follow.
    """
    keys = total(a[i, j], 1, i)
    return Derivation(
        "Claim B.6",
        "prefix sums from one call to a causal oracle",
        (
            "One head; the weights a_{i,j} = exp(<q_i, k_j>) are positive; numbers of unlimited precision.",
            "The oracle has a causal mask (Definition 2.3) and reads M >= 2 tokens.",
            "The call holds one synthetic token of weight a, then at most M - 1 tokens in order.",
        ),
        (
            define("A", A, keys, "Claim B.6", "The weights of the keys up to the query's own."),
            define("B", B, total(a[i, j] * v[j], 1, i), "Claim B.6", "The same, times the values."),
            weights_of(ROW),
            *outputs(ROW, "weights of a row", "A", "B"),
            *recovery(ROW, "A"),
            define(
                "causal attention",
                Y_i,
                total(a[i, j] * v[j], 1, i) / keys,
                "Definition 2.3",
                "What the large transformer computes at a position of the first block.",
            ),
            follow(
                "attention of the first block",
                Y_i,
                out / R,
                "Claim B.6",
                "In the first block one call is enough: the denominators of O and R are the same.",
                "causal attention",
                "O",
                "R",
                "A",
                "B",
            ),
            follow(
                "a key too many in the printed denominator",
                total(a[i, j], 1, i + 1) - keys,
                a[i, i + 1],
                "B.6.ratio",
                "Printed for row i, the sum in the last denominator ends at i + 1 and not at i. No row i of a causal "
                "oracle holds this term, so the printed equality cannot hold.",
            ),
            *simulation_steps(
                *(Run("causal", name, 2, 3) for name in ("repaired", "merged", "stable")), item="Claim B.6"
            ),
        ),
    )
