"""The paper's symbols as SymPy's, shared by all derivations.

Positions, blocks, calls and rows count from 1 here, as in the paper. Scores and values are real, weights and
sizes positive. A value v_j is one coordinate of a value vector: all coordinates are alike.
"""

from __future__ import annotations

from sympy import Expr, IndexedBase, Sum, Symbol

__all__ = [
    "INDICES",
    "N",
    "T",
    "a",
    "block",
    "c",
    "ell",
    "i",
    "indexed",
    "j",
    "m",
    "mass",
    "n",
    "positive",
    "real",
    "size",
    "t",
    "total",
    "v",
]


def size(name: str, *, zero: bool = False) -> Symbol:
    """A positive integer, or one that may be 0."""
    return Symbol(name, integer=True, nonnegative=True) if zero else Symbol(name, integer=True, positive=True)


def real(name: str) -> Symbol:
    """A real number."""
    return Symbol(name, real=True)


def positive(name: str) -> Symbol:
    """A positive real number."""
    return Symbol(name, positive=True)


def indexed(name: str, **assumptions: bool) -> IndexedBase:
    """A family of real numbers, with further assumptions if given.

    Its label is a bare symbol, so that the family a_{i,j} and a number a stay apart.
    """
    return IndexedBase(Symbol(name), **(assumptions or {"real": True}))


N, n, T, m = size("N"), size("n"), size("T"), size("m")
"""Positions, positions of a full block, blocks, coordinates of a query: n = M - 1."""

i, j, t, ell, c = size("i"), size("j"), size("t"), size("l"), size("c")
"""A query's position, a key's, a block of keys, a token of a call, a coordinate."""

INDICES = frozenset({i, j, t, ell, c})
"""Symbols that stand for any position, block, token or coordinate: what holds them holds for all."""

mass = positive("a")
"""The weight of one synthetic token, exp of its score."""

a = indexed("a", positive=True)
"""Weights a_{i,j} = exp(<q_i, k_j>)."""

v = indexed("v")
"""One coordinate of the values."""


def total(summand: Expr, first: Expr, last: Expr, index: Symbol = j) -> Sum:
    """The sum of the summand over index = first, ..., last."""
    return Sum(summand, (index, first, last))


def block(summand: Expr, t: Expr, length: Expr = n) -> Sum:
    """The sum over the first `length` positions of block t, which starts after position (t-1) n."""
    return total(summand, (t - 1) * n + 1, (t - 1) * n + length)
