"""Theorem 3.5 / B.5: the split of the causal sums, and the calls that are to give its parts."""

from __future__ import annotations

from typing import Any

import z3

from proofs.audit.entry import Entry, bounded_check
from proofs.audit.literal import EXACT, Arithmetic, NoValueError, integer_columns
from proofs.audit.reading import Affects, Reading, Slip, grid
from proofs.evidence import ExactCases
from proofs.mutation import replay_of
from proofs.obligation import Hypothesis, Kind, Mutant, Obligation

__all__ = ["CAUSAL_COVERAGE", "ENTRIES"]

CAUSAL_COVERAGE = (
    "Theorem 3.5/coverage-exists",
    "Theorem 3.5/coverage-only-diagonal",
    "Theorem 3.5/coverage-only-forward",
    "Theorem 3.5/coverage-only-reversed",
    "Theorem 3.5/coverage-once-diagonal-forward",
    "Theorem 3.5/coverage-once-diagonal-reversed",
    "Theorem 3.5/coverage-once-forward",
    "Theorem 3.5/coverage-once-forward-reversed",
    "Theorem 3.5/coverage-once-reversed",
)

Weights = tuple[int, ...]


def _block(t: int, M: int) -> range:
    """S_t of §3."""
    return range((t - 1) * M + 1, t * M + 1)


def _halves(x: Arithmetic, a: Weights, M: int, i: int, t: int, within: bool = False) -> tuple[Any, Any]:
    """A^(1)_{i,t} and A^(2)_{i,t}, a_j the weight of key j: by absolute positions, or by those within the blocks."""
    last = (t - 1) * M + (i - 1) % M + 1 if within else i
    if max(_block(t, M)) > len(a):
        raise NoValueError(f"there is no a_{{{i},{max(_block(t, M))}}}")
    first = sum(x.number(a[j - 1]) for j in _block(t, M) if j <= last)
    return first, sum(x.number(a[j - 1]) for j in _block(t, M)) - first


def _denominator(x: Arithmetic, a: Weights, M: int, i: int, printed: bool) -> Any:
    """sum_{t' < t} (A^(1) + A^(2)) + A^(1)_{i,t}; as printed the sum's terms have the index t instead of t'."""
    t = (i - 1) // M + 1
    terms = (sum(_halves(x, a, M, i, t if printed else u)) for u in range(1, t))
    return sum(terms) + _halves(x, a, M, i, t)[0]


def _second_ratio(x: Arithmetic, a: Weights, M: int, i: int, t: int) -> Any:
    """B^(2)/A^(2) of the printed split, for values 1: is there such a number?"""
    second = _halves(x, a, M, i, t)[1]
    return second / second


def _weight_rows(M: int) -> list[Weights]:
    return integer_columns(2 * M, (1, 2))


def _split_runs() -> ExactCases:
    """The halves by positions within the blocks are a partition, and the denominators add up."""
    cases = [(a, M, i) for M in (1, 2, 3) for a in _weight_rows(M) for i in range(M + 1, 2 * M + 1)]
    failures = []
    for a, M, i in cases:
        halves = sum(_halves(EXACT, a, M, i, 1, within=True)) + _halves(EXACT, a, M, i, 2)[0]
        failures += [f"{a}, M = {M}, i = {i}"] if halves != sum(a[:i]) else []
    return ExactCases("two blocks, M <= 3, weights 1 and 2", "exact rationals", len(cases), tuple(failures))


def _always_empty() -> Obligation:
    M, t, u, i, j, before = z3.Ints("M t u i j before")
    return Obligation(
        item="B.5.split",
        name="second-half-empty",
        kind=Kind.COVERAGE,
        scope="all M >= 1, all blocks t' < t",
        hypotheses=[
            Hypothesis("blocks", z3.And(M >= 1, u >= 1, u <= t - 1), "u is t', a block before t"),
            Hypothesis("query", z3.And(i > before, before == (t - 1) * M), "i is in block t or later"),
            Hypothesis("key", j <= u * M, "j is in block u or earlier"),
            Hypothesis("monotone", u * M <= (t - 1) * M, "an instance of Theorem 5.1/monotone-product"),
        ],
        goal=j < i,
        proves="by absolute positions no key of an earlier block is behind the query: A^(2) is always 0",
        depends_on=["Theorem 5.1/monotone-product"],
        mutants=[
            Mutant(
                "same-block",
                "the block t itself is allowed",
                replay_of(z3.ToReal(i), z3.ToReal(j) + 1),
                changed=[
                    Hypothesis("blocks", z3.And(M >= 2, M <= 5, u >= 1, u == t, t <= 3)),
                    Hypothesis("monotone", u * M <= t * M),
                ],
            )
        ],
    )


_SPLIT = grid(
    lambda a, M, i: len(a) == 2 * M and M < i <= 2 * M,
    a=[a for M in (2, 3) for a in _weight_rows(M)],
    M=[2, 3],
    i=[3, 4, 5, 6],
)

