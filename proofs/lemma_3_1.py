"""Lemma 3.1 / B.1: attention by calls that pair every block of queries with every block of keys.

Four kinds of obligation: coverage (every pair (i, j) is met exactly once, about `twoheads.lemma_3_1`'s own calls),
recovery (what one call returns determines A and B), recombination (the sums over the calls are attention's) and
the number of calls with its constant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import z3

from proofs.coverage import covers, is_division
from proofs.exact import Witness
from proofs.mutation import replay_of
from proofs.obligation import Difference, Hypothesis, Kind, Mutant, Obligation
from proofs.recombination import recombination_obligations
from proofs.recovery import recovery_obligations
from proofs.schedule_proofs import Division, Meeting, PartProof, ScheduleProof
from twoheads import lemma_3_1
from twoheads.lemma_3_1 import PAIRS
from twoheads.schedules import CallFamily, Part, Sizes

__all__ = ["obligations"]

ITEM = "Lemma 3.1"

N, M, n, T, i, j = z3.Ints("N M n T i j")
u, t, p, q = z3.Ints("u t p q")


def obligations() -> Iterator[Obligation]:
    """Everything that is proved of the lemma for all N and M."""
    yield _unique_division()
    yield COVERAGE.exists()
    yield COVERAGE.once(*COVERAGE.parts, *COVERAGE.parts)
    yield from recovery_obligations()
    yield from recombination_obligations()
    yield _count()


def _unique_division() -> Obligation:
    a, b, x, y = z3.Ints("a b x y")

    def ranges(last: int) -> Any:
        return z3.And(x >= 0, x <= n - 1 + last, y >= 0, y <= n - 1 + last)

    return Obligation(
        item=ITEM,
        name="unique-division",
        kind=Kind.COVERAGE,
        scope="all integers, and all divisors n >= 1",
        hypotheses=[
            Hypothesis("divisor", n >= 1),
            Hypothesis("same-number", a * n + x == b * n + y),
            Hypothesis("remainders", ranges(0)),
        ],
        goal=z3.And(a == b, x == y),
        proves="a number is a n + x with 0 <= x < n in one way only",
        lifting="coverage uses instances of it, with the block index and the row as quotient and remainder",
        mutants=[
            Mutant(
                "remainder-up-to-n",
                "the remainder may be n",
                replay_of(a, b),
                changed=[Hypothesis("remainders", ranges(1))],
            )
        ],
    )


def _places(where: Meeting) -> dict[str, Division]:
    (row,), (column,) = where.row, where.column
    return {"query": Division(n, where.call[0], row), "key": Division(n, where.call[1], column)}


def _concrete(witness: Witness, families: Sequence[CallFamily]) -> list[Part]:
    sizes = Sizes(*(int(witness[name]) for name in ("N", "n", "T")))
    return [Part(family, sizes) for family in families]


COVERAGE = ScheduleProof(
    item=ITEM,
    prefix="coverage",
    scope="all N >= 1 and M >= 2",
    sizes=[
        Hypothesis("block-length", n >= 1, "a block has n = M-1 positions, or N if that is less"),
        Hypothesis("blocks", covers(T, n, N), "T is N/n rounded up"),
    ],
    # no mask: that no other pair is met needs no proof, since only positions 0, ..., N-1 count as met
    allowed=lambda i, j: z3.And(i >= 0, i < N, j >= 0, j < N),
    places=[
        Hypothesis("query-place", is_division(i, u, p, n), "i is place p of block u"),
        Hypothesis("key-place", is_division(j, t, q, n), "j is place q of block t"),
    ],
    parts=[
        PartProof(
            "pairs",
            PAIRS,
            Sizes(N, n, T),
            Meeting((u, t), (p,), (q,)),
            _places,
            {"exists": ("block-skipped", "keys-later", "queries-later"), "once": ("overlapping",)},
        )
    ],
    concrete=_concrete,
    judge=lambda witness: lambda i, j: True,
    small=z3.And(N <= 9, n <= 4),
    i=i,
    j=j,
    N=N,
)


def _count() -> Obligation:
    def bound(constant: int) -> Any:
        return (T * M) * (T * M) <= constant * (N * N)

    return Obligation(
        item=ITEM,
        name="count-bound",
        kind=Kind.COUNT,
        scope="all 2 <= M <= N",
        hypotheses=[
            Hypothesis("length", z3.And(M >= 2, M <= N), "2 <= M <= N"),
            Hypothesis("block-length", n == M - 1, "a block has M-1 positions"),
            Hypothesis("blocks", covers(T, n, N), "T is N/n rounded up"),
        ],
        goal=z3.And(T * M <= 2 * N, bound(4)),
        proves="T^2 calls are at most 4 (N/M)^2, with equality at M = N; as printed, twice that",
        lifting="T^2 is how many (u, t) there are; the ledger's count is held against it in the tests",
        mutants=[
            Mutant(
                "smaller-constant",
                "the constant 3 in place of 4",
                _excess,
                bound(3),
                [Hypothesis("length", z3.And(M >= 2, M <= N, N <= 9), "small sizes")],
            )
        ],
    )


def _excess(witness: Witness) -> Difference:
    """By how much the calls of a run exceed 3 (N/M)^2."""
    excess = lemma_3_1.calls(int(witness["N"]), int(witness["M"])) - 3 * Fraction(witness["N"] / witness["M"]) ** 2
    return Difference(max(excess, Fraction(0)), float(excess))
