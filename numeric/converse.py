"""Theorem 4.2 on random instances: the B that a wanted error takes, its bounds, and the error measured in float64."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from numeric.reference import direct_attention
from twoheads.errors import InputError
from twoheads.oracle import Oracle
from twoheads.theorem_4_2 import B_for, Variant, error_bound, norm_bound, simulate
from twoheads.transformer import Head

__all__ = ["Converse", "measure"]


@dataclass(frozen=True)
class Converse:
    """One run of N/M instances in one call."""

    N: int
    M: int
    C: float
    """The C of C.2.bounds, measured."""
    B: int
    bound: float
    """The variant's error bound for this B, in exact arithmetic."""
    error: float
    """Largest l2 error of a row against direct attention; it includes float64's rounding of scores up to B^2 r/2."""
    calls: int
    width: int
    """Embedding dimension of the large transformer."""
    products: int
    """M x d x d products outside of it."""


def measure(N: int, M: int, d: int, error: float, variant: Variant = "tight", seed: int = 0) -> Converse:
    """Simulate N/M random instances of M tokens and embedding dimension d, with B for a wanted error.

    Args:
        N, M, d: sizes, N a multiple of M.
        error: wanted error of a row, above 0.
        variant: which bound chooses B.
        seed: of the instances.

    Raises:
        InputError: a number is out of range.
    """
    if d < 1 or seed < 0 or M < 1 or N < M or N % M:
        raise InputError(f"give d >= 1, a seed >= 0 and N a multiple of M, not {d}, {seed}, N = {N} and M = {M}.")
    rng = np.random.default_rng(seed)
    tokens = list(rng.normal(size=(N // M, M, d)) / np.sqrt(d))
    heads = [Head(*(rng.normal(size=(3, d, d)) / np.sqrt(d))) for _ in tokens]
    C = norm_bound(tokens, heads)
    B = B_for(error, C, N, M, variant)
    oracle = Oracle(max(2, N))
    found = simulate(tokens, heads, oracle, B)
    worst = max(
        float(np.linalg.norm(output - direct_attention(X @ h.W_Q, X @ h.W_K, X @ h.W_V), axis=1).max())
        for X, h, output in zip(tokens, heads, found.outputs, strict=True)
    )
    ledger = oracle.ledger
    return Converse(N, M, C, B, error_bound(B, C, N, M, variant), worst, ledger.calls, ledger.width, found.products)
