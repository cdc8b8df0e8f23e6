"""`twoheads verify`: the proof obligations, each by every solver, with its false variants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from proofs.cache import CacheError
from proofs.records import junit
from proofs.registry import all_subjects
from proofs.runner import Run
from proofs.solvers import SolverError
from reports.output import checked_folder, checked_target, print_json, write_atomically
from reports.progress import Progress
from reports.proving import ANSWERS, SOLVERS, TEXTS, prove
from reports.tables import print_table
from reports.wording import counted, joined, paper_order

__all__ = ["command"]


@click.command("verify")
@click.argument("items", metavar="[ITEM ...]", nargs=-1)
@click.option("--jobs", type=click.IntRange(min=1), default=None, help="Worker processes; all processors if not given.")
@click.option("--solver", "solvers", type=click.Choice(SOLVERS), multiple=True, help="Ask only this; may be repeated.")
@click.option("--fresh", is_flag=True, help="Ask everything again, whatever was answered before.")
@click.option("--junit", "report", type=click.Path(path_type=Path), default=None, help="Write a JUnit XML file, too.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    items: tuple[str, ...],
    jobs: int | None,
    solvers: tuple[str, ...],
    fresh: bool,
    report: Path | None,
    as_json: bool,
) -> int:
    """Check the obligations of the given ITEMs, or of all, with all that they depend on.

    An ITEM is the paper's ("Lemma 3.1", lemma_3_1), or one obligation ("Lemma 3.1/recovery-stable"). Exits 1 if
    something is not as it should be: an obligation undecided or refuted, a solver left out that it requires, a
    false variant that survives. Answers are kept in build/answers, the SMT-LIB texts in build/smt2.
    """
    if report is not None:
        checked_target(report)
    for folder in (TEXTS, ANSWERS):
        checked_folder(folder)
    try:
        with Progress(total=0) as progress:
            run = prove(items, progress, TEXTS, tuple(dict.fromkeys(solvers)) or SOLVERS, jobs, fresh)
    except (CacheError, SolverError) as error:
        click.echo(f"twoheads: {error}", err=True)
        return 1
    rows = run.records()
    if report is not None:
        write_atomically(report, lambda stream: stream.write(junit(rows).encode()))
    if as_json:
        print_json(rows)
    else:
        _print(run, rows)
    return 0 if run.passed else 1


def _print(run: Run, rows: Sequence[Mapping[str, Any]]) -> None:
    solvers = list(dict.fromkeys(name for row in rows for name in row["solvers"]))
    # a claim has a status only where all of its obligations were in the run
    absent = {subject.item for name, subject in all_subjects().items() if name not in {row["id"] for row in rows}}
    whole = run.claims.keys() - absent
    for item in sorted(run.claims, key=paper_order):
        claim = run.claims[item]
        own = [row for row in rows if row["item"] == item]
        resting = f", rests on {joined(claim.rests_on)}" if claim.rests_on else ""
        print_table(
            f"{item}: {claim.verdict}{resting}" if item in whole else f"{item}, in part",
            ["obligation", "kind", "scope", "verdict", *solvers, "mutants"],
            [_line(row, solvers) for row in own],
        )
    for row in rows:
        if not row["passed"]:
            click.echo(f"failed: {row['id']}: {_why(row)}")
    if run.decided_by_one:
        click.echo(f"decided by one solver only: {joined(run.decided_by_one)}")
    passed = sum(row["passed"] for row in rows)
    click.echo(f"{passed} of {counted(len(rows), 'statement')} passed.")


def _line(row: Mapping[str, Any], solvers: Sequence[str]) -> list[str]:
    mutants = row["mutants"]
    dead = mutants["killed"] + mutants["equivalent"]
    return [
        row["name"],
        row["kind"],
        row["scope"],
        row["verdict"],
        *(_seconds(row["solvers"].get(name)) for name in solvers),
        f"{dead}/{mutants['total']}" if mutants["total"] else "–",
    ]


def _seconds(answer: Mapping[str, Any] | None) -> str:
    if answer is None:
        return "–"
    return f"{answer['seconds']:.2f}" + ("" if answer["answer"] == "unsat" else f" {answer['answer']}")


def _why(row: Mapping[str, Any]) -> str:
    survivors = row["mutants"]["survivors"]
    alive = f"false variants that are not refuted: {joined(survivors)}" if survivors else ""
    return "; ".join(text for text in (row["verdict"], row["reason"], alive) if text)
