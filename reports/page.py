"""The HTML page of a report: one file that loads nothing, needs no script and prints well."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from reports.audit_view import audit_view
from reports.average_case import EPSILON
from reports.collect import Report
from reports.diagnosis import EXACT_SIZE
from reports.mathml import mathml
from reports.obligations_view import obligations_view
from reports.packed import H_SMALL, L_SMALL
from reports.plots import calls_plot, errors_plot
from reports.real_attention import TOLERANCES, HeadRow, RunRow
from reports.summary import summary
from reports.wording import anchor, grouped, short

__all__ = ["page"]

_SECTIONS = (
    ("summary", "What was found"),
    ("obligations", "Obligations and solvers"),
    ("kernel", "Kernel-checked theorems"),
    ("audit", "The paper, item by item"),
    ("attention", "Real attention"),
    ("packing", "Packing and the converse"),
    ("derivations", "Derivations"),
    ("reproduce", "How to reproduce this"),
)
_TONES = {"refuted": "bad", "unknown": "open", "assumed": "open"}
_COMMANDS = ("make verify", "twoheads verify --fresh", "twoheads report --out build/report")


def page(report: Report) -> str:
    """The page as text."""
    environment = Environment(
        loader=PackageLoader("reports"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters["short"] = short
    environment.filters["prose"] = _prose
    environment.filters["tone"] = lambda verdict: _TONES.get(verdict, "good")
    return environment.get_template("page.html").render(
        sections=[{"id": name, "title": title, "template": f"{name}.html"} for name, title in _SECTIONS],
        checks=report.checks,
        failed=report.failed,
        started=report.started,
        environment=report.environment,
        summary=summary(report),
        **obligations_view(report.proofs),
        **audit_view(report.audit),
        kernel=report.kernel,
        kernel_version=next((row.coq for row in report.kernel if row.coq), ""),
        claim_verdicts={claim["item"]: claim["verdict"] for claim in report.proofs.claims},
        **_attention(report),
        packed=report.packed,
        shape=(H_SMALL, L_SMALL),
        derivations=[_derivation(one) for one in report.derivations],
        commands=_COMMANDS,
        used=list(_used(report)),
    )


def _prose(text: str) -> Markup:
    """Text as HTML: powers raised, and no line break inside an equation."""
    text = text.replace(">=", "≥").replace("<=", "≤").replace(" - ", " − ")
    safe = re.sub(r"([\w)])\^(-?(?:\d+(?:\.\d+)?|N))", r"\1<sup>\2</sup>", str(escape(text)))
    return Markup(re.sub(r" (=|\+|−|≥|≤) ", "\u00a0\\1\u00a0", safe))


def _attention(report: Report) -> dict[str, Any]:
    attention = report.attention
    quadratic = [row for row in attention.heads if row.construction == "quadratic"]
    by_construction = grouped(attention.runs, lambda row: row.construction)
    notes = [row for _, rows in by_construction for row in rows if row.reason]
    numbers = {id(row): k for k, row in enumerate(notes, start=1)}
    groups = [
        {
            "item": rows[0].item,
            "title": rows[0].title,
            "construction": name,
            "rows": [_run(row, numbers) for row in rows],
        }
        for name, rows in by_construction
    ]
    return {
        "setting": attention.setting,
        "exact_size": EXACT_SIZE,
        "N": attention.runs[0].N,
        "head_count": attention.runs[0].heads,
        "layers": list(dict.fromkeys(row.layer for row in attention.runs)),
        "heads": _heads(quadratic),
        "head_variants": list(dict.fromkeys(row.variant for row in quadratic)),
        "head_reasons": [row for row in quadratic if row.reason],
        "run_groups": groups,
        "runs": attention.runs,
        "notes": notes,
        "growth": report.growth,
        "premises": report.premises,
        "epsilon": EPSILON,
        "errors_plot": Markup(errors_plot(quadratic, TOLERANCES["quadratic"])),
        "calls_plot": Markup(calls_plot(report.growth)),
    }


def _run(row: RunRow, numbers: dict[int, int]) -> dict[str, Any]:
    return {**vars(row), "ratio": row.ratio, "accurate": row.accurate, "note": numbers.get(id(row))}


def _heads(rows: Sequence[HeadRow]) -> list[dict[str, Any]]:
    """One entry per layer and head, with a cell per variant."""
    return [
        {
            "layer": layer,
            "head": head,
            "largest_score": own[0].largest_score,
            "largest_sum": next((row.sums.largest for row in own if row.sums), None),
            "cells": own,
        }
        for (layer, head), own in grouped(rows, lambda row: (row.layer, row.head))
    ]


def _derivation(derivation: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "derivation-" + anchor(derivation["item"]),
        "item": derivation["item"],
        "title": derivation["title"],
        "error": derivation["error"],
        "hypotheses": derivation["hypotheses"],
        "steps": [{**step, "math": mathml(step["latex"])} for step in derivation["steps"]],
    }


def _used(report: Report) -> Iterable[tuple[str, str]]:
    environment, setting = report.environment, report.attention.setting
    yield "twoheads", environment["twoheads"] or "not installed"
    yield "commit", environment["commit"] or "not in a repository"
    yield "Python", environment["python"]
    yield "platform", f"{environment['platform']}, {environment['processors']} processors"
    yield "started", report.started
    yield "seconds", f"{report.seconds:.0f}"
    yield "seeds", f"permutations {setting.seed}; exact comparison and growth of calls 0; solvers 0"
    for name, version in environment["libraries"].items():
        yield name, version or "not installed"
