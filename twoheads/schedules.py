"""Which query meets which key in which oracle call, written once for the simulators and for the proofs.

A `CallFamily` is plain integer arithmetic on call indices and row numbers. Evaluated on NumPy integers it
places the tokens of a simulator's calls; evaluated on Z3 integers it is the formula that the coverage proofs
are about. Positions and rows count from 0; a position outside 0, ..., N-1 is padding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from twoheads.errors import InputError

__all__ = ["CallFamily", "QUADRATIC", "block_count", "block_length", "calls_of"]

Integer = Any
"""A Python int, an integer array, or a Z3 integer term."""


@dataclass(frozen=True)
class CallFamily:
    """Calls of one shape. A call is named by its indices, each from 0 to T-1; its rows are 0, ..., n-1.

    Row p holds the query at position `query(n, *call, p)` and the key at position `key(n, *call, p)`. Beside
    the rows every call has one synthetic token, which comes first.
    """

    name: str
    arity: int
    """How many indices name a call."""
    causal: bool
    """Whether row p sees the keys of the rows q <= p only, or of all rows."""
    query: Callable[..., Integer]
    key: Callable[..., Integer]
    exists: Callable[..., Sequence[Any]] = lambda T, *call: ()
    """Conditions on T and the indices, all of which must hold for the call to be made."""

    def sees(self, p: Integer, q: Integer) -> Any:
        """Whether row p attends to the key of row q."""
        return q <= p if self.causal else True


QUADRATIC = CallFamily(
    name="every block of queries with every block of keys",
    arity=2,
    causal=False,
    query=lambda n, u, t, p: u * n + p,
    key=lambda n, u, t, q: t * n + q,
)
"""Lemma 3.1: call (u, t) pairs block u of the queries with block t of the keys."""


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


def block_count(N: int, n: int) -> int:
    """T, the number of blocks of n positions that cover N: N/n rounded up."""
    return -(-N // n)


def calls_of(family: CallFamily, T: int) -> np.ndarray:
    """The indices of the calls that the family makes, (calls, arity), in lexicographic order."""
    grid = np.indices((T,) * family.arity).reshape(family.arity, -1)
    made = np.ones(grid.shape[1], dtype=bool)
    for condition in family.exists(T, *grid):
        made &= condition
    return grid[:, made].T
