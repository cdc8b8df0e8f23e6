"""What one call returns, run for real: the oracle on one query over given keys, exactly and in floats.

The formulas of recovery and recombination speak of the sums A and B of a call. A witness for a false variant of
them is replayed here: it becomes keys and values, the oracle of `twoheads` reads them, and the variant's way of
using the answer is held against the sums themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from proofs.exact import Witness
from proofs.obligation import Difference
from twoheads.oracle import Batch, Oracle
from twoheads.scalars import Array, given_weights
from twoheads.transformer import single_head

__all__ = ["Call", "answered", "replay_decoded"]


@dataclass(frozen=True)
class Call:
    """The keys that a query sees: a positive weight and a row of values each."""

    weights: Sequence[Fraction]
    values: Sequence[Sequence[Fraction]]


Decoder = Callable[[Sequence[Any], Sequence[Any]], Any]
"""(the call's answers, further numbers of the witness) to what is made of them; exact or floats."""


def answered(call: Call, number: type = Fraction) -> list[Any]:
    """The oracle's output row: sum_j a_j v_j / sum_j a_j, over Fractions or in float64."""
    n = len(call.weights)
    A = np.array([list(call.weights)] * n, dtype=object)
    V = np.array([list(row) for row in call.values], dtype=object).reshape(n, -1)
    X, W_Q, W_K, W_V = given_weights(A, V) if number is Fraction else _floats(A, V)
    oracle = Oracle(M=max(n, 2))
    output = oracle.round([Batch(X[None], single_head(W_Q, W_K, W_V))])[0]
    return [number(x) for x in output[0, 0]]


def replay_decoded(
    calls: Callable[[Witness], Sequence[Call]], decode: Decoder, right: Callable[[Witness], Fraction], *names: str
) -> Callable[[Witness], Difference]:
    """A replay: the calls are made, their answers decoded in the variant's way, and held against what is right.

    Args:
        calls: what the oracle reads at a witness.
        decode: the variant's use of the answers, and of the witness's numbers called `names`.
        right: the true value, exactly.
        names: constants of the witness.
    """

    def replay(witness: Witness) -> Difference:
        true = right(witness)
        known = [Fraction(witness[name]) for name in names]
        made = list(calls(witness))
        exact = decode([answered(call) for call in made], known)
        floating = decode([answered(call, float) for call in made], [float(x) for x in known])
        return Difference(Fraction(exact) - true, float(floating) - float(true))

    return replay


def _floats(A: np.ndarray, V: np.ndarray) -> tuple[Array, Array, Array, Array]:
    """As `given_weights`, with logarithms in float64."""
    n, width = V.shape
    unit = np.eye(2 * n + width)
    X = np.hstack([np.eye(n), np.log(A.astype(float)).T, V.astype(float)])
    return X, unit[:, :n], unit[:, n : 2 * n], unit[:, 2 * n :]
