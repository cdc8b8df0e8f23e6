"""A prime field, for identity tests at sizes that no solver reaches.

In GF(p) the exponential is x -> g^x with g a primitive root: a homomorphism from the integers modulo p-1 to
the nonzero field elements. Tokens are integers; they count modulo p-1 where they become scores and modulo p
where they become values. If a row's query has a coordinate 1 against key coordinates drawn uniformly, the
weights of that row are independent and uniform over the nonzero elements, which is what the Schwartz-Zippel
lemma asks for.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import galois
import numpy as np

from twoheads.errors import InputError, MixedScalarsError
from twoheads.scalars.domain import Array

__all__ = ["FiniteField"]

_INT64_LIMIT = 2**63
_FLOAT64_LIMIT = 2**53


class FiniteField:
    """GF(p) for a prime p below 2^20, so that sums of thousands of products are exact in float64."""

    exact: ClassVar[bool] = True
    xp: ClassVar[Any] = np

    def __init__(self, order: int = 1048573) -> None:
        if not 3 <= order < 2**20 or not galois.is_prime(order):
            raise InputError(f"the field's order must be a prime between 3 and 2^20, not {order}.")
        self.order = order
        self.name = f"GF({order})"
        # computed products: building tables takes longer than any run here
        self.field = galois.GF(order, compile="jit-calculate")

    @cached_property
    def _powers(self) -> np.ndarray:
        """g^0, ..., g^(p-2)."""
        powers = self.field.primitive_element ** np.arange(self.order - 1)
        return np.asarray(powers.view(np.ndarray), dtype=np.int64)

    def check(self, **arrays: Array) -> None:
        for name, array in arrays.items():
            if not np.issubdtype(array.dtype, np.integer):
                raise MixedScalarsError(f"{name} holds {array.dtype} in a run over {self.name}: give integers.")
            if array.size and np.abs(array.view(np.ndarray)).max() >= self.order:
                raise InputError(f"{name} has an entry of {self.order} or more: reduce it modulo {self.order}.")

    def constant(self, values: Any) -> Array:
        return np.asarray(values, dtype=np.int64)

    def number(self, values: Any) -> Array:
        return self.field(np.asarray(values, dtype=np.int64) % self.order)

    def coordinates(self, X: Array, W: Array) -> Array:
        return self._product(X, W) % (self.order - 1)

    def values(self, X: Array, W: Array) -> Array:
        return self.field(self._product(X, W) % self.order)

    def weights(self, Q: Array, K: Array, mask: Array | None) -> Array:
        scores = self._product(Q, np.swapaxes(K, -1, -2)) % (self.order - 1)
        weights = self._powers[scores]
        return self.field(weights if mask is None else np.where(mask, weights, 0))

    def contract(self, weights: Array, V: Array) -> Array:
        return self.field(self._product(weights, V) % self.order)

    def pivot(self, x: Array, axis: int) -> Array:
        return self.field.Ones(np.min(np.asarray(x), axis=axis, keepdims=True).shape)

    def tokens(self, outputs: Array) -> Array:
        return np.asarray(outputs.view(np.ndarray), dtype=np.int64)

    def _product(self, X: Array, Y: Array) -> np.ndarray:
        """The integer product, through float64 where every partial sum is exact there."""
        largest = X.shape[-1] * self.order**2
        if largest >= _INT64_LIMIT:
            raise InputError(f"a sum of {X.shape[-1]} products over {self.name} can overflow: take a smaller field.")
        x, y = np.asarray(X).view(np.ndarray), np.asarray(Y).view(np.ndarray)
        if largest < _FLOAT64_LIMIT:
            return np.rint(x.astype(np.float64) @ y.astype(np.float64)).astype(np.int64)
        return np.matmul(x.astype(np.int64), y.astype(np.int64))
