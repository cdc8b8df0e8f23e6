"""What the domains of NumPy object arrays share: an exact product that skips literal zeros."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from twoheads.errors import MixedScalarsError
from twoheads.scalars.domain import Array, domain_of
from twoheads.scalars.logs import Log

__all__ = ["Objects"]


class Objects:
    """Base of the object domains; a subclass says what `exp` of a score is.

    A Python integer is neutral: it may stand anywhere, and a literal 0 or 1 in a product leaves no trace, so
    that selecting a column of symbols by a 0/1 matrix gives back those very symbols.
    """

    name: str = ""
    exact: ClassVar[bool] = True
    xp: ClassVar[Any] = np
    e: ClassVar[Any] = None
    """The weight of score 1 where exp is given by formal logs."""

    def check(self, **arrays: Array) -> None:
        for name, array in arrays.items():
            if np.issubdtype(np.asarray(array).dtype, np.floating):
                raise MixedScalarsError(
                    f"{name} holds {array.dtype} in an exact run of {self.name}: convert its entries first."
                )
        objects = [array for array in arrays.values() if array.dtype == object and array.size]
        if objects:
            domain_of(*objects)

    def constant(self, values: Any) -> Array:
        return np.asarray(values).astype(object)

    number = constant

    def exp(self, score: Any) -> Any:
        """The weight of one score: a formal log's weight, or e to an integer."""
        if isinstance(score, Log):
            return self._scaled(score.weight, score.shift)
        if isinstance(score, int):
            return self._scaled(1, score)
        raise MixedScalarsError(
            f"a score of type {type(score).__name__} has no exact exponential: give weights as scalars.Log."
        )

    def _scaled(self, weight: Any, shift: int) -> Any:
        if shift == 0:
            return weight
        return weight * self.e**shift if shift > 0 else weight / self.e**-shift

    def coordinates(self, X: Array, W: Array) -> Array:
        return product(X, W)

    values = coordinates

    def weights(self, Q: Array, K: Array, mask: Array | None) -> Array:
        scores = product(Q, np.swapaxes(K, -1, -2))
        allowed = np.broadcast_to(True if mask is None else mask, scores.shape)
        out = np.zeros(scores.shape, dtype=object)
        for index in np.argwhere(allowed):
            place = tuple(index)
            out[place] = self.exp(scores[place])
        return out

    def contract(self, weights: Array, V: Array) -> Array:
        return product(weights, V)

    def pivot(self, x: Array, axis: int) -> Array:
        return np.ones(np.min(np.zeros(x.shape), axis=axis, keepdims=True).shape, dtype=int).astype(object)

    def tokens(self, outputs: Array) -> Array:
        return outputs


def product(X: Array, Y: Array) -> Array:
    """X Y for object arrays, (..., n, k) by (..., k, m), without multiplying by a literal 0 or 1."""
    batch = np.broadcast_shapes(X.shape[:-2], Y.shape[:-2])
    X = np.broadcast_to(X, batch + X.shape[-2:])
    Y = np.broadcast_to(Y, batch + Y.shape[-2:])
    out = np.zeros((*batch, X.shape[-2], Y.shape[-1]), dtype=object)
    for place in np.ndindex(batch):
        _product_into(out[place], X[place], Y[place])
    return out


def _product_into(out: Array, X: Array, Y: Array) -> None:
    columns = [[(k, y) for k, y in enumerate(column) if not _is(y, 0)] for column in Y.T]
    for i, row in enumerate(X):
        for j, column in enumerate(columns):
            terms = [_times(row[k], y) for k, y in column if not _is(row[k], 0)]
            out[i, j] = _sum(terms)


def _is(x: Any, literal: int) -> bool:
    return isinstance(x, int) and x == literal


def _times(x: Any, y: Any) -> Any:
    return y if _is(x, 1) else x if _is(y, 1) else x * y


def _sum(terms: list[Any]) -> Any:
    if not terms:
        return 0
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total
