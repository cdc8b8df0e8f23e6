"""Floating-point scalars of any array namespace: NumPy, JAX, PyTorch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from array_api_compat import array_namespace, device

from twoheads.errors import MixedScalarsError
from twoheads.scalars.domain import Array

__all__ = ["Floats"]


@dataclass(frozen=True)
class Floats:
    """float32 or float64 arrays; softmax subtracts each row's largest score, as attention kernels do."""

    name: str
    xp: Any
    dtype: Any
    device: Any
    """None for a traced JAX array: constants then go where JAX puts them."""
    exact: ClassVar[bool] = False

    @classmethod
    def of(cls, array: Array) -> Floats:
        xp = array_namespace(array)
        dtype = str(array.dtype).rpartition(".")[2]
        library = xp.__name__.rpartition(".")[2]
        return cls(dtype if library == "numpy" else f"{library} {dtype}", xp, array.dtype, device(array))

    def check(self, **arrays: Array) -> None:
        for name, array in arrays.items():
            integral = self.xp.isdtype(array.dtype, "integral") if array.dtype != object else False
            if not integral and array.dtype != self.dtype:
                raise MixedScalarsError(
                    f"{name} holds {array.dtype} in a run of {self.name}: convert it to {self.name} first."
                )

    def constant(self, values: Any) -> Array:
        return self.xp.asarray(values, dtype=self.dtype, device=self.device)

    number = constant

    def coordinates(self, X: Array, W: Array) -> Array:
        # one product of all calls' tokens, where stacked arrays would be multiplied call by call
        rows = self.xp.reshape(X, (-1, X.shape[-1])) @ W
        return self.xp.reshape(rows, (*X.shape[:-1], W.shape[-1]))

    values = coordinates

    def weights(self, Q: Array, K: Array, mask: Array | None) -> Array:
        scores = Q @ self.xp.matrix_transpose(K)
        if mask is not None:
            scores = self.xp.where(mask, scores, self.constant(float("-inf")))
        return self.xp.exp(scores - self.xp.max(scores, axis=-1, keepdims=True))

    def contract(self, weights: Array, V: Array) -> Array:
        return weights @ V

    def pivot(self, x: Array, axis: int) -> Array:
        return self.xp.min(x, axis=axis, keepdims=True)

    def tokens(self, outputs: Array) -> Array:
        return outputs
