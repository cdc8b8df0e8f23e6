"""Derived formulas as NumPy functions: what the derivations say can be held against what the numeric layer computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sympy import Expr, Indexed, Symbol, lambdify

from symbolic.derivation import Derivation
from symbolic.on_symbols import Run
from symbolic.symbols import T, i

__all__ = ["quotient", "simulator"]

_STEPS = {"stable": "attention, stable", "merged": "attention, merged"}


def quotient(derivation: Derivation, variant: str) -> Callable[..., np.ndarray]:
    """The final quotient of Lemma 3.1's derivation as a function of what the oracle returned.

    Args:
        derivation: of Lemma 3.1.
        variant: `stable` or `merged`.

    Returns:
        f(O=(N, T), R=(N, T), w=(N, T), s=(T,)) to (N,), with the outputs of every query and block and the synthetic
        tokens of every block; `merged` takes no w.
    """
    expression = derivation.step(_STEPS[variant]).expression.args[1]
    families = sorted({entry.base for entry in expression.atoms(Indexed)}, key=str)
    evaluate = lambdify([i, T, *families], expression, "numpy")

    def function(**outputs: np.ndarray) -> np.ndarray:
        # the derivation counts from 1
        padded = [np.pad(outputs[str(family.label)], [(1, 0)] * outputs[str(family.label)].ndim) for family in families]
        N, blocks = outputs["R"].shape
        return np.array([evaluate(row, blocks, *padded) for row in range(1, N + 1)])

    return function


def simulator(run: Run) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """What the simulator computed on symbols, as a function of the weights a_ij (N, N) and values v_j (N,)."""
    if run.given != "weights":
        raise ValueError("a run on given weights is needed.")
    places = range(1, run.N + 1)
    weights: list[Any] = [Symbol(f"a_{row}{column}", positive=True) for row in places for column in places]
    values: list[Any] = [Symbol(f"v_{column}", real=True) for column in places]
    outputs: list[Expr] = run.simulated()
    evaluate = lambdify([weights, values], outputs, "numpy")
    return lambda A, v: np.array(evaluate(A.ravel().tolist(), v.tolist()))
