"""Lemma 3.1 / B.1: one attention head on N tokens by O((N/M)^2) calls that read M tokens.

Three variants. *printed* follows B.1: one call per pair of blocks for R = A/(A+1), one for B/A, then
A = R/(1-R). *merged* gets B/(A+1) and A/(A+1) from one call. *stable* also lets the call return the synthetic
token's own share, so that A and B come without a subtraction. See `twoheads.reconstruction` for the last two.

The paper's blocks have M data tokens and one synthetic token, which is M+1 for an oracle that takes M, and N is
a multiple of M. Here a block has n = M-1 data tokens, and rows past the end of the input are further synthetic
tokens: pad_t of them in the last block of keys, 0 in every other.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from twoheads.errors import InputError
from twoheads.oracle import Batch
from twoheads.plans import Asked, Plan, checked_domain, run
from twoheads.reconstruction import reconstruction, stacked
from twoheads.scalars import Array, Domain
from twoheads.schedules import CallFamily, Part, Sizes, block_length, ceil_div
from twoheads.transformer import Head, Transformer, single_head

__all__ = ["PAIRS", "VARIANTS", "Variant", "calls", "plan", "schedule", "simulate"]

Variant = Literal["printed", "merged", "stable"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)


PAIRS = CallFamily(
    name="every block of queries with every block of keys",
    arity=2,
    causal=False,
    rows=lambda z: (z.n,),
    query=lambda z, u, t, p: u * z.n + p,
    key=lambda z, u, t, q: t * z.n + q,
)
"""Call (u, t) pairs block u of the queries with block t of the keys."""


def schedule(N: int, M: int) -> list[Part]:
    """T^2 calls on blocks of n = M-1 positions (fewer if N < M), T = N/n rounded up."""
    n = block_length(N, M)
    return [Part(PAIRS, Sizes(N, n, ceil_div(N, n)))]


def calls(N: int, M: int, variant: Variant = "stable") -> int:
    """The number of oracle calls: T^2 with T = N/(M-1) rounded up, twice that as printed."""
    T = ceil_div(N, block_length(N, M))
    return (2 if variant == "printed" else 1) * T**2


def simulate(
    X: Array,
    W_Q: Array,
    W_K: Array,
    W_V: Array,
    oracle: Asked,
    variant: Variant = "stable",
    synthetic_score: float = 0,
) -> Array:
    """softmax(X W_Q (X W_K)^T) X W_V, computed by calls to an oracle that is not causal, in one round.

    Args:
        X: tokens (N, d).
        W_Q, W_K: (d, m).
        W_V: (d, d_v).
        oracle: reads M >= 2 tokens; any scalars.
        variant: `printed`, `merged` or `stable`.
        synthetic_score: score of the synthetic token, for `merged` and `stable`; a constant near the scores'
            middle keeps exp in range where they are all very large or very small.

    Returns:
        (N, d_v).

    Raises:
        InputError: shapes do not fit, the variant is unknown, or the oracle is causal.
        MixedScalarsError: the arrays do not share one kind of scalar.
    """
    return run([plan(X, Head(W_Q, W_K, W_V), oracle, variant, synthetic_score)], oracle)[0]


def plan(X: Array, head: Head, oracle: Asked, variant: Variant = "stable", synthetic_score: float = 0) -> Plan:
    """`simulate` as a plan of one round, to be run beside others."""
    if variant not in VARIANTS:
        raise InputError(f"variant must be one of {', '.join(VARIANTS)}, not {variant!r}.")
    if oracle.causal:
        raise InputError("Lemma 3.1 needs an oracle without a causal mask: make it with causal=False.")
    domain = checked_domain(X, head, oracle)
    N = X.shape[0]
    if variant == "printed":
        return (yield from _printed(X, head, domain, block_length(N, oracle.M)))
    return (yield from reconstruction(X, head, oracle, schedule(N, oracle.M), variant, synthetic_score))


def _printed(X: Array, head: Head, domain: Domain, n: int) -> Plan:
    xp = domain.xp
    N, d = X.shape
    T = ceil_div(N, n)
    pad = T * n - N
    blocks = xp.reshape(stacked(domain, [X, (pad, d)]), (T, n, d))
    real = np.ones((T, n, 1), dtype=np.int64)
    real[-1, n - pad :] = 0
    u, t = (axis[~np.eye(T, dtype=bool)] for axis in np.indices((T, T)))
    pairs = xp.concat([blocks[t], blocks[u]], axis=-1)
    step_1 = [
        Batch(_with_synthetic(blocks, real, domain), _normaliser(domain, [head.W_Q], [head.W_K])),
        Batch(
            _with_synthetic(pairs, real[t], domain),
            _normaliser(domain, [head.W_Q.shape, head.W_Q], [head.W_K, head.W_K.shape]),
        ),
    ]
    step_2 = [
        Batch(blocks, single_head(head.W_Q, head.W_K, head.W_V)),
        Batch(
            pairs,
            single_head(
                stacked(domain, [head.W_Q.shape, head.W_Q]),
                stacked(domain, [head.W_K, head.W_K.shape]),
                stacked(domain, [head.W_V, head.W_V.shape]),
            ),
        ),
    ]
    answers = yield step_1 + step_2 if T > 1 else [step_1[0], step_2[0]]
    half = len(answers) // 2
    order = _square(T)
    R = xp.concat(answers[:half], axis=0)[order][..., :n, :]
    ratio = xp.concat(answers[half:], axis=0)[order]  # B/A, but B/(A + pad) for the last block of keys
    s = domain.number(1 + (real == 0).sum(axis=1)[None, :, None, :])
    one = domain.number([[[[1]]]])
    A = s * R / (one - R)
    if pad:
        last = ratio[:, -1:] * (one + domain.number([[[[pad]]]]) / A[:, -1:])
        ratio = xp.concat([ratio[:, :-1], last], axis=1)
    out = xp.sum(ratio * A, axis=1) / xp.sum(A, axis=1)
    return xp.reshape(out, (T * n, -1))[:N]


def _with_synthetic(tokens: Array, real: np.ndarray, domain: Domain) -> Array:
    """phi of B.1.diag and B.1.off: rows (x, 1) and last row (0, 1); Lemma A.1's coordinate `real` follows."""
    calls, n, width = tokens.shape
    flags = domain.constant(np.concatenate([np.ones_like(real), real], axis=-1))
    last = np.zeros((calls, 1, width + 2), dtype=np.int64)
    last[..., -2] = 1
    return domain.xp.concat([domain.xp.concat([tokens, flags], axis=-1), domain.constant(last)], axis=1)


def _normaliser(domain: Domain, W_Q: list[Array | tuple[int, int]], W_K: list[Array | tuple[int, int]]) -> Transformer:
    """W_Q' = [W_Q, 0; 0, 1] and W_K' alike, over the coordinates of `_with_synthetic`; V' picks `real`."""
    extended = []
    for parts in (W_Q, W_K):
        own = stacked(domain, parts)
        one, value = (np.zeros((own.shape[0] + 2, 1), dtype=np.int64) for _ in range(2))
        one[-2] = value[-1] = 1
        below = stacked(domain, [own, (2, own.shape[1])])
        extended.append(domain.xp.concat([below, domain.constant(one)], axis=1))
    return single_head(*extended, domain.constant(value))


def _square(T: int) -> np.ndarray:
    """Where the answer for (u, t) stands among the T diagonal and then the T(T-1) other calls."""
    order = np.empty((T, T), dtype=np.int64)
    off = ~np.eye(T, dtype=bool)
    order[off] = T + np.arange(T * (T - 1))
    np.fill_diagonal(order, np.arange(T))
    return order
