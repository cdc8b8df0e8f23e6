"""The trusted core: the only place where a verdict comes from.

A `Result` is made from a subject and the answers of a run, and by making it the subject is judged: there is no
argument by which to hand it a verdict, and nothing that could be changed afterwards. What was found is kept where
only this module's class reaches it. `proved` needs all of

- every solver that the obligation requires answers unsat on the same text, and none answers sat;
- the hypotheses can be met, also together with the goal, by a model that exact arithmetic confirms;
- the goal is not true for the trivial reason that it says nothing: it does not simplify to true, and no solver
  proves it without the hypotheses (unless the obligation says that it is unconditional).

A counterexample counts only if exact arithmetic confirms it. Everything else is `unknown`, with its reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

import z3

from proofs.answers import Answers
from proofs.evidence import Evidence
from proofs.exact import Witness, holds
from proofs.mutation import MutantOutcome, judge_mutant, replayed, witness_in
from proofs.obligation import Assumption, Check, Difference, Hypothesis, Obligation, Subject
from proofs.questions import questions_of
from proofs.solvers import Answer
from proofs.terms import constants_of, graph_of
from proofs.verdicts import HOLDS, Verdict
from proofs.workers import Ended

__all__ = ["ForgedResultError", "Result"]


class ForgedResultError(TypeError):
    """A result was to be made, changed or copied by other means than a check."""


@dataclass(frozen=True)
class _Finding:
    verdict: Verdict
    reason: str = ""
    answers: Mapping[str, Answer] | None = None
    witness: Witness | None = None
    difference: Difference | None = None
    met_by: Mapping[str, Any] | None = None
    mutants: tuple[MutantOutcome, ...] = ()
    hypotheses: tuple[tuple[str, str, Witness | None], ...] = ()
    evidence: Evidence | None = None


class _Unchangeable(type):
    def __setattr__(cls, name: str, value: Any) -> NoReturn:
        raise ForgedResultError("the class of results cannot be changed.")


def _sealed() -> type[Any]:
    findings: WeakKeyDictionary[Any, tuple[Subject, _Finding]] = WeakKeyDictionary()

    class Result(metaclass=_Unchangeable):
        """What is known of one subject. Making it is checking it.

        Args:
            subject: an obligation, a check or an assumption.
            answers: those of the run; what the subject needs must have been gathered.

        Raises:
            ForgedResultError: the arguments are anything else.
        """

        __slots__ = ("__weakref__",)

        def __init__(self, subject: Subject, answers: Answers) -> None:
            if self in findings or type(answers) is not Answers:
                raise ForgedResultError("a result comes from a subject and the answers of a run, once.")
            findings[self] = (subject, _judge(subject, answers))

        @property
        def subject(self) -> Subject:
            """What was judged."""
            return findings[self][0]

        def __getattr__(self, name: str) -> Any:
            try:
                return getattr(findings[self][1], name)
            except KeyError:
                raise ForgedResultError("this result was not made by a check.") from None

        @property
        def passed(self) -> bool:
            """Whether the run may go on: the verdict is as it should be and no mutant survived."""
            return _passed(*findings[self])

        def __init_subclass__(cls) -> NoReturn:
            raise ForgedResultError("a result cannot be subclassed.")

        def __reduce_ex__(self, protocol: Any) -> NoReturn:
            raise ForgedResultError("a result cannot be copied or stored: check the subject again.")

        def __repr__(self) -> str:
            subject, finding = findings[self]
            return f"<{subject.id}: {finding.verdict}{f' ({finding.reason})' if finding.reason else ''}>"

    return Result


Result: Any = _sealed()
"""The class of results; see its docstring. Besides `subject`, `passed` and `verdict` it has `reason`, `answers` (by
solver), `witness` and `difference` of a refutation, `met_by` (how the hypotheses were met), `mutants`,
`hypotheses` (the drop-one table: name, `needed`, `not needed` or `undecided`, witness) and `evidence`."""


def _passed(subject: Subject, finding: _Finding) -> bool:
    if any(mutant.fate == "survived" for mutant in finding.mutants):
        return False
    if isinstance(subject, Obligation) and subject.refutable:
        return finding.verdict is Verdict.REFUTED
    return finding.verdict in HOLDS or isinstance(subject, Assumption)


def _judge(subject: Subject, answers: Answers) -> _Finding:
    if isinstance(subject, Assumption):
        return _Finding(Verdict.ASSUMED, subject.source)
    if isinstance(subject, Check):
        return _judge_evidence(answers.evidence_of(subject))
    if isinstance(subject, Obligation):
        return _judge_obligation(subject, answers)
    raise ForgedResultError(f"{type(subject).__name__} is nothing that could be judged.")


def _judge_evidence(found: Evidence | Ended | None) -> _Finding:
    if found is None:
        return _Finding(Verdict.UNKNOWN, "the check was not run")
    if isinstance(found, Ended):
        return _Finding(Verdict.UNKNOWN, found.why)
    verdict, reason = found.judged()
    return _Finding(verdict, reason, evidence=found)


def _judge_obligation(obligation: Obligation, answers: Answers) -> _Finding:
    asked = {role: answers.of(question) for role, question in questions_of(obligation).items()}
    met = _met(obligation, asked)
    verdict, reason, witness = _decided(obligation, asked, met)
    difference = None
    if verdict is Verdict.REFUTED and obligation.replay is not None and witness is not None:
        difference, flaw = replayed(obligation.replay, witness)
        verdict, reason = (Verdict.UNKNOWN, flaw) if flaw else (verdict, reason)
    mutants = tuple(
        judge_mutant(
            obligation, mutant, asked[f"mutant-{mutant.name}"], _equivalent(mutant.equivalent_because, answers)
        )
        for mutant in obligation.mutants
    )
    table = _drop_one(obligation, asked) if verdict in HOLDS else ()
    return _Finding(verdict, reason, asked["proof"], witness, difference, met, mutants, table)


def _decided(
    obligation: Obligation, asked: Mapping[str, Mapping[str, Answer]], met: Mapping[str, Any]
) -> tuple[Verdict, str, Witness | None]:
    says = {solver: answer.says for solver, answer in asked["proof"].items()}
    if {"sat", "unsat"} <= set(says.values()):
        return Verdict.UNKNOWN, "disagreement: " + ", ".join(f"{k} says {v}" for k, v in says.items()), None
    if "sat" in says.values():
        found = witness_in(asked["proof"], obligation.hypotheses, obligation.goal, wanted=False)
        if found is None:
            return Verdict.UNKNOWN, "a counterexample that exact arithmetic does not confirm", None
        return Verdict.REFUTED, f"counterexample by {found[0]}", found[1]
    open_ = [
        f"{solver}: {_why_open(asked['proof'].get(solver))}"
        for solver in obligation.required
        if says.get(solver) != "unsat"
    ]
    if open_:
        return Verdict.UNKNOWN, "; ".join(open_), None
    if flaw := _emptiness(obligation, asked, met):
        return Verdict.UNKNOWN, flaw, None
    return Verdict.PROVED_BOUNDED if obligation.bounded else Verdict.PROVED, "", None


def _why_open(answer: Answer | None) -> str:
    return "not asked" if answer is None else answer.reason or answer.says


def _emptiness(obligation: Obligation, asked: Mapping[str, Mapping[str, Answer]], met: Mapping[str, Any]) -> str:
    """Why a proof would show nothing, or ''."""
    if not constants_of(graph_of([obligation.goal])) or z3.is_true(z3.simplify(obligation.goal)):
        return "trivial goal: it is true whatever its constants are"
    if not obligation.unconditional:
        if not obligation.hypotheses:
            return "no hypotheses: say unconditional=True if that is meant"
        if any(answer.says == "unsat" for answer in asked["goal"].values()):
            return "trivial goal: it is valid without any hypothesis"
    for role, flaw in (("hypotheses", "contradictory hypotheses"), ("smoke", "smoke: the negated goal is provable")):
        contrary = [solver for solver, answer in asked.get(role, {}).items() if answer.says == "unsat"]
        if contrary:
            return f"{flaw} ({', '.join(contrary)})"
    if obligation.hypotheses and met["hypotheses"] is None:
        return "no confirmed model of the hypotheses"
    return "" if met["smoke"] is not None else "smoke: no confirmed model of hypotheses and goal"


def _met(obligation: Obligation, asked: Mapping[str, Mapping[str, Answer]]) -> dict[str, Any]:
    """By role, who gave a model of the hypotheses (and the goal) that exact arithmetic confirms, and the model."""
    own: list[Hypothesis] = list(obligation.hypotheses)
    found: dict[str, Any] = {
        "hypotheses": witness_in(asked.get("hypotheses", {}), own),
        "smoke": witness_in(asked["smoke"], own, obligation.goal),
    }
    example = obligation.example
    if example is not None and all(holds(f, example) for f in [*(h.formula for h in own), obligation.goal]):
        found = {role: given or ("example", example) for role, given in found.items()}
    return found


def _drop_one(
    obligation: Obligation, asked: Mapping[str, Mapping[str, Answer]]
) -> tuple[tuple[str, str, Witness | None], ...]:
    """For each hypothesis whether the goal fails without it, where every division is defined."""
    rows: list[tuple[str, str, Witness | None]] = []
    for dropped in obligation.hypotheses:
        answers = asked["goal" if len(obligation.hypotheses) == 1 else f"without-{dropped.name}"]
        others = [h for h in obligation.hypotheses if h is not dropped]
        found = witness_in(answers, others, obligation.goal, wanted=False)
        proved = [s for s in obligation.required if s in answers and answers[s].says == "unsat"]
        if found is not None:
            rows.append((dropped.name, "needed", found[1]))
        elif len(proved) == len(obligation.required):
            rows.append((dropped.name, "not needed", None))
        else:
            rows.append((dropped.name, "undecided", None))
    return tuple(rows)


def _equivalent(because: Obligation | None, answers: Answers) -> bool:
    return because is not None and _judge_obligation(because, answers).verdict in HOLDS
