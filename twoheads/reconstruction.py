"""The block softmax reconstruction: from the outputs of oracle calls to attention (B.1.goal, B.1.steps).

A call holds data rows, each with a query and a key token, and synthetic tokens of known weight. Its values
are (v_j, 1, 0) for a key and (0, 0, 1) for a synthetic token, so that one output row holds

    O = B / (A + s a),    R = A / (A + s a),    w = s a / (A + s a)

for A and B the sums over the keys that the row sees, s the synthetic tokens that it sees, each of weight a.
Then A = s a R / w and B = s a O / w, without any subtraction (*stable*); *merged* leaves w out and uses 1 - R in
its place. The factor a is common to all calls and cancels in sum B / sum A.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from twoheads.errors import InputError
from twoheads.oracle import Batch, Oracle
from twoheads.scalars import Array, Domain
from twoheads.schedules import CallFamily, block_count, calls_of
from twoheads.transformer import Head, single_head

__all__ = ["OneCallVariant", "Rows", "extended_head", "reconstruct", "sequences", "stacked", "weighted_mean"]

OneCallVariant = Literal["merged", "stable"]

_BATCH_ENTRIES = 2**22  # token entries fed at once; only bounds memory


@dataclass(frozen=True)
class Rows:
    """Where the rows of some calls belong: all arrays are (calls, n) but `calls`."""

    query: np.ndarray
    """The query's position, or -1 for a row without one."""
    key: np.ndarray
    """The key's position, or -1 for a row whose key is synthetic."""
    synthetic: np.ndarray
    """How many synthetic tokens the row sees, the leading one included."""

    @classmethod
    def of(cls, family: CallFamily, calls: np.ndarray, n: int, N: int) -> Rows:
        """The rows of the given calls (calls, arity) of a family, for blocks of n and N positions."""
        p = np.arange(n)
        indices = [calls[:, [axis]] for axis in range(family.arity)]
        query, key = (
            np.broadcast_to(place(n, *indices, p), (len(calls), n)) for place in (family.query, family.key)
        )
        query, key = (np.where((x >= 0) & (x < N), x, -1) for x in (query, key))
        sees = np.broadcast_to(family.sees(p[:, None], p[None, :]), (n, n))
        return cls(query, key, 1 + (key < 0) @ sees.T.astype(np.int64))


def reconstruct(
    X: Array,
    head: Head,
    oracle: Oracle,
    families: Iterable[CallFamily],
    n: int,
    variant: OneCallVariant,
    synthetic_score: float = 0,
) -> Array:
    """Attention of one head over all pairs that the families cover, in one round of oracle calls.

    Args:
        X: tokens (N, d).
        head: W_Q, W_K (d, m) and W_V (d, d_v).
        oracle: reads at least n + 1 tokens.
        families: the schedule; every allowed pair must occur in exactly one call.
        n: data rows in a call.
        variant: what a call returns and how A and B are recovered from it.
        synthetic_score: log a, the score of a synthetic token; a number fixed before the input is seen.

    Returns:
        (N, d_v).
    """
    N = X.shape[0]
    domain = oracle.domain_for(X, head.W_Q, head.W_K, head.W_V)
    parameters = single_head(*extended_head(head, domain, variant, synthetic_score))
    T = block_count(N, n)
    width = 2 * X.shape[1] + 2
    rows = [
        Rows.of(family, calls, n, N)
        for family in families
        for calls in _portions(calls_of(family, T), (n + 1) * width)
    ]
    answers = oracle.round(Batch(sequences(X, part, domain), parameters) for part in rows)
    return weighted_mean(answers, rows, N, domain, variant)


def sequences(X: Array, rows: Rows, domain: Domain) -> Array:
    """Oracle input (calls, n + 1, 2d + 2): the synthetic token, then rows [key, query, data flag, synthetic flag]."""
    xp = domain.xp
    N, d = X.shape
    padded = xp.concat([X, domain.constant(np.zeros((1, d), dtype=np.int64))], axis=0)  # row N, also row -1
    synthetic = (rows.key < 0)[..., None].astype(np.int64)
    flags = domain.constant(np.concatenate([1 - synthetic, synthetic], axis=-1))
    data = xp.concat([padded[rows.key], padded[rows.query], flags], axis=-1)
    first = np.zeros((len(rows.key), 1, 2 * d + 2), dtype=np.int64)
    first[..., -1] = 1
    return xp.concat([domain.constant(first), data], axis=1)


