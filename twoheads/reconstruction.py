"""The block softmax reconstruction: from the outputs of oracle calls to attention (B.1.goal, B.1.steps).

A call holds data rows, each with a query and a key token, and synthetic tokens of known weight. Its values
are (v_j, 1, 0) for a key and (0, 0, 1) for a synthetic token, so that one output row holds

    O = B / (A + s a),    R = A / (A + s a),    w = s a / (A + s a)

for A and B the sums over the keys that the row sees, s the synthetic tokens that it sees, each of weight a.
Then A = s a R / w and B = s a O / w, without any subtraction (*stable*); *merged* leaves w out and uses 1 - R in
its place. The factor a is common to all calls and cancels in sum B / sum A.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from twoheads.errors import InputError, UncoveredQueryError
from twoheads.oracle import Batch
from twoheads.plans import Asked, Plan
from twoheads.scalars import Array, Domain
from twoheads.schedules import Part, calls_of, rows_of, sight_of
from twoheads.transformer import Head, single_head

__all__ = [
    "GAP",
    "OneCall",
    "Rows",
    "Tokens",
    "contributions",
    "extended_head",
    "portions",
    "reconstruction",
    "sequences",
]

OneCall = Literal["merged", "stable"]
"""Variants that learn A and B of a row from one call."""

Values = Literal["merged", "stable", "weight", "ratio"]
"""What a call returns: (O, R), (O, R, w), R alone, or O alone."""

_FLAGS = {"merged": 1, "stable": 2, "weight": 1, "ratio": 0}

GAP = 1500
"""What a score loses for every code bit between two groups of one call. Twice the range of exp in float64: the
weights of other groups underflow to exactly 0 wherever the reconstruction itself is in range."""

_BATCH_ENTRIES = 2**22  # token entries fed at once; only bounds memory


@dataclass(frozen=True)
class Rows:
    """Where the rows of some calls belong: arrays are (calls, rows)."""

    query: np.ndarray
    """The query's position, or -1 for a row without one."""
    key: np.ndarray
    """The key's position, or -1 for a row whose key is synthetic."""
    synthetic: np.ndarray
    """How many synthetic tokens the row sees, the leading one included."""
    sinks: int
    """How many sink keys stand before the rows."""
    group: np.ndarray
    """(rows,): the group of each row; all 0 in a family without groups."""
    sign: int

    @classmethod
    def of(cls, part: Part, calls: np.ndarray) -> Rows:
        """The rows of some calls (calls, arity) of a part."""
        family, sizes = part.family, part.sizes
        query, key = rows_of(family, sizes, calls)
        synthetic = 1 + (key < 0) @ sight_of(family, sizes).T.astype(np.int64)
        group = np.indices(family.rows(sizes))[0].ravel() if family.grouped else np.zeros(key.shape[1], np.int64)
        return cls(query, key, synthetic, sizes.s if family.sinks else 0, group, family.sign)


@dataclass(frozen=True)
class Tokens:
    """The layout of a token: [key token, query token, data flag, synthetic flag, query code, key code]."""

    d: int
    bits: int
    """Length of a group code; 0 if a call has one group."""

    @property
    def width(self) -> int:
        """Embedding dimension of the oracle."""
        return 2 * self.d + 2 + 2 * self.bits


def reconstruction(
    X: Array,
    head: Head,
    oracle: Asked,
    schedule: Sequence[Part],
    variant: OneCall,
    synthetic_score: float = 0,
) -> Plan:
    """Attention of one head over all pairs that the schedule covers, as a plan of one round.

    Args:
        X: tokens (N, d).
        head: W_Q, W_K (d, m) and W_V (d, d_v).
        oracle: says what the scalars are.
        schedule: every allowed pair must occur, counted with its family's sign, exactly once.
        variant: what a call returns and how A and B are recovered from it.
        synthetic_score: log a, the score of a synthetic token; a number fixed before the input is seen.

    Returns:
        (N, d_v).

    Raises:
        InputError: groups share a call over an exact scalar, where no code can part them.
    """
    domain = oracle.domain_for(X, head.W_Q, head.W_K, head.W_V)
    groups = max(part.sizes.G if part.family.grouped else 1 for part in schedule)
    if groups > 1 and domain.exact:
        raise InputError(
            f"groups of one call are kept apart by a score, which is not exact over {domain.name}: give each group "
            "its own call."
        )
    layout = Tokens(X.shape[1], int(groups - 1).bit_length())
    parameters = single_head(*extended_head(head, domain, layout, variant, synthetic_score))
    rows = list(portions(schedule, layout))
    answers = yield (Batch(sequences(X, part, layout, domain), parameters, domain) for part in rows)
    return _combine(answers, rows, X.shape[0], domain, variant)


