"""Theorem 5.1 / D.1: sliding windows and attention sinks."""

from __future__ import annotations

from typing import Any

from proofs.audit.entry import Entry
from proofs.audit.literal import Arithmetic, integer_columns
from proofs.audit.reading import Affects, Reading, Slip, grid

__all__ = ["ENTRIES"]

Weights = tuple[int, ...]

DIFFERENCE = (
    "Theorem 5.1/difference-lead-exists",
    "Theorem 5.1/difference-lead-once-lead",
    "Theorem 5.1/difference-window",
    "Theorem 5.1/difference-lag",
)
SUFFIX_AND_PREFIX = (
    "Theorem 5.1/coverage-exists",
    "Theorem 5.1/coverage-only-sinks",
    "Theorem 5.1/coverage-only-prefix",
    "Theorem 5.1/coverage-only-suffix",
    "Theorem 5.1/coverage-once-prefix",
    "Theorem 5.1/coverage-once-suffix",
    "Theorem 5.1/coverage-once-prefix-suffix",
)
_ROWS = [row for n in (2, 3, 4) for row in integer_columns(n, (1, 2))]


def _sum(x: Arithmetic, a: Weights, first: int, last: int) -> Any:
    """sum of a_j for first <= j <= last, positions from 1."""
    return sum((x.number(a[j - 1]) for j in range(max(first, 1), last + 1)), x.number(0))


def _sink_window(x: Arithmetic, a: Weights, i: int, r: int, s: int) -> Any:
    """Definition 2.5, for query i."""
    return sum((x.number(a[j - 1]) for j in range(1, i + 1) if j > i - r or j <= s), x.number(0))


def _output(x: Arithmetic, a: Weights) -> Any:
    """What Claim B.6's call says of the last query: A/(A+1)."""
    total = _sum(x, a, 1, len(a))
    return total / (total + 1)


