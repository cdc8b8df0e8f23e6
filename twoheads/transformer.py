"""Transformers (Definition 2.2 and the layers of section 2.1): the large one, and what an oracle runs.

The paper's transformers have no residual connection. Real ones do, so a layer may be given its own input
beside its heads' output; such a layer says `residual=True`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from twoheads.attention import attention
from twoheads.errors import InputError
from twoheads.scalars import Array, Domain

__all__ = ["Head", "Layer", "Mlp", "Transformer", "single_head"]

Mlp = Callable[..., Array]
"""A token-wise function. An input or layer MLP is called as mlp(tokens, positions), a residual layer's as
mlp(heads' output, positions, layer's input); arrays are (..., n, width), positions are 0, ..., n-1."""


@dataclass(frozen=True, eq=False)
class Head:
    """One attention head on its own columns D_h of the layer's input.

    W_Q and W_K are (width of D_h, m), W_V is (width of D_h, d_v); the paper's are square, its constructions
    already need rectangular ones (B.1.off).
    """

    W_Q: Array
    W_K: Array
    W_V: Array
    columns: slice | None = field(default=None, kw_only=True)
    """D_h; all columns if not given."""

    def own(self, X: Array) -> Array:
        """X[:, D_h]."""
        return X if self.columns is None else X[..., self.columns]

    def __call__(self, X: Array, mask: Array | None, domain: Domain) -> Array:
        own = self.own(X)
        return attention(
            domain.coordinates(own, self.W_Q),
            domain.coordinates(own, self.W_K),
            domain.values(own, self.W_V),
            mask,
            domain,
        )


@dataclass(frozen=True, eq=False)
class Layer:
    """Heads side by side, their outputs concatenated and fed to the layer MLP psi (section 2.1)."""

    heads: Sequence[Head]
    mlp: Mlp | None = None
    residual: bool = False

    def __call__(self, X: Array, mask: Array | None, domain: Domain) -> Array:
        return self.completed([head(X, mask, domain) for head in self.heads], X, domain)

    def completed(self, outputs: Sequence[Array], X: Array, domain: Domain) -> Array:
        """The layer's output on X, given its heads' outputs, however they were computed."""
        joined = outputs[0] if len(outputs) == 1 else domain.xp.concat(outputs, axis=-1)
        if self.mlp is None:
            return joined
        positions = np.arange(X.shape[-2])
        return self.mlp(joined, positions, X) if self.residual else self.mlp(joined, positions)


@dataclass(frozen=True, eq=False)
class Transformer:
    """T(X) = X^(L) with X^(l) = psi_l(f_l(X^(l-1))) and X^(0) = phi(X) (Definition 2.2)."""

    layers: Sequence[Layer]
    input_mlp: Mlp | None = None

    def __call__(self, X: Array, mask: Array | None, domain: Domain) -> Array:
        """X (..., n, d) to (..., n, d'); the output holds the domain's outputs."""
        if self.input_mlp is not None:
            X = self.input_mlp(X, np.arange(X.shape[-2]))
        for layer in self.layers:
            X = layer(domain.tokens(X), mask, domain)
        return X

    @property
    def H(self) -> int:
        """The largest number of heads in a layer."""
        return max(len(layer.heads) for layer in self.layers)

    @property
    def L(self) -> int:
        """The number of layers."""
        return len(self.layers)

    def fits(self, L_small: int, H_small: int) -> bool:
        """Whether it has at most that many layers, and heads in each."""
        return L_small >= self.L and H_small >= self.H

    @property
    def parameters(self) -> int:
        """How many numbers the attention matrices hold."""
        return sum(
            W.shape[0] * W.shape[1]
            for layer in self.layers
            for head in layer.heads
            for W in (head.W_Q, head.W_K, head.W_V)
        )


def single_head(W_Q: Array, W_K: Array, W_V: Array) -> Transformer:
    """The single-layer single-head transformer with identity MLPs that Lemma 3.1 is about.

    Raises:
        InputError: the matrices do not fit one another.
    """
    shapes: list[tuple[Any, ...]] = [tuple(W.shape) for W in (W_Q, W_K, W_V)]
    if any(len(shape) != 2 for shape in shapes) or shapes[0] != shapes[1] or shapes[2][0] != shapes[0][0]:
        raise InputError(f"W_Q and W_K must be (d, m) and W_V (d, d_v), not {shapes[0]}, {shapes[1]} and {shapes[2]}.")
    return Transformer([Layer([Head(W_Q, W_K, W_V)])])