def sequences(X: Array, rows: Rows, layout: Tokens, domain: Domain) -> Array:
    """Oracle input (calls, 1 + sinks + rows, width): the synthetic token, the sinks, then the rows.

    Without its first token it is the input of a call that returns B/A.
    """
    xp = domain.xp
    padded = xp.concat([X, domain.constant(np.zeros((1, layout.d), dtype=np.int64))], axis=0)  # row N is row -1
    calls = len(rows.key)
    ahead = np.full((calls, 1 + rows.sinks), -1)
    keys = np.concatenate([np.tile(np.arange(-1, rows.sinks), (calls, 1)), rows.key], axis=1)
    queries = np.concatenate([ahead, rows.query], axis=1)
    synthetic = (keys < 0)[..., None].astype(np.int64)
    code = (rows.group[:, None] >> np.arange(layout.bits)) & 1
    codes = np.zeros((calls, keys.shape[1], 2 * layout.bits), dtype=np.int64)
    codes[:, 1 + rows.sinks :] = np.concatenate([code, 1 - code], axis=1)
    marks = domain.constant(np.concatenate([1 - synthetic, synthetic, codes], axis=-1))
    return xp.concat([padded[keys], padded[queries], marks], axis=-1)


def extended_head(
    head: Head, domain: Domain, layout: Tokens, values: Values, synthetic_score: float = 0
) -> tuple[Array, Array, Array]:
    """W_Q, W_K (width, m + 1 + bits) and W_V (width, what is returned): the head's own matrices, padded.

    Queries become (q_i, 1, code), data keys (k_j, 0, -GAP (1 - code)) and synthetic keys (0, log a, ...). A query
    loses GAP on a key of another group for every bit that it has and that group lacks; to an earlier group that is
    at least one bit, since bits included in one another make numbers that are not larger.
    """
    d, m = head.W_Q.shape
    d_v = head.W_V.shape[1]
    flags = _FLAGS[values]
    marks = layout.width - 2 * d
    query, key, value = (np.zeros((layout.width, c), dtype=np.int64) for c in (1 + layout.bits, 1 + layout.bits, flags))
    query[2 * d : 2 * d + 2, 0] = 1
    key[2 * d + 1, 0] = 1
    bit = np.arange(layout.bits)
    query[2 * d + 2 + bit, 1 + bit] = 1
    key[2 * d + 2 + layout.bits + bit, 1 + bit] = -GAP
    value[2 * d + np.arange(flags), np.arange(flags)] = 1
    score = domain.constant(key[:, :1]) * synthetic_score if synthetic_score else domain.constant(0 * key[:, :1])
    W_V = _stacked(domain, [head.W_V, (d, d_v), (marks, d_v)])
    xp = domain.xp
    return (
        xp.concat([_stacked(domain, [(d, m), head.W_Q, (marks, m)]), domain.constant(query)], axis=1),
        xp.concat([_stacked(domain, [head.W_K, (d, m), (marks, m)]), score, domain.constant(key[:, 1:])], axis=1),
        xp.concat([W_V[:, : 0 if values == "weight" else d_v], domain.constant(value)], axis=1),
    )


def _combine(answers: Sequence[Array], rows: Sequence[Rows], N: int, domain: Domain, variant: OneCall) -> Array:
    """sum B / sum A for every position, from the answers (calls, 1 + sinks + rows, d_v + 1 or + 2) of all calls."""
    xp = domain.xp
    flat = xp.concat(
        [xp.reshape(y[:, 1 + part.sinks :, :], (-1, y.shape[-1])) for y, part in zip(answers, rows, strict=True)],
        axis=0,
    )
    width = flat.shape[1] - (1 if variant == "merged" else 2)
    w = domain.number([[1]]) - flat[:, width:] if variant == "merged" else flat[:, -1:]
    s = np.concatenate([part.sign * part.synthetic.ravel() for part in rows])
    # a neutral row of O = R = s = 0 and w = 1 stands for "no contribution"
    OR = xp.concat([flat[:, : width + 1], 0 * flat[:1, : width + 1]], axis=0)
    w = xp.concat([w, domain.number([[1]])], axis=0)
    places = contributions(np.concatenate([part.query.ravel() for part in rows]), N)
    w, OR, s = w[places], OR[places], domain.number(np.append(s, 0)[places][..., None])
    sums = xp.sum(s * (domain.pivot(w, axis=1) / w) * OR, axis=1)
    return sums[:, :-1] / sums[:, -1:]


def _stacked(domain: Domain, parts: Sequence[Array | tuple[int, int]]) -> Array:
    """The parts one below the other, a shape standing for zeros."""
    blocks = [domain.constant(np.zeros(part, dtype=np.int64)) if isinstance(part, tuple) else part for part in parts]
    return domain.xp.concat(blocks, axis=0)


def contributions(query: np.ndarray, N: int) -> np.ndarray:
    """Row numbers (N, most rows of one query) by query position, padded with the number of rows."""
    order = np.argsort(query, kind="stable")
    order = order[np.searchsorted(query[order], 0) :]
    counts = np.bincount(query[order], minlength=N)
    if not counts.all():
        raise UncoveredQueryError("the schedule leaves a query without any call.")
    places = np.full((N, counts.max()), len(query))
    within = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    places[query[order], within] = order
    return places


def portions(schedule: Sequence[Part], layout: Tokens) -> Iterator[Rows]:
    """The rows of all calls, in portions that are fed as one batch."""
    for part in schedule:
        calls = calls_of(part.family, part.sizes)
        length = 1 + part.sizes.s + int(np.prod(part.family.rows(part.sizes)))
        size = max(1, _BATCH_ENTRIES // (length * layout.width))
        for start in range(0, len(calls), size):
            yield Rows.of(part, calls[start : start + size])
