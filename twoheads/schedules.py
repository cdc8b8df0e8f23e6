"""Which query meets which key in which oracle call, written once for the simulators and for the proofs.

A `CallFamily` is plain integer arithmetic on sizes, call indices and row indices. Evaluated on NumPy integers
it places the tokens of a simulator's calls; evaluated on Z3 integers it is the formula that the coverage proofs
are about. Positions, calls and rows count from 0; a position outside 0, ..., N-1 is padding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from twoheads.errors import InputError

__all__ = [
    "CallFamily",
    "Integer",
    "Part",
    "Sizes",
    "block_length",
    "calls_of",
    "ceil_div",
    "rows_of",
    "sight_of",
]

Integer = Any
"""A Python int, an integer array, or a Z3 integer term."""


@dataclass(frozen=True)
class Sizes:
    """The sizes that a schedule is about: all Python ints in a run, all Z3 terms in a proof."""

    N: Integer
    """Positions."""
    n: Integer = 0
    """Data rows of a call, or of one of its blocks."""
    T: Integer = 0
    """How many values each call index takes."""
    r: Integer = 0
    """Window size."""
    s: Integer = 0
    """Sink size."""
    G: Integer = 1
    """Groups of r positions that share a call."""


def _always(*_: Integer) -> Sequence[Any]:
    return ()


@dataclass(frozen=True)
class CallFamily:
    """Calls of one shape, named by `arity` indices from 0 to T-1; rows are named by one index or by two.

    Every function takes the sizes, then the call's indices, then (for query and key) the row's. Beside its rows a
    call has one synthetic token, which comes first, and, if `sinks`, the s sink keys, which come next and are
    seen by every row. Rows of different groups (first of two row indices) do not see one another.
    """

    name: str
    arity: int
    causal: bool
    """Whether a row sees the keys of its group's rows up to itself only, or of all rows."""
    rows: Callable[[Sizes], tuple[Integer, ...]]
    """How many values each row index takes."""
    query: Callable[..., Integer]
    key: Callable[..., Integer]
    exists: Callable[..., Sequence[Any]] = _always
    """Conditions, all of which must hold for a call to be made."""
    has_query: Callable[..., Sequence[Any]] = _always
    """Conditions for a row to have a query, beyond its position being 0, ..., N-1."""
    has_key: Callable[..., Sequence[Any]] = _always
    """Conditions for a row to have a key, beyond its position being 0, ..., N-1."""
    sinks: bool = False
    sign: int = 1
    """-1 for sums that are subtracted."""

    grouped: bool = False
    """Whether rows have two indices, the first naming their group."""

    def sees(self, row: Sequence[Integer], other: Sequence[Integer]) -> Sequence[Any]:
        """Conditions for `row` to attend to the key of the row `other`."""
        same_group = [mine == its for mine, its in zip(row[:-1], other[:-1], strict=True)]
        return [*same_group, other[-1] <= row[-1]] if self.causal else same_group


@dataclass(frozen=True)
class Part:
    """A family with its sizes; a schedule is a list of parts."""

    family: CallFamily
    sizes: Sizes

    @property
    def calls(self) -> int:
        """How many calls the part makes."""
        return len(calls_of(self.family, self.sizes))


def ceil_div(a: int, b: int) -> int:
    """a/b rounded up, and 0 for a negative a."""
    return max(-(-a // b), 0)


def block_length(N: int, M: int) -> int:
    """Data tokens in a block: M-1, since the synthetic token takes one place, and never more than N.

    Raises:
        InputError: M < 2 or N < 1.
    """
    if M < 2:
        raise InputError(f"the oracle length M must be at least 2, not {M}.")
    if N < 1:
        raise InputError("the input is empty: give at least one token.")
    return min(M - 1, N)


def calls_of(family: CallFamily, sizes: Sizes) -> np.ndarray:
    """The indices of the calls that the family makes, (calls, arity), in lexicographic order."""
    grid = np.indices((sizes.T,) * family.arity).reshape(family.arity, -1)
    return grid[:, _all(family.exists(sizes, *grid), grid.shape[1])].T


def rows_of(family: CallFamily, sizes: Sizes, calls: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Query and key positions of every row of the given calls, both (calls, rows), -1 where there is none."""
    shape = family.rows(sizes)
    row = np.indices(shape).reshape(len(shape), -1)
    place = [*(calls[:, [axis]] for axis in range(family.arity)), *row]
    whole = (len(calls), row.shape[1])
    positions = []
    for position, present in ((family.query, family.has_query), (family.key, family.has_key)):
        x = np.broadcast_to(position(sizes, *place), whole)
        there = _all([*present(sizes, *place), x >= 0, x < sizes.N], whole)
        positions.append(np.where(there, x, -1))
    return positions[0], positions[1]


def sight_of(family: CallFamily, sizes: Sizes) -> np.ndarray:
    """Booleans (rows, rows): whether row p sees row q's key."""
    shape = family.rows(sizes)
    row = np.indices(shape).reshape(len(shape), -1)
    return _all(family.sees(list(row[:, :, None]), list(row[:, None, :])), (row.shape[1], row.shape[1]))


def _all(conditions: Sequence[Any], shape: Any) -> np.ndarray:
    met = np.ones(shape, dtype=bool)
    for condition in conditions:
        met = met & condition
    return met
