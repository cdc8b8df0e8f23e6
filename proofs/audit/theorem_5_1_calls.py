"""D.1.calls and D.1.sinks: the causal calls of Theorem 5.1, run as they are described."""

from __future__ import annotations

from typing import Any

import numpy as np

from proofs.audit.entry import Entry, bounded_check
from proofs.audit.literal import EXACT, Arithmetic, integer_columns
from proofs.audit.reading import Affects, Reading, Slip, grid
from proofs.evidence import ExactCases

__all__ = ["DIFFERENCE", "ENTRIES", "LEAD", "ROWS", "SINKS", "allowed_sum", "key_sum"]

LEAD = ("Theorem 5.1/difference-lead-exists", "Theorem 5.1/difference-lead-once-lead")
DIFFERENCE = (*LEAD, "Theorem 5.1/difference-window", "Theorem 5.1/difference-lag")
SINKS = (
    "Theorem 5.1/coverage-exists",
    "Theorem 5.1/coverage-only-sinks",
    "Theorem 5.1/coverage-only-prefix",
    "Theorem 5.1/coverage-only-suffix",
    "Theorem 5.1/coverage-once-sinks",
    "Theorem 5.1/coverage-once-sinks-prefix",
    "Theorem 5.1/coverage-once-sinks-suffix",
    "Theorem 5.1/coverage-once-prefix",
    "Theorem 5.1/coverage-once-suffix",
    "Theorem 5.1/coverage-once-prefix-suffix",
)

Row = tuple[int, ...]
ROWS = [a for n in (2, 3) for a in integer_columns(n, (1, 2))]


def key_sum(x: Arithmetic, a: Row, first: int, last: int) -> Any:
    """sum of a_j for first <= j <= last, positions counted from 1."""
    return sum(map(x.number, a[first - 1 : max(last, first - 1)]), x.number(0))


def allowed_sum(x: Arithmetic, a: Row, i: int, r: int, s: int) -> Any:
    """The sum over the keys that Definition 2.5 lets query i see, a_j the weight of key j."""
    return sum((x.number(w) for j, w in enumerate(a, 1) if j <= i and (j > i - r or j <= s)), x.number(0))


def _prefixes(x: Arithmetic, queries: Row, keys: Row, M: int) -> Any:
    """One causal call (d = 1): a synthetic token of score 0, then (query, key) pairs; A = R/(1-R) of every pair's row.

    Raises:
        OracleLengthError: the pairs and the synthetic token are more than M tokens.
    """
    Q, K = x.array([[0], *([q] for q in queries)]), x.array([[0], *([k] for k in keys)])
    R = x.call(Q, K, x.array([[0], *([1] for _ in keys)]), M, causal=True)[1:, 0]
    return R / (1 - R)


def _printed_calls(x: Arithmetic, X: Row, r: int) -> Any:
    """D.1.calls on the first chunk, q = k = x: sums up to i and up to i-r, for i = r+1, ..., M, subtracted."""
    M = len(X)
    lead = _prefixes(x, X, X, M)[r:]
    return lead - _prefixes(x, X[r:], X[: M - r], M)


def _repaired_calls(x: Arithmetic, X: Row, r: int) -> Any:
    """The same without key 1, which no window of these queries holds: M tokens a call with the synthetic one."""
    M = len(X)
    lead = _prefixes(x, X[1:], X[1:], M)[r - 1 :]
    lag = _prefixes(x, X[r + 1 :], X[1 : M - r], M)
    return lead - np.concatenate([x.array([[0]])[0], lag])


def _windows(x: Arithmetic, X: Row, r: int) -> Any:
    """sum_{j=i-r+1..i} exp(x_i x_j) for i = r+1, ..., M."""
    return [sum(x.weight(X[i] * X[j]) for j in range(i - r + 1, i + 1)) for i in range(r, len(X))]


_CHUNKS = grid(lambda X, r: r < len(X) - 1, X=[X for M in (3, 4) for X in integer_columns(M)], r=[1, 2])


def _repaired_runs() -> ExactCases:
    failures = [str(case) for case in _CHUNKS if list(_repaired_calls(EXACT, **case)) != _windows(EXACT, **case)]
    return ExactCases("M <= 4", "exact rationals", len(_CHUNKS), tuple(failures))


WINDOW_CALLS = bounded_check(
    "D.1.calls",
    "repaired-run",
    "M = 3, 4, r <= M - 2, all columns of tokens 0, 1, 2, d = 1",
    "two calls of M tokens, the synthetic one included, give the windows of M - r queries",
    _repaired_runs,
)


def _row_of_claim(x: Arithmetic, X: Row, r: int, i: int) -> Any:
    """What B.6's call on X gives at row i-r, for it to be the sum up to i-r of query i."""
    return _prefixes(x, X, X, len(X) + 1)[i - r - 1]


