"""How the number of calls grows with N at a fixed M: the ledger's counts beside closed form and bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from twoheads.catalogue import CONSTRUCTIONS, Options
from twoheads.oracle import Oracle
from twoheads.plans import run
from twoheads.transformer import Head

__all__ = ["LENGTHS", "Growth", "calls_growth"]

LENGTHS = (16, 32, 64, 128, 256, 512)
_M = 16
_OPTIONS = Options(r=4, s=2)


@dataclass(frozen=True)
class Growth:
    """Calls of one head of N tokens."""

    construction: str
    variant: str
    N: int
    M: int
    calls: int
    """By the ledger of a run."""
    closed_form: int
    bound: float
    """The paper's, without its constant."""


def calls_growth(lengths: Sequence[int] = LENGTHS) -> list[Growth]:
    """One head of every construction, in its default variant, on seeded random tokens of each length."""
    random = np.random.default_rng(0)
    W_Q, W_K, W_V = (random.normal(size=(3, 2)) for _ in range(3))
    head = Head(W_Q, W_K, W_V)
    found = []
    for chosen in CONSTRUCTIONS.values():
        variant = chosen.default
        for N in lengths:
            oracle = Oracle(_M, causal=chosen.causal)
            run([chosen.plan(random.normal(size=(N, 3)), head, oracle, variant, _OPTIONS)], oracle)
            found.append(
                Growth(
                    chosen.name,
                    variant,
                    N,
                    _M,
                    oracle.ledger.calls,
                    chosen.calls(N, _M, variant, _OPTIONS),
                    float(chosen.bound(N, _M, _OPTIONS)),
                )
            )
    return found
