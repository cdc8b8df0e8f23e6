"""`twoheads count`: what every construction costs for given sizes, without running it."""

from __future__ import annotations

from typing import Any

import click

from reports.output import print_json
from reports.real_attention import constant_of
from reports.tables import print_table
from twoheads.catalogue import CONSTRUCTIONS, Construction, Options, construction
from twoheads.counts import HeadShape, counts
from twoheads.errors import InputError
from twoheads.schedules import block_length

__all__ = ["command"]

_AT_LEAST_ONE = click.IntRange(min=1)


@click.command("count")
@click.option("--tokens", "N", type=_AT_LEAST_ONE, required=True, help="N, the large transformer's input length.")
@click.option("--oracle-length", "M", type=int, required=True, help="M, the most tokens that the oracle reads.")
@click.option("--layers", "L", type=_AT_LEAST_ONE, default=1, show_default=True, help="L, layers.")
@click.option("--heads", "H", type=_AT_LEAST_ONE, default=1, show_default=True, help="H, heads of a layer.")
@click.option("--dimension", "d", type=_AT_LEAST_ONE, default=64, show_default=True, help="d, embedding dimension.")
@click.option("--window", "r", type=int, default=16, show_default=True, help="R, the window size.")
@click.option("--sinks", "s", type=int, default=4, show_default=True, help="S, the number of sinks.")
@click.option("--construction", "name", default=None, help="Only this one: " + " | ".join(CONSTRUCTIONS))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(N: int, M: int, L: int, H: int, d: int, r: int, s: int, name: str | None, as_json: bool) -> int:
    """Print calls, rounds, tokens and parameters of each construction, beside the paper's bound.

    A construction that does not take the sizes is listed with the reason.
    """
    block_length(N, M)  # refuses an M that no construction takes
    wanted = [construction(name)] if name else list(CONSTRUCTIONS.values())
    shape = HeadShape(d, max(d // H, 1), max(d // H, 1))
    rows = [
        _row(chosen, variant, N, M, L * H, L, shape, Options(r=r, s=s))
        for chosen in wanted
        for variant in chosen.variants
    ]
    if as_json:
        print_json(rows)
    else:
        _print(rows, f"N = {N}, M = {M}, L = {L}, H = {H}, d = {d}, r = {r}, s = {s}")
    return 0


def _row(
    chosen: Construction, variant: str, N: int, M: int, heads: int, L: int, shape: HeadShape, options: Options
) -> dict[str, Any]:
    """The cost of all heads, layer after layer, or why the construction does not take the sizes."""
    row: dict[str, Any] = {"construction": chosen.name, "item": chosen.item, "variant": variant, "N": N, "M": M}
    try:
        one = counts(chosen.name, variant, N, M, shape, options)
    except InputError as error:
        return {**row, "calls": None, "refused": str(error)}
    bound = heads * chosen.bound(N, M, options)
    return {
        **row,
        "calls": heads * one.calls,
        "rounds": L * one.rounds,
        "tokens": heads * one.tokens,
        "width": one.width,
        "parameters": one.parameters,
        "bound": float(bound),
        "ratio": float(heads * one.calls / bound),
        "constant": constant_of(chosen, variant, options),
        "refused": None,
    }


def _print(rows: list[dict[str, Any]], title: str) -> None:
    taken = [row for row in rows if row["refused"] is None]
    print_table(
        f"{title}: oracle calls, one-layer one-head oracle",
        ["construction", "variant", "calls", "bound", "calls/bound", "c", "rounds", "tokens", "dimension"],
        [
            [
                row["construction"],
                row["variant"],
                row["calls"],
                f"{row['bound']:.1f}",
                f"{row['ratio']:.2f}",
                "–" if row["constant"] is None else f"{row['constant']:g}",
                row["rounds"],
                row["tokens"],
                row["width"],
            ]
            for row in taken
        ],
    )
    for row in rows:
        if row["refused"]:
            click.echo(f"{row['construction']} {row['variant']}: not counted, since {row['refused']}")
