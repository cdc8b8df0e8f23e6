"""The main job: everything that a report is about, run and collected as plain data."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from proofs.kernel import KernelTheorem, kernel_theorems
from reports.auditing import audited
from reports.average_case import PremiseRow, average_case
from reports.deriving import all_derivations
from reports.environment import environment
from reports.folder import FORMULAS
from reports.growth import Growth, calls_growth
from reports.packed import TOLERANCE, Packed, packed
from reports.progress import Progress
from reports.proving import prove
from reports.real_attention import SETTING, Attention, real_attention
from reports.wording import joined, short

__all__ = ["Check", "Proofs", "Report", "collect", "document"]


@dataclass(frozen=True)
class Check:
    """Something that can fail, and did or did not."""

    name: str
    passed: bool
    detail: str


@dataclass(frozen=True)
class Proofs:
    """What came of the obligations, as `twoheads verify --json` prints it."""

    records: Sequence[dict[str, Any]]
    claims: Sequence[dict[str, Any]]
    formulas: dict[str, str]
    """SMT-LIB 2 texts by file name, from the folder of formulas."""


@dataclass(frozen=True)
class Report:
    """All results of one run."""

    proofs: Proofs
    derivations: Sequence[dict[str, Any]]
    attention: Attention
    premises: Sequence[PremiseRow]
    packed: Packed
    audit: Sequence[dict[str, Any]]
    kernel: Sequence[KernelTheorem]
    growth: Sequence[Growth]
    environment: dict[str, Any]
    started: str
    """UTC, to the minute."""
    seconds: float

    @property
    def checks(self) -> list[Check]:
        """All checks, in the page's order."""
        return [
            *_proof_checks(self.proofs.records),
            *_run_checks(self.attention),
            *_packed_checks(self.packed),
            *_growth_checks(self.growth),
            *_derivation_checks(self.derivations),
            *_audit_checks(self.audit),
        ]

    @property
    def failed(self) -> list[Check]:
        """The checks that failed."""
        return [check for check in self.checks if not check.passed]


def collect(progress: Progress, fresh: bool = False, jobs: int | None = None) -> Report:
    """Check every obligation, run the real attention, derive every item.

    Args:
        progress: told what is being done.
        fresh: ask the solvers again, whatever was answered before.
        jobs: worker processes for them; the number of processors if not given.

    Raises:
        SolverError: a solver cannot read a text.
        CacheError: a kept answer is damaged.
    """
    began, started = time.perf_counter(), datetime.now(UTC)
    proved = _proved(progress, fresh, jobs)
    audit = audited(progress=progress, jobs=jobs, fresh=fresh)
    progress.say("deriving")
    derived = all_derivations()
    attention = real_attention(SETTING, progress=progress.say)
    premises = average_case(SETTING, progress=progress.say)
    progress.say("counting calls")
    return Report(
        proved,
        derived,
        attention,
        premises,
        packed(SETTING, progress=progress.say),
        audit,
        kernel_theorems(),
        calls_growth(),
        environment(),
        started.strftime("%Y-%m-%d %H:%M UTC"),
        time.perf_counter() - began,
    )


def _proved(progress: Progress, fresh: bool, jobs: int | None) -> Proofs:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        run = prove([], progress, folder, jobs=jobs, fresh=fresh)
        names = {str(path): path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.smt2"))}
        formulas = {name: Path(path).read_text(encoding="utf-8") for path, name in names.items()}
        records = [{**row, "smtlib": row["smtlib"] and f"{FORMULAS}/{names[row['smtlib']]}"} for row in run.records()]
        return Proofs(records, run.claim_records(), formulas)


def document(report: Report) -> dict[str, Any]:
    """The report as JSON values."""
    attention = report.attention
    return {
        "started": report.started,
        "seconds": report.seconds,
        "environment": report.environment,
        "checks": [asdict(check) for check in report.checks],
        "failed": [check.name for check in report.failed],
        "claims": list(report.proofs.claims),
        "obligations": list(report.proofs.records),
        "formulas": [f"{FORMULAS}/{name}" for name in report.proofs.formulas],
        "attention": {
            "setting": asdict(attention.setting),
            "runs": [{**asdict(row), "ratio": row.ratio, "accurate": row.accurate} for row in attention.runs],
            "heads": [asdict(row) for row in attention.heads],
        },
        "average_case": [asdict(row) for row in report.premises],
        "packed": asdict(report.packed),
        "growth": [asdict(row) for row in report.growth],
        "audit": list(report.audit),
        "kernel": [asdict(row) for row in report.kernel],
        "derivations": list(report.derivations),
    }


def _proof_checks(records: Sequence[dict[str, Any]]) -> list[Check]:
    return [Check(row["id"], row["passed"], _found(row)) for row in records]


def _found(row: dict[str, Any]) -> str:
    survivors = row["mutants"]["survivors"]
    alive = f"false variants that are not refuted: {joined(survivors)}" if survivors else ""
    return "; ".join(text for text in (row["verdict"], row["reason"], alive) if text)


def _run_checks(attention: Attention) -> list[Check]:
    checks = []
    for row in attention.runs:
        name = f"{row.construction} {row.variant} on {row.layer}"
        limit = "" if row.constant is None else f", at most {row.constant:g} times the paper's bound {row.bound:.1f}"
        detail = f"{row.calls} calls; the closed form says {row.closed_form}{limit}"
        checks.append(Check(f"calls of {name}", row.counted, detail))
        if row.tolerance is not None:
            detail = f"largest relative row error {short(row.max_relative_error)}, tolerance {short(row.tolerance)}"
            checks.append(Check(f"error of {name}", bool(row.accurate), detail))
    return checks


def _packed_checks(found: Packed) -> list[Check]:
    return [
        Check(
            f"heads of {row.layer} packed, {row.packing}",
            row.passed,
            f"{row.calls} calls; the closed form says {row.closed_form}; "
            f"largest relative row error {short(row.error)}, tolerance {short(TOLERANCE)}",
        )
        for row in found.runs
    ]


def _growth_checks(growth: Sequence[Growth]) -> list[Check]:
    return [
        Check(
            f"calls of {row.construction} {row.variant} at N = {row.N}, M = {row.M}",
            row.calls == row.closed_form,
            f"{row.calls} calls; the closed form says {row.closed_form}",
        )
        for row in growth
    ]


def _derivation_checks(derivations: Sequence[dict[str, Any]]) -> list[Check]:
    return [
        Check(f"derivation of {one['item']}", one["error"] is None, one["error"] or f"{len(one['steps'])} steps")
        for one in derivations
    ]


def _audit_checks(records: Sequence[dict[str, Any]]) -> list[Check]:
    """That an item is refuted is no failure; that its entry contradicts what ran is."""
    return [
        Check(f"audit of {row['id']}", not row["flaws"], "; ".join(row["flaws"]) or f"{row['printed']} as printed")
        for row in records
    ]
