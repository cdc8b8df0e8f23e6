"""`twoheads report`: the main job, and what people read of it."""

from __future__ import annotations

from pathlib import Path

import click

from proofs.cache import CacheError
from proofs.solvers import SolverError
from reports.collect import Report, collect, document
from reports.folder import checked_report, write_report
from reports.output import checked_folder, print_json
from reports.page import page
from reports.progress import Progress
from reports.proving import ANSWERS
from reports.summary import summary
from reports.wording import counted

__all__ = ["command"]


@click.command("report")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("build/report"),
    show_default=True,
    help="Folder for index.html, report.json and smt2/.",
)
@click.option("--jobs", type=click.IntRange(min=1), default=None, help="Worker processes; all processors if not given.")
@click.option("--fresh", is_flag=True, help="Ask the solvers again, whatever was answered before.")
@click.option("--json", "as_json", is_flag=True, help="Print report.json on standard output, too.")
def command(out: Path, jobs: int | None, fresh: bool, as_json: bool) -> int:
    """Check every obligation, run the packaged real attention, and write the report into a folder.

    The report is written whatever the checks say. Exits 1 if one failed.
    """
    for folder in (checked_report(out), ANSWERS):
        checked_folder(folder)
    try:
        with Progress(total=0) as progress:
            report = collect(progress, fresh, jobs)
            progress.say("writing the report")
            write_report(out, page(report), document(report), report.proofs.formulas)
    except (CacheError, SolverError) as error:
        click.echo(f"twoheads: {error}", err=True)
        return 1
    if as_json:
        print_json(document(report))
    else:
        _print(out, report)
    return 1 if report.failed else 0


def _print(out: Path, report: Report) -> None:
    for said in summary(report):
        click.echo(f"{said.title}: {said.sentences[0]}")
    for check in report.failed:
        click.echo(f"failed: {check.name}: {check.detail}")
    click.echo(f"{len(report.checks) - len(report.failed)} of {counted(len(report.checks), 'check')} passed.")
    click.echo(f"The report is {out / 'index.html'}")
