"""Direct attention in float64, row chunk by row chunk: what a simulator's output is compared with.

Written apart from `twoheads.attention`, so that the comparison has two authors. A window is computed on its
own keys only, so that long inputs never need an N by N matrix.
"""

from __future__ import annotations

import numpy as np

__all__ = ["direct_attention", "relative_row_errors"]

_ROWS = 1024


def direct_attention(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, causal: bool = False, r: int | None = None, s: int = 0
) -> np.ndarray:
    """softmax(Q K^T) V for Q, K (N, m) and V (N, d_v), all pairs or causal, or a window r with s sinks."""
    N = len(Q)
    out = np.empty((N, V.shape[1]))
    for start in range(0, N, _ROWS):
        i = np.arange(start, min(start + _ROWS, N))
        j = _keys(i, N, causal, r, s)
        scores = Q[i] @ K[j].T
        if causal or r is not None:
            allowed = j <= i[:, None]
            if r is not None:
                allowed &= (j > i[:, None] - r) | (j < s)
            scores = np.where(allowed, scores, -np.inf)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        out[i] = (weights @ V[j]) / weights.sum(axis=1, keepdims=True)
    return out


def _keys(i: np.ndarray, N: int, causal: bool, r: int | None, s: int) -> np.ndarray:
    if r is None:
        return np.arange(i[-1] + 1 if causal else N)
    first = max(i[0] - r + 1, 0)
    return np.concatenate([np.arange(min(s, first)), np.arange(first, i[-1] + 1)])


def relative_row_errors(output: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """||output_i - reference_i||_2 / ||reference_i||_2 for every row, the measure of section 1.1.e.

    A row of the reference that is 0 counts as error 0 if it is met and infinity if not; a row that is not
    finite has error nan.
    """
    difference = np.linalg.norm(output - reference, axis=-1)
    norm = np.linalg.norm(reference, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((norm == 0) & (difference == 0), 0.0, difference / norm)