def extended_head(
    head: Head, domain: Domain, variant: OneCallVariant, synthetic_score: float = 0
) -> tuple[Array, Array, Array]:
    """W_Q, W_K (2d + 2, m + 1) and W_V (2d + 2, d_v + 1 or + 2): the head's own matrices, padded.

    Queries become (q_i, 1), data keys (k_j, 0) and synthetic keys (0, log a).
    """
    d, m = head.W_Q.shape
    d_v = head.W_V.shape[1]
    flags = 1 if variant == "merged" else 2
    both_flags = np.zeros((2 * d + 2, 1), dtype=np.int64)
    both_flags[2 * d :] = 1
    synthetic_flag = np.zeros((2 * d + 2, 1), dtype=np.int64)
    synthetic_flag[-1] = 1
    xp = domain.xp
    W_Q = stacked(domain, [(d, m), head.W_Q, (2, m)])
    W_K = stacked(domain, [head.W_K, (d, m), (2, m)])
    W_V = stacked(domain, [head.W_V, (d, d_v), (2, d_v)])
    select = np.zeros((2 * d + 2, flags), dtype=np.int64)
    select[2 * d + np.arange(flags), np.arange(flags)] = 1
    score = domain.constant(synthetic_flag) * synthetic_score if synthetic_score else domain.constant(0 * both_flags)
    return (
        xp.concat([W_Q, domain.constant(both_flags)], axis=1),
        xp.concat([W_K, score], axis=1),
        xp.concat([W_V, domain.constant(select)], axis=1),
    )


def weighted_mean(
    answers: Sequence[Array], rows: Sequence[Rows], N: int, domain: Domain, variant: OneCallVariant
) -> Array:
    """sum B / sum A for every position, from the answers (calls, n + 1, d_v + 1 or + 2) of all calls."""
    xp = domain.xp
    flat = xp.concat([xp.reshape(y[:, 1:, :], (-1, y.shape[-1])) for y in answers], axis=0)
    flags = 1 if variant == "merged" else 2
    R = flat[:, -flags, None]
    w = domain.number([[1]]) - R if variant == "merged" else flat[:, -1, None]
    s = domain.number(np.concatenate([part.synthetic.ravel() for part in rows])[:, None])
    # (O, R), w and s of all rows; a neutral last row stands for "no contribution"
    OR = xp.concat([flat[:, : flat.shape[1] - flags + 1], 0 * flat[:1, : flat.shape[1] - flags + 1]], axis=0)
    w = xp.concat([w, domain.number([[1]])], axis=0)
    s = xp.concat([s, domain.number([[0]])], axis=0)
    places = _contributions(np.concatenate([part.query.ravel() for part in rows]), N)
    w, s, OR = w[places], s[places], OR[places]
    scale = s * (domain.pivot(w, axis=1) / w)
    sums = xp.sum(scale * OR, axis=1)
    return sums[:, :-1] / sums[:, -1:]


def _contributions(query: np.ndarray, N: int) -> np.ndarray:
    """Row numbers (N, most rows of one query) by query position, padded with the number of rows."""
    order = np.argsort(query, kind="stable")
    order = order[np.searchsorted(query[order], 0) :]
    counts = np.bincount(query[order], minlength=N)
    if not counts.all():
        raise InputError("the schedule leaves a query without any call.")
    places = np.full((N, counts.max()), len(query))
    within = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    places[query[order], within] = order
    return places


def stacked(domain: Domain, parts: Sequence[Array | tuple[int, int]]) -> Array:
    """The parts one below the other, a shape standing for zeros."""
    blocks = [domain.constant(np.zeros(part, dtype=np.int64)) if isinstance(part, tuple) else part for part in parts]
    return domain.xp.concat(blocks, axis=0)


def _portions(calls: np.ndarray, entries_per_call: int) -> Iterator[np.ndarray]:
    size = max(1, _BATCH_ENTRIES // entries_per_call)
    for start in range(0, len(calls), size):
        yield calls[start : start + size]
