"""Lemma 3.1 / B.1: attention by calls that pair every block of queries with every block of keys.

Three kinds of obligation: coverage (every pair (i, j) is met exactly once), recovery (what one call returns
determines A and B) and recombination (the sums over the calls are attention's).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import z3

from proofs.mutation import replay_of
from proofs.obligation import Hypothesis, Kind, Mutant, Obligation
from proofs.recombination import recombination_obligations
from proofs.recovery import recovery_obligations

__all__ = ["obligations"]

ITEM = "Lemma 3.1"


def obligations() -> Iterator[Obligation]:
    """Everything that is proved of the lemma for all N and M."""
    yield _unique_division()
    yield from recovery_obligations()
    yield from recombination_obligations()


def _unique_division() -> Obligation:
    n, a, b, x, y = z3.Ints("n a b x y")

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
