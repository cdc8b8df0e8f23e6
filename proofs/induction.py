"""Induction over blocks: a statement P(n) about all n, as two obligations and the principle that joins them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import z3

from proofs.obligation import Hypothesis, Kind, Mutant, Obligation

__all__ = ["Induction"]


@dataclass(frozen=True, eq=False)
class Induction:
    """P holds at `first`, and at n+1 if it does at n >= first; so it does at every n >= first.

    A statement about sums takes the sums up to n, and the terms that n+1 adds, as constants: `state` gives them
    names for each end of the step, and `definition` says how the second follows from the first.

    Args:
        item, name, scope, proves: as in `Obligation`; the pair is named NAME-base and NAME-step.
        statement: (n, state at n) to the formula P(n).
        state: the names of the constants that P is about.
        start: (state) to what they are at `first`.
        definition: (n, state at n, state at n+1) to how they grow.
        given: hypotheses of both parts, such as signs.
    """

    item: str
    name: str
    scope: str
    proves: str
    statement: Callable[[Any, dict[str, Any]], Any]
    state: Sequence[str]
    start: Callable[[dict[str, Any]], Sequence[Hypothesis]]
    definition: Callable[[Any, dict[str, Any], dict[str, Any]], Sequence[Hypothesis]]
    given: Sequence[Hypothesis] = ()
    first: int = 0
    kind: Kind = Kind.RECOMBINATION
    base_mutants: Sequence[Mutant] = ()
    step_mutants: Sequence[Mutant] = ()
    depends_on: Sequence[str] = ()

    @property
    def lifting(self) -> str:
        """The principle that turns the pair into the statement for all n."""
        return (
            f"induction on the number of blocks n >= {self.first}: {self.name}-base is P({self.first}) and "
            f"{self.name}-step is P(n) => P(n+1) for every n >= {self.first}, so P(n) holds for all of them"
        )

    def obligations(self) -> tuple[Obligation, Obligation]:
        """The base and the step; each depends on the other, since neither says anything alone."""
        n, now, after = z3.Int("n"), self.constants(), self.constants("_after")
        base = Obligation(
            self.item,
            f"{self.name}-base",
            self.kind,
            self.scope,
            [*self.given, *self.start(now)],
            z3.substitute(self.statement(n, now), (n, z3.IntVal(self.first))),
            f"{self.proves} [base, {self.first} blocks]",
            self.lifting,
            (*self.depends_on, f"{self.item}/{self.name}-step"),
            mutants=self.base_mutants,
        )
        step = replace(
            base,
            name=f"{self.name}-step",
            hypotheses=[
                *self.given,
                Hypothesis("n-in-range", n >= self.first),
                Hypothesis("induction-hypothesis", self.statement(n, now), "P(n)"),
                *self.definition(n, now, after),
            ],
            goal=self.statement(n + 1, after),
            proves=f"{self.proves} [step, from n to n+1 blocks]",
            depends_on=(*self.depends_on, f"{self.item}/{self.name}-base"),
            mutants=self.step_mutants,
        )
        return base, step

    def constants(self, suffix: str = "") -> dict[str, Any]:
        """The state's real constants by name; those at n+1 end in `_after`."""
        return {name: z3.Real(name + suffix) for name in self.state}
