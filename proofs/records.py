"""Results as plain JSON values: what the command line prints and the report shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from xml.etree import ElementTree as ET

from proofs.claims import ClaimStatus
from proofs.evidence import to_json
from proofs.exact import Witness, text_of
from proofs.mutation import MutantOutcome
from proofs.obligation import Assumption, Difference, Kind, Obligation
from proofs.questions import questions_of
from proofs.solvers import Answer

__all__ = ["claim_record", "junit", "record"]


def record(result: Any, claim: ClaimStatus | None = None, smtlib: str | None = None) -> dict[str, Any]:
    """One result; the same keys for obligations, checks and assumptions.

    Args:
        result: from `proofs.core`.
        claim: the status of its item, for the assumptions that it rests on.
        smtlib: where its text was written.
    """
    subject, mutants = result.subject, result.mutants
    return {
        "id": subject.id,
        "item": subject.item,
        "name": subject.name,
        "kind": str(Kind.ASSUMPTION if isinstance(subject, Assumption) else subject.kind),
        "scope": "" if isinstance(subject, Assumption) else subject.scope,
        "proves": subject.statement if isinstance(subject, Assumption) else subject.proves,
        "lifting": subject.lifting if isinstance(subject, Obligation) else "",
        "verdict": str(result.verdict),
        "passed": result.passed,
        "reason": result.reason,
        "supports": subject.supports,
        "solvers": {name: _answer(answer) for name, answer in (result.answers or {}).items()},
        "decided_by": [name for name, answer in (result.answers or {}).items() if answer.says != "unknown"],
        "smtlib": smtlib,
        "digest": questions_of(subject)["proof"].digest if isinstance(subject, Obligation) else None,
        "mutants": {
            "killed": sum(m.fate == "killed" for m in mutants),
            "equivalent": sum(m.fate == "equivalent" for m in mutants),
            "total": len(mutants),
            "survivors": [m.name for m in mutants if m.fate == "survived"],
            "table": [_mutant(m) for m in mutants],
        },
        "hypotheses": _hypotheses(result),
        "met_by": _met(result.met_by),
        "counterexample": _witness(result.witness),
        "difference": _difference(result.difference),
        "evidence": None if result.evidence is None else to_json(result.evidence),
        "depends_on": list(subject.depends_on),
        "rests_on": list(claim.rests_on) if claim else [],
    }


def claim_record(status: ClaimStatus) -> dict[str, Any]:
    """The status of one item."""
    return {
        "item": status.item,
        "verdict": str(status.verdict),
        "weakest": list(status.weakest),
        "rests_on": list(status.rests_on),
        "failed": list(status.failed),
    }


def junit(rows: Iterable[Mapping[str, Any]]) -> str:
    """The records as JUnit XML, one test case each."""
    rows = list(rows)
    failures = sum(not row["passed"] for row in rows)
    suite = ET.Element("testsuite", name="twoheads", tests=str(len(rows)), failures=str(failures))
    for row in rows:
        seconds = sum(answer["seconds"] for answer in row["solvers"].values())
        case = ET.SubElement(suite, "testcase", classname=row["item"], name=row["name"], time=f"{seconds:.3f}")
        if not row["passed"]:
            survivors = ", ".join(row["mutants"]["survivors"])
            why = row["reason"] or f"surviving mutants: {survivors}"
            ET.SubElement(case, "failure", message=f"{row['verdict']}: {why}")
    return ET.tostring(suite, encoding="unicode", xml_declaration=True)


def _answer(answer: Answer) -> dict[str, Any]:
    return {
        "version": answer.version,
        "answer": answer.says,
        "reason": answer.reason,
        "resources": answer.resources,
        "seconds": round(answer.seconds, 4),
    }


def _mutant(outcome: MutantOutcome) -> dict[str, Any]:
    return {
        "name": outcome.name,
        "flaw": outcome.flaw,
        "fate": outcome.fate,
        "reason": outcome.reason,
        "solver": outcome.solver,
        "witness": _witness(outcome.witness),
        "difference": _difference(outcome.difference),
    }


def _hypotheses(result: Any) -> list[dict[str, Any]]:
    if not isinstance(result.subject, Obligation):
        return []
    table = {name: (status, witness) for name, status, witness in result.hypotheses}
    return [
        {
            "name": h.name,
            "words": h.words,
            "formula": " ".join(str(h.formula).split()),
            "without": table.get(h.name, ("not asked", None))[0],
            "witness": _witness(table.get(h.name, ("", None))[1]),
        }
        for h in result.subject.hypotheses
    ]


def _met(met_by: Mapping[str, Any] | None) -> dict[str, Any]:
    return {
        role: None if found is None else {"by": found[0], "model": text_of(found[1])}
        for role, found in (met_by or {}).items()
    }


def _witness(witness: Witness | None) -> dict[str, str] | None:
    return None if witness is None else text_of(witness)


def _difference(difference: Difference | None) -> dict[str, Any] | None:
    return None if difference is None else {"exact": str(difference.exact), "floating": difference.floating}
