"""Which pairs a schedule's calls make, as formulas: the simulators' own `CallFamily` evaluated on Z3 integers.

Coverage of a schedule is three kinds of statement, free in all sizes: every allowed pair (i, j) is met by some
call (*exists*), no call meets another pair (*only*), and no pair is met twice (*once*). That a position is
c * n + p with 0 <= p < n in one way only is proved once (`unique_division`) and used by instances.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import z3

from twoheads.schedules import CallFamily, Sizes

__all__ = ["covers", "is_division", "meets", "unique_division"]

Term = Any


def meets(
    family: CallFamily,
    sizes: Sizes,
    call: Sequence[Term],
    row: Sequence[Term],
    column: Sequence[Term],
    i: Term,
    j: Term,
) -> Term:
    """The family makes this call, and in it row's query, at position i, attends to column's key, at position j."""
    conditions = [
        *(z3.And(index >= 0, index < sizes.T) for index in call),
        *family.exists(sizes, *call),
        *(z3.And(x >= 0, x < bound) for x, bound in zip(row, family.rows(sizes), strict=True)),
        *(z3.And(x >= 0, x < bound) for x, bound in zip(column, family.rows(sizes), strict=True)),
        *family.has_query(sizes, *call, *row),
        *family.has_key(sizes, *call, *column),
        family.query(sizes, *call, *row) == i,
        family.key(sizes, *call, *column) == j,
        i >= 0,
        i < sizes.N,
        j >= 0,
        j < sizes.N,
        *family.sees(row, column),
    ]
    return z3.And(*(c if z3.is_expr(c) else z3.BoolVal(bool(c)) for c in conditions))


def covers(T: Term, length: Term, positions: Term) -> Term:
    """T is positions/length rounded up, for length >= 1: T blocks cover the positions and T-1 do not."""
    return z3.And(T * length >= positions, (T - 1) * length < positions)


def is_division(x: Term, quotient: Term, remainder: Term, divisor: Term) -> Term:
    """x = quotient * divisor + remainder with 0 <= remainder < divisor, as Euclid's division gives for any x."""
    return z3.And(x == quotient * divisor + remainder, remainder >= 0, remainder < divisor)


def unique_division(divisor: Term, one: tuple[Term, Term], other: tuple[Term, Term]) -> Term:
    """Two (quotient, remainder) of one number are the same, for a divisor >= 1."""
    (a, x), (b, y) = one, other
    proper = z3.And(x >= 0, x < divisor, y >= 0, y < divisor)
    return z3.Implies(z3.And(divisor >= 1, a * divisor + x == b * divisor + y, proper), z3.And(a == b, x == y))
