"""Attention itself (Definitions 2.1 and 2.3 to 2.5): what every simulator is held against."""

from __future__ import annotations

import numpy as np

from twoheads.errors import InputError
from twoheads.scalars import Array, Domain, domain_of

__all__ = ["attention", "causal_mask", "sink_mask", "window_mask"]


def attention(Q: Array, K: Array, V: Array, mask: Array | None = None, domain: Domain | None = None) -> Array:
    """softmax(Q K^T) V, row i being sum_j a_{i,j} v_j / sum_j a_{i,j} (Definition 2.1; no 1/sqrt(d)).

    Args:
        Q, K: coordinates (..., N, m).
        V: values (..., N, d_v).
        mask: None or booleans broadcastable to (..., N, N); a score is set to -infinity where it is False.
        domain: the scalars, recognised from the arrays if not given.

    Returns:
        (..., N, d_v).

    Raises:
        MixedScalarsError: the arrays do not share one kind of scalar.
    """
    domain = domain or domain_of(Q, K, V)
    weights = domain.weights(Q, K, mask)
    ones = domain.number(np.ones((K.shape[-2], 1), dtype=np.int64))
    return domain.contract(weights, V) / domain.contract(weights, ones)


def causal_mask(N: int) -> np.ndarray:
    """Definition 2.3: query i sees the keys j <= i. Booleans (N, N)."""
    return window_mask(N, N)


def window_mask(N: int, r: int) -> np.ndarray:
    """Definition 2.4: query i sees the keys i-r < j <= i of a window of size r >= 1. Booleans (N, N)."""
    return sink_mask(N, r, 0)


def sink_mask(N: int, r: int, s: int) -> np.ndarray:
    """Definition 2.5: query i sees its window and the keys j <= min(s, i). Booleans (N, N).

    Raises:
        InputError: r < 1 or s < 0.
    """
    if r < 1 or s < 0:
        raise InputError(f"a window needs r >= 1 and s >= 0, not r = {r} and s = {s}.")
    i, j = np.arange(N)[:, None], np.arange(N)[None, :]
    return (j <= i) & ((j > i - r) | (j < s))