ENTRIES = [
    Entry(
        id="Theorem 3.5 / B.5",
        restatement="Theorem 3.4 holds with causal masks in the large transformer and in the oracle.",
        parts=[
            "Claim B.6",
            "B.5.goal",
            "B.5.split",
            "B.5.first",
            "B.5.second",
            "B.5.second-values",
            "B.5.count",
            "Theorem 3.4 / B.4",
        ],
        repair="Halves by the positions within the blocks; the synthetic token first; B.5.second's shift for the "
        "values, too; values (v, flag), so that one call returns both sums of a half.",
        evidence=[
            *CAUSAL_COVERAGE,
            "Theorem 3.5/count-calls",
            "Theorem 3.5/count-bound",
            "Lemma 3.1/recovery-merged",
            "Lemma 3.1/sums-base",
            "Lemma 3.1/sums-step",
            "Lemma 3.1/quotient",
            "Theorem 3.5/small-sizes-causal-merged",
        ],
        survives="As Theorem 3.4 does: exact, for all N >= 1 and M >= 2, at most 4 (N/M)^2 calls for a head.",
        depends=["Claim B.6", "Theorem 3.4 / B.4"],
    ),
    Entry(
        id="B.5.goal",
        restatement="Causal attention of row i is sum_{j <= i} b_{i,j} over sum_{j <= i} a_{i,j}.",
        readings=[
            Reading(
                "softmax with scores above the diagonal at -infinity gives that (values X, scores x_i x_j)",
                grid(X=[X for N in (1, 2, 3, 4) for X in integer_columns(N)]),
                lambda x, X: x.call(c := x.array([[e] for e in X]), c, c, causal=True)[:, 0],
                lambda x, X: [
                    sum(x.weight(p * q) * q for q in X[: i + 1]) / sum(x.weight(p * q) for q in X[: i + 1])
                    for i, p in enumerate(X)
                ],
            )
        ],
        depends=["Definition 2.3"],
    ),
    Entry(
        id="B.5.split",
        restatement="Every A_{i,t'} is A^(1) (keys of the block up to i) and A^(2) (the others), and B likewise; "
        "the row is put together from A^(1), A^(2), B^(1)/A^(1), B^(2)/A^(2).",
        readings=[
            Reading(
                "B^(2)_{i,1}/A^(2)_{i,1} is a number (two blocks, weights a, all values 1)",
                _SPLIT,
                lambda x, a, M, i: _second_ratio(x, a, M, i, 1),
                lambda x, a, M, i: x.number(1),
                slip=Slip(
                    "By absolute positions S_{t'} - [i] is empty for every t' < t: A^(2) = 0, and B^(2)/A^(2) is 0/0.",
                    Affects.PROOF,
                    theorem="B_5_split_second_half_is_empty",
                ),
            ),
            Reading(
                "the last denominator is the sum of the weights up to i",
                _SPLIT,
                lambda x, a, M, i: _denominator(x, a, M, i, printed=True),
                lambda x, a, M, i: x.number(sum(a[:i])),
                slip=Slip(
                    "The terms of the sum over t' < t have the index t in place of t'.",
                    Affects.NOTHING,
                    theorem="B_5_goal_denominator_as_printed_is_wrong",
                ),
            ),
            Reading(
                "with t' there it is",
                _SPLIT,
                lambda x, a, M, i: _denominator(x, a, M, i, printed=False),
                lambda x, a, M, i: x.number(sum(a[:i])),
            ),
        ],
        remarks=[
            Reading(
                "by positions within the blocks A^(2) is still 0 for the last query of a block",
                grid(a=[a for M in (1, 2) for a in _weight_rows(M)]),
                lambda x, a: _halves(x, a, len(a) // 2, len(a), 1, within=True)[1],
                lambda x, a: x.number(0),
            )
        ],
        repair="Positions within the blocks: keys at places up to the query's and behind it; t' in the denominator; "
        "B^(2)/(A^(2) + 1), which is defined for A^(2) = 0.",
        evidence=[
            _always_empty(),
            bounded_check(
                "B.5.split",
                "halves-add-up",
                "two blocks, M <= 3",
                "halves by places within the blocks add up to the causal sum",
                _split_runs,
            ),
            *CAUSAL_COVERAGE,
        ],
        survives="Yes.",
        depends=["B.5.goal"],
    ),
    Entry(
        id="B.5.count",
        restatement="O((N/M)^2) calls in total.",
        readings=[
            Reading(
                "two calls for every block and four for every pair t' < t of T = N/M blocks are 2 (N/M)^2",
                grid(T=range(1, 40)),
                lambda x, T: sum(2 + 4 * (t - 1) for t in range(1, T + 1)),
                lambda x, T: 2 * T * T,
            )
        ],
        remarks=[
            Reading(
                "the N calls that put the rows together (B.1.steps) are more once N < M^2/2",
                grid(lambda N, M: N % M == 0 and 2 * N < M * M, N=[64, 256, 1024], M=[16, 32, 64, 256]),
                lambda x, N, M: N,
                lambda x, N, M: 2 * (N // M) ** 2,
                ">",
            )
        ],
        note="The calls of B.1.steps that put the rows together are counted there.",
        evidence=["Theorem 3.5/count-calls", "Theorem 3.5/count-bound"],
        survives="With blocks of M - 1 positions and one call for each half: ceil(N/(M-1))^2 <= 4 (N/M)^2.",
        depends=["B.1.steps"],
    ),
]
