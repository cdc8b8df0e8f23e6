"""`twoheads bench`: time and calls of the simulators, against direct attention in the same run."""

from __future__ import annotations

from dataclasses import asdict

import click

from reports.benchmark import BASELINE, time_simulators
from reports.environment import environment
from reports.growth import calls_growth
from reports.output import print_json
from reports.progress import Progress
from reports.tables import print_table
from reports.wording import short
from twoheads.catalogue import Options

__all__ = ["command"]

_LENGTHS = (256, 512, 1024, 2048)


@click.command("bench")
@click.option("--tokens", "lengths", type=click.IntRange(min=1), multiple=True, help="N; may be repeated.")
@click.option("--oracle-length", "M", type=int, default=65, show_default=True, help="M.")
@click.option("--window", "r", type=int, default=16, show_default=True, help="R, the window size.")
@click.option("--sinks", "s", type=int, default=4, show_default=True, help="S, the number of sinks.")
@click.option("--repeats", type=click.IntRange(min=1), default=5, show_default=True, help="Runs a median is over.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(lengths: tuple[int, ...], M: int, r: int, s: int, repeats: int, as_json: bool) -> int:
    """Measure the default variants' time as a multiple of direct attention's, and how their calls grow.

    Exits 1 if a ledger's calls are not those of the closed form.
    """
    with Progress() as progress:
        timings = time_simulators(lengths or _LENGTHS, M, Options(r=r, s=s), repeats, progress=progress.say)
        progress.say("counting calls")
        growth = calls_growth()
    if as_json:
        print_json(
            {
                "baseline": BASELINE,
                "repeats": repeats,
                "timings": [{**asdict(row), "ratio": row.ratio} for row in timings],
                "growth": [asdict(row) for row in growth],
                "environment": environment(),
            }
        )
    else:
        print_table(
            f"Median time of {repeats} runs, as a multiple of the baseline's: {BASELINE}",
            ["construction", "variant", "N", "M", "calls", "seconds", "baseline", "ratio"],
            [
                [
                    t.construction,
                    t.variant,
                    t.N,
                    t.M,
                    t.calls,
                    short(t.seconds),
                    short(t.baseline_seconds),
                    f"{t.ratio:.1f}",
                ]
                for t in timings
            ],
        )
        print_table(
            "Oracle calls of one head, as N grows",
            ["construction", "N", "M", "calls", "closed form", "bound", "calls/bound"],
            [
                [g.construction, g.N, g.M, g.calls, g.closed_form, f"{g.bound:g}", f"{g.calls / g.bound:.2f}"]
                for g in growth
            ],
        )
    return 0 if all(row.calls == row.closed_form for row in growth) else 1
