"""Mutants judged: a false variant counts as killed only by a witness whose difference was seen in a replay."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import z3

from proofs.exact import Witness, evaluate, holds, parse_witness
from proofs.obligation import Difference, Hypothesis, Mutant, Obligation
from proofs.solvers import Answer

__all__ = ["MutantOutcome", "judge_mutant", "replay_of", "replayed", "witness_in"]

_FLOAT_AGREES = 1e-6  # of the exact difference: what a float replay may be off


@dataclass(frozen=True)
class MutantOutcome:
    """What became of one mutant."""

    name: str
    flaw: str
    fate: str
    """`killed`, `equivalent` or `survived`."""
    reason: str = ""
    solver: str = ""
    """Who gave the witness."""
    witness: Witness | None = None
    difference: Difference | None = None


def witness_in(
    answers: Mapping[str, Answer], hypotheses: Sequence[Hypothesis], goal: Any = None, wanted: bool = True
) -> tuple[str, Witness] | None:
    """A solver's model at which every hypothesis holds and the goal has the wanted value, evaluated exactly."""
    formulas = [h.formula for h in hypotheses]
    if goal is not None:
        formulas.append(goal if wanted else z3.Not(goal))
    for solver, answer in answers.items():
        witness = parse_witness(answer.model) if answer.says == "sat" else None
        if witness is not None and all(holds(formula, witness) for formula in formulas):
            return solver, witness
    return None


def judge_mutant(
    obligation: Obligation, mutant: Mutant, answers: Mapping[str, Answer], equivalent: bool
) -> MutantOutcome:
    """The mutant's fate.

    Args:
        obligation: the original.
        mutant: its variant.
        answers: to the question whether the variant has a counterexample.
        equivalent: whether the variant was proved to be the same statement.
    """
    hypotheses, goal = obligation.mutated(mutant)
    found = witness_in(answers, hypotheses, goal, wanted=False)
    if found is None:
        # an argument for equivalence is not enough: the solvers must find the variant valid, too
        valid = all(solver in answers and answers[solver].says == "unsat" for solver in obligation.required)
        fate = "equivalent" if equivalent and valid else "survived"
        return MutantOutcome(mutant.name, mutant.flaw, fate, _why_not(answers))
    solver, witness = found
    if equivalent:
        reason = "it was proved equivalent, and refuted"
        return MutantOutcome(mutant.name, mutant.flaw, "survived", reason, solver, witness)
    if contradicting := [name for name, answer in answers.items() if answer.says == "unsat"]:
        reason = f"disagreement: {', '.join(contradicting)} answered unsat"
        return MutantOutcome(mutant.name, mutant.flaw, "survived", reason, solver, witness)
    difference, reason = replayed(mutant.replay, witness)
    fate = "survived" if reason else "killed"
    return MutantOutcome(mutant.name, mutant.flaw, fate, reason, solver, witness, difference)


def replayed(replay: Callable[[Witness], Difference], witness: Witness) -> tuple[Difference | None, str]:
    """The difference at the witness, and why it shows nothing, or ''."""
    try:
        difference = replay(witness)
    except (ArithmeticError, ValueError) as error:
        return None, f"the replay has no value: {error}"
    if difference.exact == 0:
        return difference, "the replay shows no exact difference"
    exact = float(difference.exact)
    if not math.isfinite(difference.floating) or abs(difference.floating - exact) > _FLOAT_AGREES * abs(exact):
        return difference, f"the float replay gives {difference.floating!r}, not {exact!r}"
    return difference, ""


def replay_of(true: Any, false: Any) -> Callable[[Witness], Difference]:
    """A replay by two Z3 terms that ought to be equal: their difference, exactly and in floats.

    For statements that no simulator runs; a construction's mutants are replayed through its simulator.
    """

    def replay(witness: Witness) -> Difference:
        exact = Fraction(evaluate(false, witness)) - Fraction(evaluate(true, witness))
        return Difference(exact, evaluate(false, witness, float) - evaluate(true, witness, float))

    return replay


def _why_not(answers: Mapping[str, Answer]) -> str:
    said = {name: answer.reason or answer.says for name, answer in answers.items()}
    return "; ".join(f"{name}: {words}" for name, words in said.items()) or "no solver was asked"