ENTRIES = [
    Entry(
        id="Theorem 5.1 / D.1",
        restatement="A sliding window of constant size takes O(N/M HL/(H'L')) calls to a causal oracle, with sinks "
        "as well.",
        parts=["5.sketch", "D.1.difference", "D.1.first", "D.1.chunks", "D.1.calls", "D.1.sinks"],
        repair="Two calls a chunk of M-1-r-s queries, sums from the chunk's start; the sink keys stand in the same "
        "call; or "
        "suffixes and prefixes of groups of r keys, without a subtraction.",
        evidence=[*DIFFERENCE, *SUFFIX_AND_PREFIX, "Theorem 5.1/count-prefix"],
        survives="For r + s <= M-2 by differences, r + s <= M-1 by suffixes and prefixes; the constant grows with r "
        "and s, "
        "which the theorem takes as constants.",
        depends=["Claim B.6", "Theorem 3.4 / B.4"],
    ),
    Entry(
        id="5.sketch",
        restatement="The scores of M-r consecutive queries fit in an M x M block.",
        readings=[
            Reading(
                "M-r queries and the r-1 keys before them are at most M positions",
                grid(lambda M, r: r < M, M=[2, 3, 5], r=[1, 2, 4]),
                lambda x, M, r: (M - r) + (r - 1),
                lambda x, M, r: M,
                "<=",
            )
        ],
        evidence=["Theorem 5.1/difference-lead-exists"],
    ),
    Entry(
        id="D.1.difference",
        restatement="A window's sum is the difference of two prefix sums.",
        readings=[
            Reading(
                "sum over the window = sum up to i - sum up to i-r, for i >= r+1",
                grid(lambda a, i, r: r + 1 <= i <= len(a), a=_ROWS, i=[2, 3, 4], r=[1, 2]),
                lambda x, a, i, r: _sum(x, a, 1, i) - _sum(x, a, 1, i - r),
                lambda x, a, i, r: _sum(x, a, i - r + 1, i),
            )
        ],
        note="Over the reals. In float64 a key that has left the window, with a large score, leaves no digit of what "
        "is in "
        "it.",
        evidence=["Theorem 5.1/difference-window", "Theorem 5.1/difference-lag"],
    ),
    Entry(
        id="D.1.first",
        restatement="Two calls give the sums of the first r queries.",
        readings=[
            Reading(
                "sum_{j=1..r} a_{i,j} is what query i <= r attends to",
                grid(lambda a, i, r: i <= r <= len(a), a=_ROWS, i=[1, 2], r=[1, 2]),
                lambda x, a, i, r: _sum(x, a, 1, r),
                lambda x, a, i, r: _sum(x, a, 1, i),
                "=",
                Slip("The sum ends at r; it has to end at i, as the causal calls give it.", Affects.NOTHING),
            )
        ],
        repair="sum_{j=1..i}. The calls are not needed: the first chunk's own call has these sums.",
        evidence=["Theorem 5.1/difference-lead-exists"],
    ),
    Entry(
        id="D.1.chunks",
        restatement="The queries from r+1 on are cut into chunks of M-r, each a constant number of calls.",
        readings=[
            Reading(
                "the first two chunks hold M-r queries and follow one another",
                grid(lambda M, r: r < M, M=[2, 3, 5], r=[1, 2, 4]),
                lambda x, M, r: (M - r, (2 * M - r) - M),
                lambda x, M, r: (M - r, M - r),
            ),
            Reading(
                "a chunk's M keys and the synthetic token are at most M tokens",
                grid(M=[2, 3]),
                lambda x, M: M + 1,
                lambda x, M: M,
                "<=",
                Slip("Claim B.6 adds a token: the call has M+1.", Affects.PROOF),
            ),
        ],
        repair="Chunks of M-1-r queries.",
        evidence=DIFFERENCE,
        depends=["Claim B.6"],
    ),
    Entry(
        id="D.1.calls",
        restatement="One call gives both the sum up to i and the sum up to i-r.",
        readings=[
            Reading(
                "two rows of weights with the same output of Claim B.6's call have the same sum up to i-r, for r = 1",
                [{"a": a, "b": b} for a, b in [((1, 2), (2, 1)), ((1, 1), (1, 1))]],
                lambda x, a, b: _sum(x, a, 1, len(a) - 1),
                lambda x, a, b: _sum(x, b, 1, len(b) - 1),
                "=",
                Slip(
                    "The call's output depends on the sum up to i alone, which is 3 in both rows; sums up to i-1 are "
                    "1 and "
                    "2. It takes a second call, with the queries r rows up.",
                    Affects.PROOF,
                ),
            ),
            Reading(
                "a call of M tokens holds the keys 1, ..., i of a query of the second chunk",
                grid(M=[2, 3]),
                lambda x, M: M + 1,
                lambda x, M: M,
                "<=",
                Slip(
                    "From the second chunk on the whole prefix does not fit. The sums can begin at the chunk's first "
                    "key, "
                    "which the difference does not notice.",
                    Affects.PROOF,
                ),
            ),
        ],
        remarks=[
            Reading(
                "those two rows have the same output",
                [{"a": (1, 2), "b": (2, 1)}],
                lambda x, a, b: _output(x, a),
                lambda x, a, b: _output(x, b),
            )
        ],
        repair="Two calls a chunk, LEAD and LAG, with sums that begin r keys before the chunk.",
        evidence=DIFFERENCE,
        survives="With twice the calls.",
        depends=["Claim B.6"],
    ),
    Entry(
        id="D.1.sinks",
        restatement="The sinks' sum is a difference of sums over the prefix, each from one call.",
        readings=[
            Reading(
                "sum_{j=1..s} = sum_{j=1..i} - sum_{j=s+1..i}",
                grid(lambda a, i, s: s <= i <= len(a), a=_ROWS, i=[2, 3], s=[1, 2]),
                lambda x, a, i, s: _sum(x, a, 1, i) - _sum(x, a, s + 1, i),
                lambda x, a, i, s: _sum(x, a, 1, s),
            ),
            Reading(
                "one call of M tokens holds the keys 1, ..., i",
                grid(i=[2, 3, 4], M=[2, 3]),
                lambda x, i, M: i,
                lambda x, i, M: M,
                "<=",
                Slip(
                    "The sum over the whole prefix takes more than one call as soon as i > M; here no difference "
                    "takes the "
                    "missing keys away.",
                    Affects.PROOF,
                ),
            ),
            Reading(
                "the sinks' sum and the window's sum add up to what Definition 2.5 allows",
                grid(lambda a, i, r, s: i <= len(a), a=_ROWS, i=[2, 3, 4], r=[1, 2], s=[1, 2]),
                lambda x, a, i, r, s: _sum(x, a, 1, min(s, i)) + _sum(x, a, i - r + 1, i),
                _sink_window,
                "=",
                Slip("A sink in the window counts twice for i < r + s.", Affects.PROOF),
            ),
        ],
        repair="Put the s sink keys in the call of the chunk's queries, and let the window's sums hold keys after "
        "the sinks "
        "only.",
        evidence=[
            *SUFFIX_AND_PREFIX,
            "Theorem 5.1/coverage-once-sinks-prefix",
            "Theorem 5.1/coverage-once-sinks-suffix",
        ],
        survives="Without any further calls.",
        depends=["D.1.calls"],
    ),
]
