"""The real simulators of `twoheads`, run on symbols and compared with attention.

What a derivation argues for every size, a run shows at one size with the code itself: its output is an array of
SymPy expressions, and each entry's difference to direct attention is 0 as a rational function of the weights and
values, or of the tokens' exponentials.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sympy import Basic, Eq, ImmutableMatrix, MatrixSymbol, Symbol, log

from symbolic.derivation import Step, StepError
from symbolic.sums import vanishes
from symbolic.symbols import mass
from twoheads.attention import attention
from twoheads.catalogue import CONSTRUCTIONS, DEFAULTS, Options
from twoheads.oracle import Oracle
from twoheads.plans import run
from twoheads.scalars import Array, domain_of, given_weights
from twoheads.transformer import Head

__all__ = ["Computed", "Run", "computed_step", "simulation_steps", "symbols_of", "with_symbolic_mass"]

Given = Literal["weights", "tokens"]


@dataclass(frozen=True)
class Run:
    """One run on symbols: a construction of `twoheads.catalogue`, its variant and its sizes."""

    construction: str
    variant: str
    N: int
    M: int
    given: Given = "weights"
    """Weights a_ij and values v_j, or tokens x_i with one coordinate and parameters W_Q, W_K, W_V."""
    options: Options = DEFAULTS

    @property
    def label(self) -> str:
        """The run's sizes in words."""
        sizes = [f"N = {self.N}", f"M = {self.M}"]
        if self.construction in {"window", "sink"}:
            sizes += [f"r = {self.options.r}"] + ([f"s = {self.options.s}"] if self.construction == "sink" else [])
        return ", ".join(sizes)

    def simulated(self) -> list[Any]:
        """What the simulator computes, an expression for every position."""
        X, head = symbols_of(self)
        entry = CONSTRUCTIONS[self.construction]
        oracle = Oracle(self.M, causal=entry.causal)
        return list(run([entry.plan(X, head, oracle, self.variant, self.options)], oracle)[0].ravel())

    def direct(self) -> list[Any]:
        """Direct attention, an expression for every position."""
        X, head = symbols_of(self)
        domain = domain_of(X)
        return list(
            attention(
                domain.coordinates(X, head.W_Q),
                domain.coordinates(X, head.W_K),
                domain.values(X, head.W_V),
                CONSTRUCTIONS[self.construction].mask(self.N, self.options),
                domain,
            ).ravel()
        )


def symbols_of(run: Run) -> tuple[Array, Head]:
    """The tokens and the head of a run on symbols."""
    places = range(1, run.N + 1)
    if run.given == "weights":
        A = np.array([[Symbol(f"a_{i}{j}", positive=True) for j in places] for i in places], dtype=object)
        X, *W = given_weights(A, np.array([[Symbol(f"v_{j}", real=True)] for j in places], dtype=object))
        return X, Head(*W)
    X = np.array([[Symbol(f"x_{i}", real=True)] for i in places], dtype=object)
    return X, Head(*(np.array([[Symbol(f"W_{name}", real=True)]], dtype=object) for name in "QKV"))


def with_symbolic_mass(options: Options = DEFAULTS) -> Options:
    """The options with a synthetic token of weight a, a symbol."""
    return Options(options.r, options.s, log(mass), options.seed)


@dataclass(frozen=True)
class Computed:
    """What code of `twoheads` computes on symbols is, entry by entry, what the equation states."""

    name: MatrixSymbol
    compute: Callable[[], Sequence[Any]]
    how: str

    def __call__(self, expression: Basic, before: Mapping[str, Basic]) -> None:
        if not isinstance(expression, Eq) or expression.args[0] != self.name:
            raise StepError(f"the equation must state the output {self.name} of the run.")
        computed, stated = self.compute(), list(expression.args[1])
        if len(stated) != len(computed):
            raise StepError(f"{len(stated)} entries are stated, {len(computed)} are computed.")
        for place, (ours, said) in enumerate(zip(computed, stated, strict=True), start=1):
            if not vanishes(ours - said):
                raise StepError(f"entry {place} is not what is computed.")


def computed_step(
    name: str, label: str, compute: Callable[[], Sequence[Any]], stated: Sequence[Any], item: str, reason: str, how: str
) -> Step:
    """The step that what `compute` runs returns the stated column, which comes from elsewhere than the code run."""
    column = MatrixSymbol(label, len(stated), 1)
    return Step(
        name, Eq(column, ImmutableMatrix(len(stated), 1, list(stated))), reason, item, Computed(column, compute, how)
    )


def simulation_steps(*runs: Run, item: str) -> tuple[Step, ...]:
    """A step for each run, stating direct attention."""
    return tuple(_simulation_step(run, item) for run in runs)


def _simulation_step(run: Run, item: str) -> Step:
    given = "weights and values" if run.given == "weights" else "tokens x_i of one coordinate, and parameters"
    return computed_step(
        f"run of {run.variant}, {run.label}, on {run.given}",
        f"Y_{run.variant}",
        run.simulated,
        run.direct(),
        item,
        f"The simulator itself, run on symbols for {given}, returns attention at every position.",
        f"the construction {run.construction!r}, variant {run.variant!r}, was run on symbols with {run.label}; its "
        "output minus direct attention simplifies to 0 at every position",
    )
