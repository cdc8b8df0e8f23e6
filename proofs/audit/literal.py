"""Arithmetic in which the printed formulas are run: exactly, and again in floats.

Exact runs are over Fractions, with 2 as the weight of score 1 in place of e: softmax of integer scores is then
rational, and only exp(x + y) = exp(x) exp(y) and exp(0) = 1 are used of exp. The float runs use e itself, so that a
counterexample which depended on the base would not survive its replay. Arrays are NumPy's, of Python objects, so
that a division by zero is an error in both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from twoheads.errors import OracleLengthError

__all__ = ["EXACT", "FLOATS", "Arithmetic", "NoValueError", "integer_columns", "solvable"]

Array = Any


class NoValueError(ValueError):
    """What is printed refers to something that is not there; the message says what."""


@dataclass(frozen=True)
class Arithmetic:
    """One kind of number, and attention over it."""

    name: str
    number: Callable[[Any], Any]
    base: Any
    """The weight of score 1."""

    def array(self, rows: Iterable[Iterable[Any]]) -> Array:
        """A matrix of these numbers."""
        return np.array([[self.number(entry) for entry in row] for row in rows], dtype=object)

    def full(self, height: int, width: int, value: int) -> Array:
        """A constant block; 0_{a x b} and 1_{a x b} of the paper."""
        return np.full((height, width), self.number(value), dtype=object)

    def eye(self, n: int) -> Array:
        """The identity."""
        return self.array(np.eye(n, dtype=int).tolist())

    def weight(self, score: Any) -> Any:
        """exp(score), the score being an integer."""
        return self.base ** int(score) if self.number is Fraction else self.base**score

    def weights(self, Q: Array, K: Array) -> Array:
        """a_{i,j} = exp(<q_i, k_j>)."""
        scores = Q @ K.T
        return np.array([[self.weight(score) for score in row] for row in scores], dtype=object)

    def softmax(self, scores: Array, causal: bool = False) -> Array:
        """softmax of the rows, entries above the diagonal being -infinity if causal."""
        rows = []
        for i, row in enumerate(scores):
            seen = [self.weight(s) if j <= i or not causal else self.number(0) for j, s in enumerate(row)]
            rows.append([a / sum(seen) for a in seen])
        return np.array(rows, dtype=object)

    def call(self, Q: Array, K: Array, V: Array, M: int | None = None, causal: bool = False) -> Array:
        """One oracle call on ready-made queries, keys and values.

        Raises:
            OracleLengthError: more than M tokens.
        """
        if M is not None and len(Q) > M:
            raise OracleLengthError(f"{len(Q)} tokens for an oracle that reads M = {M}")
        return self.softmax(Q @ K.T, causal) @ V


EXACT = Arithmetic("exact rationals", Fraction, Fraction(2))
FLOATS = Arithmetic("floats", float, math.e)


def solvable(A: Array, B: Array) -> bool:
    """Whether some matrix W has A W = B: the rank of [A, B] is that of A, over the rationals."""
    left, both = (sympy.Matrix(np.vectorize(sympy.Rational)(m)) for m in (A, np.concatenate([A, B], axis=1)))
    return bool(left.rank() == both.rank())


def integer_columns(length: int, values: Sequence[int] = (0, 1, 2)) -> list[tuple[int, ...]]:
    """Every column of the given length with entries among the values, smallest sums first."""
    found: list[tuple[int, ...]] = [()]
    for _ in range(length):
        found = [(*column, value) for column in found for value in values]
    return sorted(found, key=lambda column: (sum(map(abs, column)), column))
