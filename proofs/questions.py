"""What is asked about an obligation: the proof itself, and all that shows that the proof is not empty."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import z3

from proofs.obligation import Hypothesis, Obligation
from proofs.smtlib import digest_of, script
from proofs.terms import divisors_of, graph_of

__all__ = ["Question", "questions_of"]

_SECONDARY = Fraction(1, 8)  # of the effort, for questions whose answer may be unknown


@dataclass(frozen=True)
class Question:
    """One text for every solver, and the share of the limits that it may use."""

    role: str
    text: str
    effort: Fraction

    @property
    def digest(self) -> str:
        """The text's address."""
        return digest_of(self.text)


@lru_cache(maxsize=4096)
def questions_of(obligation: Obligation) -> dict[str, Question]:
    """Everything that is asked about an obligation, by role.

    proof: the hypotheses and the negated goal; must have no model. hypotheses: alone; must have one. smoke: with
    the goal itself, so that the negated goal is not provable either; must have one. goal: the goal negated,
    without hypotheses; must not be provable. without-X: the proof without one hypothesis. mutant-X: the variant.
    The questions that look for a model look for one at which every division is defined.
    """
    hypotheses, full = list(obligation.hypotheses), Fraction(obligation.effort)
    brief = full * _SECONDARY
    ask = _Asker(obligation)
    found = [
        ask("proof", hypotheses, z3.Not(obligation.goal), full),
        ask("smoke", hypotheses, obligation.goal, full),
    ]
    if hypotheses:
        found.append(ask("hypotheses", hypotheses, None, full))
        found.append(ask("goal", [], z3.Not(obligation.goal), brief))
    for hypothesis in hypotheses if len(hypotheses) > 1 else []:
        others = [h for h in hypotheses if h is not hypothesis]
        found.append(ask(f"without-{hypothesis.name}", others, z3.Not(obligation.goal), brief))
    for mutant in obligation.mutants:
        changed, goal = obligation.mutated(mutant)
        found.append(ask(f"mutant-{mutant.name}", changed, z3.Not(goal), full))
    return {question.role: question for question in found}


@dataclass(frozen=True)
class _Asker:
    obligation: Obligation

    def __call__(self, role: str, hypotheses: Iterable[Hypothesis], end: Any | None, effort: Fraction) -> Question:
        obligation = self.obligation
        assertions = {f"hypothesis-{h.name}": h.formula for h in hypotheses}
        if end is not None:
            assertions["the-goal" if role == "smoke" else "negated-goal"] = end
        if role not in ("proof", "goal") and (divisors := divisors_of(graph_of(assertions.values()))):
            assertions["divisions-defined"] = z3.And(*(divisor != 0 for divisor in divisors))
        # the words are on top of the proof's text, which is what people read
        comment = (
            f"{obligation.id} ({obligation.kind}; {obligation.scope})\n{obligation.proves}" if role == "proof" else ""
        )
        return Question(role, script(assertions, obligation.logic, comment), effort)