ENTRIES = [
    Entry(
        id="D.1.calls",
        restatement="For a chunk's queries, one call by Claim B.6 gives the sums up to i and up to i-r; further calls "
        "give the quotients, queries q_{r+1..M} beside keys k_{1..M-r}.",
        readings=[
            Reading(
                "the two calls of Claim B.6 on X[S_1, :] give the windows' sums with M tokens (d = 1)",
                _CHUNKS,
                _printed_calls,
                _windows,
                slip=Slip(
                    "M data tokens and the synthetic one are M + 1 tokens, as in Claim B.6.",
                    Affects.PROOF,
                    theorem="B_1_block_does_not_fit",
                ),
            ),
            Reading(
                "the call that gives the sum up to i gives the same query's sum up to i-r, too, at row i-r (d = 1)",
                grid(lambda X, r, i: r < i <= len(X), X=integer_columns(2), r=[1], i=[2]),
                _row_of_claim,
                lambda x, X, r, i: sum(x.weight(X[i - 1] * X[j]) for j in range(i - r)),
                slip=Slip(
                    "Row i-r is of query i-r. It takes a second call, with the queries moved r rows up, as the "
                    "quotients have it.",
                    Affects.NOTHING,
                    theorem="D_1_calls_row_is_of_another_query",
                ),
            ),
            Reading(
                "row p of the call with queries q_{r+1..M} beside keys k_{1..M-r} sums up to i-r for i = r + p",
                grid(lambda X, r: r < len(X), X=[X for M in (2, 3) for X in integer_columns(M)], r=[1, 2]),
                lambda x, X, r: _prefixes(x, X[r:], X[: len(X) - r], len(X)),
                lambda x, X, r: [sum(x.weight(X[i] * X[j]) for j in range(i - r + 1)) for i in range(r, len(X))],
            ),
        ],
        remarks=[
            Reading(
                "nor does row i tell it: weights (1, 2) and (2, 1) have the same sum up to 2, not up to 1",
                grid(a=[(1, 2)], b=[(2, 1)]),
                lambda x, a, b: [key_sum(x, a, 1, last) == key_sum(x, b, 1, last) for last in (2, 1)],
                lambda x, a, b: [True, False],
            ),
            Reading(
                "for later chunks sums can begin at the chunk's first key c: the difference is the same for c <= i-r+1",
                grid(
                    lambda a, c, i, r: c <= i - r + 1 and r < i <= len(a),
                    a=[(1, 2, 4, 8)],
                    c=[1, 2, 3],
                    i=[2, 3, 4],
                    r=[1, 2],
                ),
                lambda x, a, c, i, r: key_sum(x, a, c, i) - key_sum(x, a, c, i - r),
                lambda x, a, c, i, r: key_sum(x, a, i - r + 1, i),
            ),
        ],
        note="For i > M no call of M tokens has the sum over the whole prefix; the text displays the first chunk only.",
        repair="Two calls a chunk, without the chunk's first key, which no window of its queries holds: M - 1 data "
        "tokens.",
        evidence=[WINDOW_CALLS, *DIFFERENCE],
        survives="Yes, with two calls (four as printed, with the quotients) a chunk.",
        depends=["Claim B.6", "D.1.chunks"],
    ),
    Entry(
        id="D.1.sinks",
        restatement="The sinks' sum is the sum up to i less the sum from s+1 to i, for a and for b, each by one call.",
        readings=[
            Reading(
                "the i keys of the sum up to i fit a call of M tokens, i >= s + r",
                grid(lambda i, M, r, s: i >= s + r, i=range(1, 8), M=[3, 4], r=[1], s=[1]),
                lambda x, i, M, r, s: i,
                lambda x, i, M, r, s: M,
                "<=",
                Slip(
                    "The sum over the whole prefix is not to be had from one call of M tokens once i > M; in "
                    "D.1.difference sums may begin at the chunk, here they may not.",
                    Affects.PROOF,
                    theorem="D_1_no_call_holds_a_long_prefix",
                ),
            ),
            Reading(
                "sum_{j=1..i} - sum_{j=s+1..i} is what query i sees of the s sinks",
                grid(lambda a, i, s: max(i, s) <= len(a), a=ROWS, i=[1, 2, 3], s=[1, 2]),
                lambda x, a, i, s: key_sum(x, a, 1, i) - key_sum(x, a, s + 1, i),
                lambda x, a, i, s: key_sum(x, a, 1, min(s, i)),
            ),
            Reading(
                "that is sum_{j=1..s}",
                grid(lambda a, i, s: max(i, s) <= len(a), a=ROWS, i=[1, 2, 3], s=[1, 2]),
                lambda x, a, i, s: key_sum(x, a, 1, s),
                lambda x, a, i, s: key_sum(x, a, 1, i) - key_sum(x, a, s + 1, i),
                slip=Slip(
                    "Not for i < s, where the mask hides some of the sinks.",
                    Affects.NOTHING,
                    theorem="D_1_sinks_for_an_early_query_is_wrong",
                ),
            ),
            Reading(
                "the sinks' sum and the window's sum make up what query i sees, i >= max(r, s)",
                grid(lambda a, i, r, s: max(r, s) <= i <= len(a), a=ROWS, i=[1, 2, 3], r=[1, 2], s=[1, 2]),
                lambda x, a, i, r, s: key_sum(x, a, 1, s) + key_sum(x, a, i - r + 1, i),
                allowed_sum,
                slip=Slip(
                    "For i < s + r a sink is in the window, too, and is counted twice.",
                    Affects.PROOF,
                    theorem="D_1_sinks_added_to_the_window_is_wrong",
                ),
            ),
        ],
        remarks=[
            Reading(
                "for i >= s + r the two sums do make it up",
                grid(lambda a, i, r, s: r + s <= i <= len(a), a=ROWS, i=[2, 3], r=[1, 2], s=[1, 2]),
                lambda x, a, i, r, s: key_sum(x, a, 1, s) + key_sum(x, a, i - r + 1, i),
                allowed_sum,
            )
        ],
        repair="The s sink keys stand before a chunk's tokens in the same call; windows hold keys after the sinks "
        "only; the sinks' own queries take one call.",
        evidence=SINKS,
        survives="Yes, for r + s <= M - 1, with one call more in all.",
        depends=["Definition 2.5", "D.1.difference"],
    ),
]
