"""Theorem 3.5 / B.5: the causal schedule meets every pair j <= i exactly once, for all N and M.

The formulas are about `twoheads.theorem_3_5`'s own call families. What one call returns is Lemma 3.1's recovery,
with A and B the sums over the keys that a row sees; how the calls' sums add up is Lemma 3.1's recombination.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import z3

from proofs.coverage import covers, is_division
from proofs.exact import Witness
from proofs.obligation import Difference, Hypothesis, Kind, Mutant, Obligation
from proofs.schedule_proofs import Division, Meeting, PartProof, ScheduleProof
from twoheads import theorem_3_5
from twoheads.schedules import CallFamily, Part, Sizes
from twoheads.theorem_3_5 import DIAGONAL, FORWARD, REVERSED

__all__ = ["obligations"]

N, n, T, i, j = z3.Ints("N n T i j")
u, t, p, q = z3.Ints("u t p q")
SIZES = Sizes(N, n, T)


def obligations() -> Iterator[Obligation]:
    """Coverage for all N and M, and the number of calls."""
    yield from COVERAGE.obligations()
    yield from _counts()


def _counts() -> Iterator[Obligation]:
    d, f, M = z3.Ints("diagonal forward M")
    sizes = [
        Hypothesis("length", z3.And(M >= 2, M <= N), "2 <= M <= N"),
        Hypothesis("block-length", n == M - 1, "a block has M-1 positions"),
        Hypothesis("blocks", covers(T, n, N), "T is N/n rounded up"),
    ]
    yield Obligation(
        item="Theorem 3.5",
        name="count-calls",
        kind=Kind.COUNT,
        scope="all 2 <= M <= N",
        hypotheses=[
            Hypothesis("diagonal", d == T, "one diagonal call a block"),
            Hypothesis("pairs", 2 * f == T * (T - 1), "forward calls: the pairs t < u of T blocks"),
        ],
        goal=d + f + f == T * T,
        proves="diagonal, forward and reversed calls are T^2 in all, if a block has more than one position",
        lifting="The number of pairs t < u < T is T(T-1)/2; the ledger test holds the count against runs.",
        mutants=[
            Mutant(
                "reversed-forgotten",
                "reversed calls are not counted",
                _count_replay,
                d + f == T * T,
                [Hypothesis("pairs", z3.And(2 * f == T * (T - 1), T >= 2, T <= 9), "small sizes")],
            ),
        ],
    )
    yield Obligation(
        item="Theorem 3.5",
        name="count-bound",
        kind=Kind.COUNT,
        scope="all 2 <= M <= N",
        hypotheses=sizes,
        goal=z3.And(T * M <= 2 * N, (T * M) * (T * M) <= 4 * (N * N)),
        proves="T <= 2 N/M, hence at most 4 (N/M)^2 calls; equality at M = N",
        mutants=[
            Mutant(
                "smaller-constant",
                "the constant 3 in place of 4",
                lambda w: _excess(4, 3, w),
                (T * M) * (T * M) <= 3 * (N * N),
                [Hypothesis("length", z3.And(M >= 2, M <= N, N <= 9), "small sizes")],
            )
        ],
    )


def _count_replay(witness: Witness) -> Difference:
    """The calls that the simulator's schedule makes, less those that are counted."""
    T = int(witness["T"])
    made = theorem_3_5.calls(3 * T, 4)
    counted = T + T * (T - 1) // 2
    return Difference(Fraction(made - counted), float(made - counted))


def _excess(constant: int, claimed: int, witness: Witness) -> Difference:
    """By how much the calls of a run exceed the claimed constant times (N/M)^2."""
    N, M = int(witness["N"]), int(witness["M"])
    excess = theorem_3_5.calls(N, M) - claimed * Fraction(N, M) ** 2
    return Difference(max(excess, Fraction(0)), float(excess))


def _concrete(witness: Witness, families: Sequence[CallFamily]) -> list[Part]:
    sizes = Sizes(*(int(witness[name]) for name in ("N", "n", "T")))
    return [Part(family, sizes) for family in families]


def _in_order(where: Meeting) -> dict[str, Division]:
    (row,), (column,) = where.row, where.column
    return {"query": Division(n, where.call[0], row), "key": Division(n, where.call[-1], column)}


def _backwards(where: Meeting) -> dict[str, Division]:
    (row,), (column,) = where.row, where.column
    return {"query": Division(n, where.call[0], n - 2 - row), "key": Division(n, where.call[1], n - 1 - column)}


_LOSING = ("without", "block-skipped", "keys-later", "queries-later")

COVERAGE = ScheduleProof(
    item="Theorem 3.5",
    prefix="coverage",
    scope="all N >= 1 and M >= 2",
    sizes=[
        Hypothesis("block-length", n >= 1, "a block has n = M-1 positions, or N if that is less"),
        Hypothesis("blocks", covers(T, n, N), "T is N/n rounded up"),
    ],
    allowed=lambda i, j: j <= i,
    places=[
        Hypothesis("query-place", is_division(i, u, p, n), "i is place p of block u"),
        Hypothesis("key-place", is_division(j, t, q, n), "j is place q of block t"),
    ],
    parts=[
        PartProof(
            "diagonal",
            DIAGONAL,
            SIZES,
            Meeting((u,), (p,), (q,)),
            _in_order,
            {"exists": _LOSING, "only": ("keys-later", "queries-earlier"), "once": ("overlapping",)},
        ),
        PartProof(
            "forward",
            FORWARD,
            SIZES,
            Meeting((u, t), (p,), (q,)),
            _in_order,
            {
                "exists": _LOSING,
                "only": ("unconditional",),
                "once": ("overlapping",),
                "once-diagonal": ("unconditional", "overlapping"),
            },
        ),
        PartProof(
            "reversed",
            REVERSED,
            SIZES,
            Meeting((u, t), (n - 2 - p,), (n - 1 - q,)),
            _backwards,
            {
                "exists": _LOSING,
                "only": ("unconditional",),
                "once": ("overlapping",),
                "once-diagonal": ("overlapping",),
                # B.5.second-values: without the shift, the key at the query's own place counts in both halves
                "once-forward": ("keys-earlier",),
            },
        ),
    ],
    concrete=_concrete,
    judge=lambda witness: lambda i, j: j <= i,
    small=z3.And(N <= 9, n <= 4),
    i=i,
    j=j,
    N=N,
)
