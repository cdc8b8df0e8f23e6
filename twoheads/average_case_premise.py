"""The premise of Theorem 4.1, measured from data, and the M that the theorem then asks for.

C with 1/C <= a_{i,j} <= C, and D with D N max_j ||b_{i,j}|| <= ||sum_j b_{i,j}||, for every query i. C easily exceeds
every float, so only logarithms are held.

Two steps of the printed proof in detail. C.1.vector displays a failure probability without the dimension, and then
asks for a log d in M; the first is right (a dimension-free Hoeffding bound exists), so the log d is not needed and is
kept as printed. C.1.combine bounds |1-delta| by its lower side, eps/(4+eps), where the upper side (eps/4)/(1-eps/4)
is larger: see `combined_error`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from twoheads.errors import InputError

__all__ = ["Premise", "RequiredLength", "combined_error", "premise", "required_length"]

_ROWS = 1024  # only bounds memory


@dataclass(frozen=True)
class Premise:
    """The smallest C and the largest D of one head, with its sizes."""

    N: int
    d: int
    """Width of the values."""
    largest_score: float
    """The largest |<q_i, k_j>|, which is the natural logarithm of the printed C."""
    half_spread: float
    """Half the largest spread of a row's scores. Softmax ignores a constant added to a row's scores, so the theorem
    holds with this smaller log C, too."""
    D: float
    """min over i of ||sum_j b_{i,j}|| / (N max_j ||b_{i,j}||), in [0, 1]; 0 where no D > 0 exists."""

    @property
    def log10_C(self) -> float:
        """Decimal logarithm of C."""
        return self.largest_score / math.log(10)


@dataclass(frozen=True)
class RequiredLength:
    """Decimal logarithms of the two lower bounds on M; infinite where the premise does not hold."""

    weights: float
    """Of 8 C^4 log(40 N) / eps^2 (C.1.hoeffding)."""
    values: float
    """Of 128 (log d + log 40 + log N) / (eps^2 D^2) (C.1.vector)."""

    @property
    def log10_M(self) -> float:
        """Both bounds met."""
        return max(self.weights, self.values)

    def admits(self, M: int) -> bool:
        """Whether the theorem says anything about an oracle of M tokens."""
        return math.log10(M) >= self.log10_M


def premise(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> Premise:
    """C and D of a head with queries and keys Q, K (N, m) and values V (N, d), floats.

    Both norms in D scale alike with a row's weights, so they are taken after dividing each row by its largest one.
    A row in which all b are 0 meets the condition with every D and counts as 1.

    Raises:
        InputError: shapes do not fit, an array is empty, or an entry is not finite.
    """
    if Q.ndim != 2 or Q.shape != K.shape or V.ndim != 2 or len(V) != len(Q) or 0 in Q.shape + V.shape:
        raise InputError(f"Q, K must be (N, m) and V (N, d), none empty, not {Q.shape}, {K.shape} and {V.shape}.")
    if not all(np.isfinite(x).all() for x in (Q, K, V)):
        raise InputError("Q, K or V has an entry that is not finite: replace it.")
    size = float(np.abs(V).max()) or 1.0
    lengths = np.linalg.norm(V / size, axis=1)
    log_C, spread, D = 0.0, 0.0, 1.0
    for start in range(0, len(Q), _ROWS):
        scores = Q[start : start + _ROWS] @ K.T
        top = scores.max(axis=1, keepdims=True)
        log_C = max(log_C, float(np.abs(scores).max()))
        spread = max(spread, float((top - scores.min(axis=1, keepdims=True)).max()))
        D = min(D, _smallest_ratio(scores, V / size, lengths))
    return Premise(len(Q), V.shape[1], log_C, spread / 2, D)


def required_length(measured: Premise, epsilon: float, heads: int = 1, shifted: bool = False) -> RequiredLength:
    """The M that Theorem 4.1 asks for, so that all N rows of all heads are within epsilon with probability 0.9.

    Args:
        measured: of the head; for several heads, each has to admit M.
        epsilon: relative error of a row, 0 < epsilon <= 2 (see `combined_error`).
        heads: H L, over which the union bound runs; 1 is the printed formula.
        shifted: with `half_spread` in place of the printed log C.

    Raises:
        InputError: epsilon or heads is out of range.
    """
    _check_epsilon(epsilon)
    if heads < 1:
        raise InputError(f"the number of heads must be at least 1, not {heads}.")
    log_C = measured.half_spread if shifted else measured.largest_score
    rows = 40 * measured.N * heads
    weights = math.log(8 * math.log(rows) / epsilon**2) + 4 * log_C
    if measured.D == 0:
        return RequiredLength(weights / math.log(10), math.inf)
    values = math.log(128 * (math.log(measured.d) + math.log(rows)) / epsilon**2) - 2 * math.log(measured.D)
    return RequiredLength(weights / math.log(10), values / math.log(10))


def combined_error(epsilon: float | Fraction) -> float | Fraction:
    """2x/(1-x) with x = epsilon/4: the relative error once both sums are within a factor 1 +- x; <= epsilon.

    Let the estimates be (1+alpha) A and B + beta, |alpha| <= x, ||beta|| <= x ||B||. Their quotient minus B/A is
    (beta - alpha B) / ((1+alpha) A), of norm at most 2x/(1-x) ||B||/A. That is at most 4x exactly for x <= 1/2. The
    printed bound, x + (eps/(4+eps)) (1+x) = 2x, is smaller and can be exceeded: at alpha = -x, beta = x B the error
    is 2x/(1-x) exactly. The conclusion, at most epsilon, stands for epsilon <= 2.

    Raises:
        InputError: not 0 < epsilon <= 2.
    """
    _check_epsilon(epsilon)
    x = epsilon / 4
    return 2 * x / (1 - x)


def _check_epsilon(epsilon: float | Fraction) -> None:
    if not 0 < epsilon <= 2:
        raise InputError(f"epsilon must be above 0 and at most 2, where the theorem's proof ends, not {epsilon}.")


def _smallest_ratio(scores: np.ndarray, V: np.ndarray, lengths: np.ndarray) -> float:
    """min_i ||sum_j b_ij|| / (N max_j ||b_ij||) over the rows that have a b_ij other than 0."""
    with np.errstate(divide="ignore"):
        log_norms = scores + np.log(lengths)  # of ||b_ij||, -inf for v_j = 0
    top = log_norms.max(axis=1, keepdims=True)
    rows = np.isfinite(top[:, 0])
    if not rows.any():
        return 1.0
    # ||b_ij|| of the largest is 1 after this; underflow of the others is what they count beside it
    directions = V / np.where(lengths > 0, lengths, 1)[:, None]
    sums = np.exp(log_norms[rows] - top[rows]) @ directions
    return min(1.0, float(np.linalg.norm(sums, axis=1).min()) / len(V))
