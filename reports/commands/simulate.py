"""`twoheads simulate`: run a construction on a user's attention input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from numeric.inputs import EMBEDDED, AttentionInput, embedded_input, load
from numeric.simulation import Simulation, simulate_input
from reports.output import checked_target, print_json, write_atomically
from reports.progress import Progress
from twoheads.catalogue import CONSTRUCTIONS, Options, construction

__all__ = ["command"]

_EXP_RANGE = 650  # exp(+-700) is about where float64 begins to lose digits or ends
_ACCURATE = 1e-9


@click.command("simulate")
@click.argument("source", metavar="INPUT")
@click.option("--oracle-length", "M", type=int, required=True, help="M, the most tokens that the oracle reads.")
@click.option("--construction", "name", default="quadratic", show_default=True, help=" | ".join(CONSTRUCTIONS))
@click.option("--variant", default=None, help="printed, merged, stable, ...; the most accurate if not given.")
@click.option("--window", "r", type=int, default=None, help="R, the window size; for window and sink.")
@click.option("--sinks", "s", type=int, default=None, help="S, the number of sinks; for sink.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the average-case permutation.")
@click.option("--layer", default=None, help="Prefix of the arrays' names in INPUT, without its underscore.")
@click.option("--heads", type=int, default=None, help="Heads that the columns of W_Q, W_K, W_V are split into.")
@click.option("--scale", type=float, default=None, help="Factor on the scores; 1 if not given.")
@click.option("--synthetic-score", type=float, default=0.0, show_default=True, help="Score of the synthetic token.")
@click.option("--out", type=click.Path(path_type=Path), default=None, help="Write the output to this .npz file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    source: str,
    M: int,
    name: str,
    variant: str | None,
    r: int | None,
    s: int | None,
    seed: int,
    layer: str | None,
    heads: int | None,
    scale: float | None,
    synthetic_score: float,
    out: Path | None,
    as_json: bool,
) -> int:
    """Run a construction on INPUT and compare it with direct attention.

    INPUT is an .npz file with Q, K and V of shape (N, m) or (H, N, m), or with X, W_Q, W_K, W_V and optional
    b_Q, b_K, b_V and heads; or the word `minilm`, for the packaged real attention (layers layer0 and layer5).
    Exits 1 if the oracle calls are not those of the closed form, or if an output is not finite.
    """
    chosen = construction(name)
    options = _options(name, r, s, seed, synthetic_score)
    variant = chosen.checked(chosen.default if variant is None else variant)
    if out is not None:
        checked_target(out)
    data = _input(source, layer, heads, scale)
    with Progress() as progress:
        result = simulate_input(data, M, chosen, variant, options, progress.say)
    if out is not None:
        single = result.output[0] if len(data.heads) == 1 else result.output
        write_atomically(out, lambda stream: np.savez(stream, output=single))
    summary = _summary(result)
    if as_json:
        print_json(summary)
    else:
        _print(summary, result)
    for line in _hints(result, synthetic_score):
        click.echo(f"twoheads: {line}", err=True)
    correct = result.ledger.calls == result.closed_form
    return 0 if correct and all(head.finite for head in result.heads) else 1


def _hints(result: Simulation, synthetic_score: float) -> list[str]:
    """What to try where the exponential of a score left float64's range, for the variants that it is the limit of."""
    if result.variant not in ("stable", "separate"):
        return []
    return [
        f"head {h}: a score of size {head.largest_score:.0f} is too far from the synthetic token's, "
        f"{synthetic_score:g}, for exp in float64: try --synthetic-score near the middle of the scores."
        for h, head in enumerate(result.heads)
        if not head.relative <= _ACCURATE and head.largest_score + abs(synthetic_score) > _EXP_RANGE
    ]


def _options(name: str, r: int | None, s: int | None, seed: int, synthetic_score: float) -> Options:
    windowed = name in ("window", "sink")
    if windowed and r is None:
        raise click.UsageError(f"the construction {name} needs --window R.")
    if name == "sink" and s is None:
        raise click.UsageError("the construction sink needs --sinks S.")
    if (r is not None and not windowed) or (s is not None and name != "sink"):
        raise click.UsageError(f"--window is for window and sink, --sinks for sink: the construction is {name}.")
    if not np.isfinite(synthetic_score):
        raise click.UsageError(f"--synthetic-score must be a finite number, not {synthetic_score}.")
    return Options(r=1 if r is None else r, s=s or 0, seed=seed, synthetic_score=synthetic_score)


def _input(source: str, layer: str | None, heads: int | None, scale: float | None) -> AttentionInput:
    if source == EMBEDDED:
        if heads is not None or scale is not None:
            raise click.UsageError("--heads and --scale are fixed for the packaged input: leave them out.")
        return embedded_input(layer or "layer0")
    return load(source, layer, heads, 1.0 if scale is None else scale)


def _summary(result: Simulation) -> dict[str, Any]:
    return {
        "N": result.N,
        "M": result.M,
        "heads": len(result.heads),
        "construction": result.construction.name,
        "variant": result.variant,
        "calls": result.ledger.calls,
        "rounds": result.ledger.rounds,
        "closed_form": result.closed_form,
        "bound": float(result.bound),
        "max_relative_error": result.max_relative_error,
        "max_absolute_error": result.max_absolute_error,
        "finite": all(head.finite for head in result.heads),
        "seconds": result.seconds,
        "per_head": [
            {
                "head": h,
                "finite": head.finite,
                "relative_error": head.relative,
                "absolute_error": head.absolute,
                "largest_score": head.largest_score,
            }
            for h, head in enumerate(result.heads)
        ],
    }


def _print(summary: dict[str, Any], result: Simulation) -> None:
    chosen = result.construction
    click.echo(f"{chosen.name} ({chosen.item}), {result.variant}: N = {result.N}, M = {result.M}")
    click.echo(f"heads               {summary['heads']}")
    click.echo(
        f"oracle calls        {summary['calls']} in {summary['rounds']} round(s); "
        f"closed form {summary['closed_form']}; paper's bound without its constant {summary['bound']:.6g}"
    )
    for h, head in enumerate(result.heads):
        if not head.finite:
            click.echo(f"head {h}: no finite answer (largest score {head.largest_score:.1f})")
    click.echo(f"max relative error  {summary['max_relative_error']:.3g} (by row, against direct attention)")
    click.echo(f"max absolute error  {summary['max_absolute_error']:.3g}")
    click.echo(f"seconds             {summary['seconds']:.3f}")
