"""The obligations as the page shows them: the matrix of solvers, false variants, and what each hypothesis is for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reports.collect import Proofs
from reports.wording import anchor, grouped, paper_order

__all__ = ["obligations_view"]

Record = dict[str, Any]


def obligations_view(proofs: Proofs) -> dict[str, Any]:
    """What the template of the obligations needs."""
    solvers = list(dict.fromkeys(name for row in proofs.records for name in row["solvers"]))
    statuses = {claim["item"]: claim for claim in proofs.claims}
    groups = [
        {
            "item": item,
            "id": "item-" + anchor(item),
            "claim": statuses[item],
            "formulas": [_row(row, solvers) for row in rows if row["solvers"]],
            "evidence": [row for row in rows if not row["solvers"]],
            "mutants": [_mutant(row, mutant) for row in rows for mutant in row["mutants"]["table"]],
            "hypotheses": [{"obligation": row["name"], **h} for row in rows for h in row["hypotheses"]],
            "liftings": [row for row in rows if row["lifting"]],
        }
        for item, rows in sorted(grouped(proofs.records, lambda row: row["item"]), key=lambda one: paper_order(one[0]))
    ]
    return {"obligation_groups": groups, "solvers": solvers}


def _row(row: Record, solvers: Sequence[str]) -> Record:
    mutants = row["mutants"]
    dead = mutants["killed"] + mutants["equivalent"]
    return {
        **row,
        "cells": [_answer(row["solvers"].get(name)) for name in solvers],
        "mutants": f"{dead}/{mutants['total']}" if mutants["total"] else "–",
        "survivors": mutants["survivors"],
        "nearest": _nearest(mutants["table"]),
        "counterexample": _witness(row["counterexample"]),
    }


def _answer(answer: Record | None) -> str:
    if answer is None:
        return "–"
    return ("" if answer["answer"] == "unsat" else f"{answer['answer']}, ") + f"{answer['seconds']:.2f} s"


def _nearest(table: Sequence[Record]) -> Record | None:
    """The refuted variant with the shortest witness; every variant is one change away from the obligation."""
    refuted = [{"flaw": m["flaw"], "witness": _witness(m["witness"])} for m in table if m["fate"] == "killed"]
    return min(refuted, key=lambda mutant: len(mutant["witness"]), default=None)


def _mutant(row: Record, mutant: Record) -> Record:
    difference = mutant["difference"] or {}
    return {
        **mutant,
        "obligation": row["name"],
        "witness": _witness(mutant["witness"]),
        "exact": difference.get("exact", "–"),
        "floating": difference.get("floating"),
    }


def _witness(witness: dict[str, str] | None) -> str:
    """A model in one line; what is 0 in a long one is left out."""
    if not witness:
        return ""
    shown = {name: value for name, value in witness.items() if value != "0"} if len(witness) > 8 else witness
    rest = ", all others 0" if len(shown) < len(witness) else ""
    return ", ".join(f"{name} = {value}" for name, value in shown.items()) + rest
