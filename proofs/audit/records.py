"""What the audit found, as plain JSON values: what the command line prints and the report shows."""

from __future__ import annotations

from typing import Any

from proofs.audit.judging import Audited
from proofs.audit.ledger import section_of
from proofs.audit.reading import Evaluated, shown
from proofs.kernel import accepted_theorems
from proofs.records import record as proof_record
from symbolic.catalogue import BUILDERS

__all__ = ["record"]

_EVIDENCE = ("id", "kind", "scope", "proves", "verdict", "passed", "reason", "decided_by", "digest", "mutants")


def record(one: Audited) -> dict[str, Any]:
    """One item. `printed`, `affects` and `verdict` are computed from what ran.

    `verdict` is what is known of the item as it holds: of the repaired one where the printed one is refuted.
    """
    entry, found, accepted = one.entry, one.counterexample, accepted_theorems()
    return {
        "id": entry.id,
        "section": section_of(entry.id),
        "restatement": entry.restatement,
        "printed": str(one.printed),
        "affects": str(one.affects),
        "verdict": str(one.verdict),
        "finding": _finding(one),
        "repair": entry.repair,
        "survives": entry.survives,
        "counterexample": None if found is None else _evaluated(found, accepted),
        "as_extracted": one.extraction,
        "not_checkable": entry.not_checkable,
        "note": entry.note,
        "readings": [_evaluated(reading, accepted) for reading in one.readings],
        "remarks": [_evaluated(remark, accepted) for remark in one.remarks],
        "evidence": [_evidence(result) for result in one.evidence],
        "rests_on": one.rests_on,
        "parts": list(entry.parts),
        "missing": list(one.missing),
        "depends": list(entry.depends),
        "derivation": _derivation(entry.id),
        "command": f"twoheads audit '{entry.id}'",
        "flaws": one.flaws,
    }


def _derivation(name: str) -> str | None:
    """The command that prints the item's derivation, if there is one."""
    item = next((half for half in name.split(" / ") if half in BUILDERS), None)
    return item and f"twoheads explain '{item}'"


def _finding(one: Audited) -> str:
    own = [slip.text for found in one.refutations if (slip := found.reading.slip)]
    parts = [part.entry.id for part in one.failing_parts]
    return " ".join([*own, *([f"What fails in {', '.join(parts)} fails here."] if parts else [])])


def _evaluated(one: Evaluated, accepted: set[str]) -> dict[str, Any]:
    slip = one.reading.slip
    return {
        "says": one.reading.says,
        "holds": one.holds,
        "cases": len(one.reading.cases),
        "examined": one.examined,
        "at": one.place,
        "printed": shown(one.printed),
        "relation": one.reading.relation,
        "due": shown(one.due),
        "text": one.text,
        "floats": [shown(value) for value in one.floats],
        "floats_agree": one.floats_agree,
        "slip": slip.text if slip else None,
        "affects": str(slip.affects) if slip else None,
        "as_extracted": slip.extraction if slip else None,
        "theorem": slip.theorem if slip and slip.theorem else None,
        "kernel_checked": slip.theorem in accepted if slip and slip.theorem else None,
    }


def _evidence(result: Any) -> dict[str, Any]:
    whole = proof_record(result)
    return {key: whole[key] for key in _EVIDENCE}
