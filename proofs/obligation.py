"""What has to be shown: obligations with their hypotheses and mutants, checks, assumptions.

Everything here is a frozen record that says nothing of its own truth; `proofs.core` decides that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

import z3

from proofs.exact import Witness

__all__ = [
    "Assumption",
    "Check",
    "Difference",
    "Hypothesis",
    "Kind",
    "Mutant",
    "Obligation",
    "ObligationError",
    "Subject",
]

Formula = Any
"""A Z3 term of sort Bool."""

_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class ObligationError(ValueError):
    """An obligation is not well formed; the message names it and the defect."""


class Kind(StrEnum):
    """What part of a construction's correctness an obligation is about."""

    COVERAGE = "coverage"
    RECOVERY = "recovery"
    RECOMBINATION = "recombination"
    WELL_DEFINEDNESS = "well-definedness"
    COUNT = "count"
    BOUNDED = "bounded"
    ANALYSIS = "analysis"
    IDENTITY = "identity"
    ENCLOSURE = "enclosure"
    NUMERIC = "numeric"
    KERNEL = "kernel"
    ASSUMPTION = "assumption"
    EQUIVALENCE = "equivalence"


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """One assumption of an obligation, by a name that the drop-one table shows."""

    name: str
    formula: Formula
    words: str = ""


@dataclass(frozen=True)
class Difference:
    """How far a mutant is from the truth at one witness, exactly and as the float simulators see it."""

    exact: Fraction
    floating: float


@dataclass(frozen=True, eq=False)
class Mutant:
    """A false variant of an obligation, which a solver has to refute with a witness that shows a real difference.

    Args:
        name: slug.
        flaw: what is wrong with it, in words.
        replay: the witness to the difference that it makes, in exact arithmetic and in floats.
        goal: the changed goal; the obligation's own, if not given.
        changed: hypotheses (definitions) that replace those of the same name.
        equivalent_because: shows why the variant is not false but the same statement; all solvers must then find it
            valid instead of refuting it.
    """

    name: str
    flaw: str
    replay: Callable[[Witness], Difference]
    goal: Formula | None = None
    changed: Sequence[Hypothesis] = ()
    equivalent_because: Obligation | None = None


@dataclass(frozen=True, eq=False)
class Obligation:
    """One formula that must be valid: the hypotheses imply the goal.

    Args:
        item: the paper's item, such as "Lemma 3.1".
        name: slug, unique within the item.
        kind: what part of the correctness it is about.
        scope: the parameters that it covers, in words.
        hypotheses, goal: Z3 terms of sort Bool over declared constants.
        proves: the goal in words.
        lifting: the argument from this formula to the theorem.
        depends_on: other obligations ("Lemma 3.1/recovery-stable"), items or assumptions that the argument needs.
        bounded: the scope is a finite range.
        supports: it is further evidence for a claim that is shown without it.
        unconditional: the goal is meant to be valid without the hypotheses.
        refutable: the statement is known to be false, and must be refuted; `replay` then shows the difference.
        required: solvers that all must decide it.
        effort: multiplies the solvers' limits.
        mutants: false variants.
        example: a witness of hypotheses and goal, where no solver finds one.
    """

    item: str
    name: str
    kind: Kind
    scope: str
    hypotheses: Sequence[Hypothesis]
    goal: Formula
    proves: str
    lifting: str = ""
    depends_on: Sequence[str] = ()
    bounded: bool = False
    supports: bool = False
    unconditional: bool = False
    refutable: bool = False
    replay: Callable[[Witness], Difference] | None = None
    required: Sequence[str] = ("z3", "cvc5")
    effort: int = 1
    logic: str | None = None
    mutants: Sequence[Mutant] = ()
    example: Witness | None = None

    def __post_init__(self) -> None:
        _check_names(self.id, self.name, [h.name for h in self.hypotheses], [m.name for m in self.mutants])
        for formula in [self.goal, *(h.formula for h in self.hypotheses)]:
            if not z3.is_bool(formula):
                raise ObligationError(f"{self.id}: {formula} is not a Z3 formula.")
        if not self.scope or not self.proves or not self.required:
            raise ObligationError(f"{self.id}: scope, proves and required must say something.")
        if self.refutable and self.replay is None:
            raise ObligationError(f"{self.id}: a refutable statement needs a replay of its counterexample.")
        own = {h.name for h in self.hypotheses}
        for mutant in self.mutants:
            if foreign := {h.name for h in mutant.changed} - own:
                raise ObligationError(f"{self.id}: mutant {mutant.name} changes {foreign}, which are no hypotheses.")
            if mutant.goal is None and not mutant.changed:
                raise ObligationError(f"{self.id}: mutant {mutant.name} changes nothing.")

    @property
    def id(self) -> str:
        """The item and the name."""
        return f"{self.item}/{self.name}"

    def mutated(self, mutant: Mutant) -> tuple[list[Hypothesis], Formula]:
        """The mutant's hypotheses and goal."""
        changed = {h.name: h for h in mutant.changed}
        return [changed.get(h.name, h) for h in self.hypotheses], self.goal if mutant.goal is None else mutant.goal


@dataclass(frozen=True, eq=False)
class Check:
    """Evidence that is no formula: `run` gives an evidence record, from which the core computes the verdict."""

    item: str
    name: str
    kind: Kind
    scope: str
    proves: str
    run: Callable[[], Any]
    depends_on: Sequence[str] = ()
    supports: bool = True

    def __post_init__(self) -> None:
        _check_names(self.id, self.name, [], [])

    @property
    def id(self) -> str:
        """The item and the name."""
        return f"{self.item}/{self.name}"


@dataclass(frozen=True, eq=False)
class Assumption:
    """A statement that is cited and not checked here; whatever depends on it says so."""

    item: str
    name: str
    statement: str
    source: str
    depends_on: Sequence[str] = field(default=(), init=False)
    supports: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        _check_names(self.id, self.name, [], [])

    @property
    def id(self) -> str:
        """The item and the name."""
        return f"{self.item}/{self.name}"


Subject = Obligation | Check | Assumption


def _check_names(owner: str, name: str, *lists: list[str]) -> None:
    for names in ([name], *lists):
        for slug in names:
            if not _SLUG.fullmatch(slug):
                raise ObligationError(f"{owner}: {slug!r} is not a slug: use lower-case words joined by '-'.")
        if len(set(names)) < len(names):
            raise ObligationError(f"{owner}: a name occurs twice in {names}.")
