"""Formal logarithms: how an exact run is given its weights.

Rationals, Z3 reals and the like have no exponential. There the weights a_{i,j} are what is given, and the
scores are their formal logarithms: `exp(Log(a))` is `a`, sums of logs are logs of products, and an integer n
stands for the score whose weight is e^n, with e a positive number that the domain fixes. Only
exp(x + y) = exp(x) exp(y) and exp(0) = 1 are used, and both hold by construction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from twoheads.scalars.domain import Array

__all__ = ["Log", "given_weights"]


@dataclass(frozen=True, eq=False)
class Log:
    """log(weight) + shift, with `weight` a positive scalar and `shift` an integer."""

    weight: Any
    shift: int = 0

    def __add__(self, other: Any) -> Log:
        if isinstance(other, Log):
            return Log(self.weight * other.weight, self.shift + other.shift)
        if isinstance(other, int):
            return Log(self.weight, self.shift + other)
        return NotImplemented

    __radd__ = __add__

    def __mul__(self, times: Any) -> Log:
        if not isinstance(times, int):
            return NotImplemented
        power = self.weight**times if times >= 0 else 1 / self.weight**-times
        return Log(power, self.shift * times)

    __rmul__ = __mul__


def given_weights(A: Array, V: Array) -> tuple[Array, Array, Array, Array]:
    """Tokens and parameters whose attention weights are A.

    Query i is the i-th unit vector and key j holds the formal logs of column j, so <q_i, k_j> = log a_{i,j}.

    Args:
        A: weights (N, N), positive scalars as objects.
        V: values (N, d_v), objects.

    Returns:
        X (N, 2N + d_v) and the selecting parameters W_Q, W_K (2N + d_v, N), W_V (2N + d_v, d_v).
    """
    N, d_v = V.shape
    unit = np.eye(N, dtype=int).astype(object)
    logs = np.array([[Log(A[i, j]) for i in range(N)] for j in range(N)], dtype=object).reshape(N, N)
    X = np.concatenate([unit, logs, V], axis=1)
    select = np.eye(2 * N + d_v, dtype=int).astype(object)
    return X, select[:, :N], select[:, N : 2 * N], select[:, 2 * N :]
