"""Appendix A: constant blocks, sums of rows and retrieval, as transformers one can run.

Each function returns parameters that an oracle takes. `printed` is the paper's text read literally, `repaired` the
smallest change that runs; what was changed, and why, is said at each lemma.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np

from twoheads.errors import InputError
from twoheads.scalars import Array, Domain
from twoheads.transformer import Head, Layer, Mlp, Transformer

__all__ = [
    "VARIANTS",
    "Variant",
    "constant_block",
    "factor_for",
    "retrieval",
    "retrieval_error_bound",
    "row_sum",
    "share_of_first_keys",
]

Variant = Literal["printed", "repaired"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)


def constant_block(d: int, a: int, b: int, domain: Domain, variant: Variant = "repaired") -> tuple[Mlp, Array]:
    """Lemma A.1: an input MLP phi and a matrix U with phi(X) U = [1_{a x b}, 0; 0, 0] for every X (N, d).

    phi(x_i) is (x_i, 1) for the first a positions and (x_i, 0) for the others; U is zero but for b ones in its last
    row. As printed the zero block beside those ones is d x (d-b); beside one row of ones it has to be 1 x (d-b),
    so the printed U can be put together for d = 1 only. That is the whole repair.

    Returns:
        phi, from (..., N, d) to (..., N, d+1), and U (d+1, d).

    Raises:
        InputError: not 0 <= b <= d, or a < 0; the variant is unknown; `printed`, and the blocks do not fit. From
            phi: a > N.
    """
    _check_variant(variant)
    if d < 1 or not 0 <= b <= d or a < 0:
        raise InputError(f"a block of a x b ones needs a >= 0 and 0 <= b <= d, not a = {a}, b = {b}, d = {d}.")
    height = d if variant == "printed" else 1
    try:
        U = np.block([[np.zeros((d, b)), np.zeros((d, d - b))], [np.ones((1, b)), np.zeros((height, d - b))]])
    except ValueError:
        raise InputError(
            f"as printed the lower blocks of U are 1 and d = {d} rows high: use the variant repaired."
        ) from None

    def phi(X: Array, positions: np.ndarray) -> Array:
        if a > len(positions):
            raise InputError(f"a block of a = {a} rows does not fit N = {len(positions)} tokens: take a <= N.")
        return _with_columns(X, (positions < a)[:, None], domain)

    return phi, domain.constant(U.astype(np.int64))


def share_of_first_keys(W_Q: Array, W_K: Array, a: int, b: int, domain: Domain) -> Transformer:
    """Lemma A.1 at work as in B.1.diag: row i is sum_{j <= a} a_{i,j} / sum_j a_{i,j} in b columns, then zeros.

    Args:
        W_Q, W_K: (d, m).
        a, b: how many keys count, and in how many columns of the output (N, d) the share is to stand.

    Raises:
        InputError: see `constant_block`.
    """
    phi, U = constant_block(W_Q.shape[0], a, b, domain)
    unread = domain.constant(np.zeros((1, W_Q.shape[1]), dtype=np.int64))
    padded_Q, padded_K = (domain.xp.concat([W, unread], axis=0) for W in (W_Q, W_K))
    return Transformer([Layer([Head(padded_Q, padded_K, U)])], input_mlp=phi)


def row_sum(N: int, d: int, domain: Domain, variant: Variant = "repaired") -> Transformer:
    """Lemma A.2: every output row is sum_i X[i, :], for X of exactly N rows; exact over every scalar.

    *repaired*: W_Q = W_K = 0 makes all weights equal, and the values N x_i then average to the sum; d coordinates,
    no MLP.

    *printed*: "q_i = k_i = 1_{1 x d} and k_i = N X[i, :]" gives the key two values, which agree only where
    every entry of X is 1/N, and the values none; N X[i, :] is meant to be v_i. Nor does any W_Q make X W_Q = 1 for all
    X, since X = 0 gives 0: the ones have to come from an input MLP. Read literally, with the later of the two keys,
    ones from an MLP and the values N x_i, row i is N sum_j softmax_j(N <1, x_j>) x_j: the sum only where all rows have
    the same coordinate sum.

    Under a causal mask row i is N/i times the sum of the first i rows: only the last row is the sum of all.

    Raises:
        InputError: N or d < 1, or the variant is unknown.
    """
    _check_variant(variant)
    if N < 1 or d < 1:
        raise InputError(f"a sum needs at least one row and one column, not N = {N} and d = {d}.")
    scaled, zeros = N * np.eye(d, dtype=np.int64), np.zeros((d, d), dtype=np.int64)
    if variant == "repaired":
        return Transformer([Layer([Head(domain.constant(zeros), domain.constant(zeros), domain.constant(scaled))])])
    below = np.zeros((1, d), dtype=np.int64)
    W_Q, W_K = np.concatenate([zeros, below + 1]), np.concatenate([scaled, below])
    head = Head(domain.constant(W_Q), domain.constant(W_K), domain.constant(W_K))
    return Transformer([Layer([head])], lambda X, i: _with_columns(X, np.ones((len(i), 1)), domain))


def retrieval(
    tau: Callable[[Array, np.ndarray], Any], B: int, d: int, domain: Domain, rho: Mlp | None = None
) -> Transformer:
    """Lemma A.3: row i is rho(X[tau(x_i, i), :]) up to the error that `retrieval_error_bound` bounds.

    The input MLP writes the position codes: x_i becomes (x_i, 2 t, 1, i, -i^2) with t = tau(x_i, i). The score of key j
    is then B (2 t j - j^2) = B (t^2 - (j-t)^2), by at least B largest at j = t. The embedding dimension is d + 4,
    whatever N; the statement's d leaves no room for codes.

    Softmax cannot retrieve exactly. All its weights are positive, so in a coordinate in which x_t is larger than every
    other row, the head's output is smaller than x_t, whatever the scores. Where the entries are known to be
    multiples of some step (numbers of O(log N) bits, section 1.1.d), a rho that rounds to that step makes the result
    exact once the error bound is below half of it.

    Args:
        tau: (tokens (..., N, d), positions (N,)) to integers 0, ..., N-1 of shape (N,) or (..., N).
        B: the factor on the scores, a positive integer; see `factor_for`.
        d: width of the tokens.
        domain: any scalars with an order; over exact ones the weight of score 1 is the domain's own e.
        rho: called as rho(rows, positions); the identity if not given. An error x of the row becomes at most
            Lip(rho) x.

    Raises:
        InputError: B or d < 1. From the transformer: tau leaves 0, ..., N-1.
    """
    if B < 1 or B % 1 or d < 1:
        raise InputError(f"retrieval needs integers B >= 1 and d >= 1, not B = {B} and d = {d}.")

    def phi(X: Array, positions: np.ndarray) -> Array:
        target = np.asarray(tau(X, positions))
        if not np.issubdtype(target.dtype, np.integer) or (target < 0).any() or (target >= len(positions)).any():
            raise InputError(f"tau must return integers from 0 to N-1 = {len(positions) - 1} for every token.")
        target = np.broadcast_to(target, X.shape[:-1])
        codes = np.broadcast_arrays(2 * target, 1, positions, -(positions**2))
        return _with_columns(X, np.stack(codes, axis=-1), domain)

    W = np.eye(d + 4, dtype=np.int64)
    head = Head(domain.constant(B * W[:, d : d + 2]), domain.constant(W[:, d + 2 :]), domain.constant(W[:, :d]))
    return Transformer([Layer([head], rho)], phi)


def retrieval_error_bound(B: int, N: int, largest: Any, e: Any = math.e) -> Any:
    """2 S largest, which bounds ||row i - X[t, :]|| for every row of `retrieval` with rho the identity.

    With D = j - t the off-target weights are e^(-B D^2) times the target's. Their sum S is at most (N-1) e^-B and, as D
    takes each value but 0 at most once and D^2 >= |D|, at most 2 (e^-B + e^-2B + ...) = 2 e^-B / (1 - e^-B).
    The off-target share w = S/(1+S) is at most S, and row i minus x_t is sum_{j != t} w_j (x_j - x_t), whose norm
    is at most w max_j ||x_j - x_t|| <= 2 S largest.

    Args:
        B, N: factor and number of tokens.
        largest: max_j ||x_j||, in any norm.
        e: the weight of score 1; a Fraction keeps the bound exact.

    Raises:
        InputError: B or N < 1, or largest < 0.
    """
    if B < 1 or N < 1 or largest < 0:
        raise InputError(f"the bound needs B >= 1, N >= 1 and largest >= 0, not B = {B}, N = {N}, largest = {largest}.")
    x = e**-B
    return 2 * min((N - 1) * x, 2 * x / (1 - x)) * largest


def factor_for(error: float | Fraction, N: int, largest: float | Fraction) -> int:
    """The smallest integer B >= 1 for which `retrieval_error_bound` is at most `error`.

    Raises:
        InputError: error <= 0, N < 1, or a number is not finite.
    """
    if not 0 < error < math.inf or not 0 <= largest < math.inf or N < 1:
        raise InputError(
            f"the wanted error must be positive (softmax cannot retrieve exactly), N >= 1 and the rows finite, not "
            f"error = {error}, N = {N}, largest = {largest}."
        )
    ratio = Fraction(largest) / Fraction(error)
    # e^B must be at least this; as a Fraction it neither over- nor underflows
    needed = max(min(2 * (N - 1) * ratio, 4 * ratio + 1), Fraction(1))
    return max(1, math.ceil(math.log(needed.numerator) - math.log(needed.denominator)))


def _with_columns(X: Array, columns: np.ndarray, domain: Domain) -> Array:
    """X (..., n, d) with integer columns (n, c) or (..., n, c) appended."""
    whole = np.broadcast_to(columns, (*X.shape[:-1], columns.shape[-1]))
    return domain.xp.concat([X, domain.constant(whole.astype(np.int64))], axis=-1)


def _check_variant(variant: str) -> None:
    if variant not in VARIANTS:
        raise InputError(f"variant must be one of {', '.join(VARIANTS)}, not {variant!r}.")
