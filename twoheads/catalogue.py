"""Every construction that attends to one head's tokens, in one table: what runs, what it costs, what it equals.

The command line, the counts, the report and many tests walk over `CONSTRUCTIONS`, so that a new one is entered once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from twoheads import lemma_3_1, theorem_3_5, theorem_4_1, theorem_5_1
from twoheads.attention import causal_mask, sink_mask
from twoheads.errors import InputError
from twoheads.plans import Asked, Plan
from twoheads.scalars import Array
from twoheads.transformer import Head

__all__ = ["CONSTRUCTIONS", "DEFAULTS", "Construction", "Options", "construction"]


@dataclass(frozen=True)
class Options:
    """What a construction may be told beside N, M and the variant; each ignores what does not concern it."""

    r: int = 1
    """Window size."""
    s: int = 0
    """Sink size."""
    synthetic_score: float = 0
    """Score of the synthetic token."""
    seed: int = 0
    """Seed of the random permutations."""

    def of_head(self, k: int) -> Options:
        """The same for head k of a transformer, counted over all its layers, with a seed of its own.

        A layer that drew the permutation of the layer before would read exactly the rows that depend on it, and its
        estimate would be biased. Head 0 keeps the seed, so that a single head is what Theorem 4.1 makes of it.
        """
        if k == 0:
            return self
        return replace(self, seed=int(np.random.SeedSequence(self.seed, spawn_key=(k,)).generate_state(1)[0]))


DEFAULTS = Options()


@dataclass(frozen=True)
class Construction:
    """One construction for one attention head."""

    name: str
    """As the command line calls it."""
    item: str
    """The paper's item."""
    title: str
    variants: tuple[str, ...]
    everywhere: str
    """The variant that is right over every scalar, exact ones included."""
    causal: bool
    """Whether it needs a causal oracle."""
    plan: Callable[[Array, Head, Asked, Any, Options], Plan]
    """(X, head, oracle, variant, options) to a plan."""
    calls: Callable[[int, int, Any, Options], int]
    """Oracle calls for (N, M, variant, options), in closed form."""
    bound: Callable[[int, int, Options], Fraction]
    """What the paper bounds the calls by, up to a constant, for (N, M, options)."""
    constant: Callable[[Any, Options], Fraction]
    """c with calls <= c * bound for all 2 <= M <= N that the construction admits."""
    mask: Callable[[int, Options], np.ndarray | None]
    """The pairs that the result attends to, for (N, options); None for all."""
    approximate: bool = False
    """Whether even in exact arithmetic the result only approximates attention."""

    @property
    def default(self) -> str:
        """The variant to run if none is asked for: the most accurate one in floating point."""
        return "stable" if "stable" in self.variants else self.everywhere

    def checked(self, variant: str) -> str:
        """The variant, if the construction has it.

        Raises:
            InputError: it has not.
        """
        if variant not in self.variants:
            raise InputError(f"{self.name} has the variants {', '.join(self.variants)}, not {variant!r}.")
        return variant


def _window_constant(variant: str, options: Options) -> Fraction:
    r, s = options.r, options.s
    if variant in ("printed", "merged"):
        # a call answers M-1-r-s >= 1 queries, and M / (M-1-r-s) is largest for the smallest M
        return (2 if variant == "printed" else 1) * Fraction(2 * (r + s + 2) + 3)
    if variant == "separate":
        raise InputError("separate makes about 2N/r calls whatever M is: it has no constant against N/M.")
    # groups fill at least max(r, M-r-s) of M tokens: M over that is largest at M = 2r + s
    return Fraction(7) + Fraction(s, r)


_QUADRATIC = Construction(
    name="quadratic",
    item="Lemma 3.1",
    title="all pairs of positions",
    variants=lemma_3_1.VARIANTS,
    everywhere="stable",
    causal=False,
    plan=lambda X, head, oracle, variant, o: lemma_3_1.plan(X, head, oracle, variant, o.synthetic_score),
    calls=lambda N, M, variant, o: lemma_3_1.calls(N, M, variant),
    bound=lambda N, M, o: Fraction(N, M) ** 2,
    constant=lambda variant, o: Fraction(8 if variant == "printed" else 4),
    mask=lambda N, o: None,
)

_CAUSAL = Construction(
    name="causal",
    item="Theorem 3.5",
    title="causal masking, causal oracle",
    variants=theorem_3_5.VARIANTS,
    everywhere="stable",
    causal=True,
    plan=lambda X, head, oracle, variant, o: theorem_3_5.plan(X, head, oracle, variant, o.synthetic_score),
    calls=lambda N, M, variant, o: theorem_3_5.calls(N, M, variant),
    bound=lambda N, M, o: Fraction(N, M) ** 2,
    constant=lambda variant, o: Fraction(8 if variant in ("printed", "repaired") else 4),
    mask=lambda N, o: causal_mask(N),
)


def _window(name: str, title: str, sinks: bool) -> Construction:
    def s(o: Options) -> int:
        return o.s if sinks else 0

    return Construction(
        name=name,
        item="Theorem 5.1",
        title=title,
        variants=theorem_5_1.VARIANTS[1:] if sinks else theorem_5_1.VARIANTS,
        everywhere="merged",
        causal=True,
        plan=lambda X, head, oracle, variant, o: theorem_5_1.plan(
            X, head, oracle, o.r, s(o), variant, o.synthetic_score
        ),
        calls=lambda N, M, variant, o: theorem_5_1.calls(N, M, o.r, s(o), variant),
        bound=lambda N, M, o: Fraction(N, M),
        constant=lambda variant, o: _window_constant(variant, Options(r=o.r, s=s(o))),
        mask=lambda N, o: sink_mask(N, o.r, s(o)),
    )


def _average_case_plan(X: Array, head: Head, oracle: Asked, variant: Any, o: Options) -> Plan:
    return theorem_4_1.plan(X, head, oracle, theorem_4_1.random_permutation(X.shape[0], o.seed), variant)


_AVERAGE_CASE = Construction(
    name="average-case",
    item="Theorem 4.1",
    title="a random sample of the keys for every chunk of queries",
    variants=theorem_4_1.VARIANTS,
    everywhere="merged",
    causal=False,
    plan=_average_case_plan,
    calls=lambda N, M, variant, o: theorem_4_1.calls(N, M, variant),
    bound=lambda N, M, o: Fraction(N, M),
    constant=lambda variant, o: Fraction(4 if variant == "printed" else 2),
    mask=lambda N, o: None,
    approximate=True,
)

CONSTRUCTIONS: dict[str, Construction] = {
    entry.name: entry
    for entry in (
        _QUADRATIC,
        _CAUSAL,
        _window("window", "sliding window, causal oracle", sinks=False),
        _window("sink", "sliding window with attention sinks, causal oracle", sinks=True),
        _AVERAGE_CASE,
    )
}


def construction(name: str) -> Construction:
    """The construction of that name.

    Raises:
        InputError: there is none.
    """
    if name not in CONSTRUCTIONS:
        raise InputError(f"there is no construction {name!r}: choose one of {', '.join(CONSTRUCTIONS)}.")
    return CONSTRUCTIONS[name]
