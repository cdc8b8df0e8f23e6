"""`twoheads audit`: every item of the paper, as printed and as repaired."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from proofs.audit.reading import AuditError
from proofs.cache import CacheError
from proofs.solvers import SolverError
from reports.auditing import asked, audited, by_kernel, consistent, errata
from reports.output import checked_folder, print_json
from reports.progress import Progress
from reports.proving import ANSWERS
from reports.tables import print_table
from reports.wording import counted, grouped, joined

__all__ = ["command"]

Record = Mapping[str, Any]


@click.command("audit")
@click.argument("items", metavar="[ITEM ...]", nargs=-1)
@click.option("--errata", "as_errata", is_flag=True, help="Print the errata list for the authors, as Markdown.")
@click.option("--jobs", type=click.IntRange(min=1), default=None, help="Worker processes; all processors if not given.")
@click.option("--fresh", is_flag=True, help="Ask the solvers again, whatever was answered before.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(items: tuple[str, ...], as_errata: bool, jobs: int | None, fresh: bool, as_json: bool) -> int:
    """Run the printed text of the given ITEMs, or of all, and the evidence for what holds of them.

    An ITEM is the paper's ("Lemma 3.1", B.5.split) or one of our own claims (beyond.one-call). One item is told in
    full. Exits 1 if an entry contradicts what ran or its evidence failed; that the paper is refuted is no failure.
    """
    if as_errata and as_json:
        raise click.UsageError("--errata and --json exclude each other: choose one.")
    checked_folder(ANSWERS)
    try:
        with Progress(total=0) as progress:
            records = audited(items, progress, jobs, fresh)
    except (AuditError, CacheError, SolverError) as error:
        click.echo(f"twoheads: {error}", err=True)
        return 1
    if as_json:
        print_json(records)
    elif as_errata:
        click.echo(errata(records), nl=False)
    elif len(records) == 1:
        _tell(records[0])
    else:
        _print(records)
    return 0 if consistent(records) else 1


def _print(records: Sequence[Record]) -> None:
    for section, rows in grouped(records, lambda row: row["section"]):
        print_table(section, ["item", "as printed", "affects", "known", "finding"], [_line(row) for row in rows])
    for row in records:
        for flaw in row["flaws"]:
            click.echo(f"failed: {row['id']}: {flaw}")
    found = {status: sum(row["printed"] == status for row in records) for status in ("holds", "refuted")}
    click.echo(
        f"{counted(len(records), 'item')}: {found['holds']} hold as printed, {found['refuted']} are refuted, "
        f"{len(records) - sum(found.values())} cannot be checked."
    )


def _line(row: Record) -> list[str]:
    affects = row["affects"] if row["printed"] == "refuted" else "–"
    extracted = "As extracted. " if row["as_extracted"] else ""
    return [row["id"], row["printed"], affects, row["verdict"], extracted + (row["finding"] or _why(row))]


def _why(row: Record) -> str:
    if row["missing"]:
        return f"no entry yet for {joined(row['missing'])}"
    return row["not_checkable"]


def _tell(row: Record) -> None:
    """The whole story of one item."""
    status = f"{row['printed']} as printed" + (f", affects: {row['affects']}" if row["printed"] == "refuted" else "")
    click.echo(f"{row['id']} ({row['section']})\n{status}; known: {row['verdict']}\n")
    _part("Says", [row["restatement"]])
    _part("Cannot be checked", [text for text in [_why(row)] if text])
    _part("As printed", [_reading(reading) for reading in row["readings"]])
    if row["counterexample"] and not any(reading["slip"] for reading in row["readings"]):
        _part("Counterexample, in a part", [_reading(row["counterexample"])])
    _part("Finding", [row["finding"]] if row["finding"] else [])
    _part("Remarks", [_reading(remark) for remark in row["remarks"]])
    _part("Note", [row["note"]] if row["note"] else [])
    _part("Repair", [row["repair"]] if row["repair"] else [])
    _part("Evidence", [f"{one['id']}: {one['verdict']}, {one['scope'] or one['proves']}" for one in row["evidence"]])
    _part("Rests on", row["rests_on"])
    _part("Survives", [row["survives"]] if row["survives"] else [])
    _part("Consists of", row["parts"])
    _part("See also", row["depends"])
    _part("Derivation", [row["derivation"]] if row["derivation"] else [])
    _part("Failed", row["flaws"])
    click.echo(f"Reproduce: {row['command']}")


def _part(title: str, lines: Sequence[str]) -> None:
    if lines:
        click.echo(f"{title}:")
        for line in lines:
            click.echo(f"  {line}")
        click.echo()


def _reading(reading: Record) -> str:
    if reading["holds"]:
        return f"holds in {counted(reading['examined'], 'case')}: {reading['says']}"
    floats = f"; in floats {reading['floats'][0]} and {reading['floats'][1]}"
    return f"fails: {reading['says']}: {asked(reading)}{floats}{by_kernel(reading)}"
