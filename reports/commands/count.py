"""`twoheads count`: what every construction costs for given sizes, without running it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import click

from reports.output import print_json
from reports.tables import print_table
from twoheads import packings, theorem_3_4
from twoheads.catalogue import CONSTRUCTIONS, Construction, Options, construction
from twoheads.counts import HeadShape, counts
from twoheads.errors import InputError
from twoheads.lower_bounds import covering_bound
from twoheads.schedules import block_length

__all__ = ["command"]

_SIZE = click.IntRange(min=1)


@dataclass(frozen=True)
class _Sizes:
    """What is counted for, in the paper's symbols; d is the embedding dimension of the large transformer."""

    N: int
    M: int
    L: int
    H: int
    L_small: int
    H_small: int
    d: int
    packing: str
    options: Options

    @property
    def packed(self) -> bool:
        """Whether a call can hold more than one head's."""
        return self.L_small * self.H_small > 1


@click.command("count")
@click.option("--tokens", "N", type=_SIZE, required=True, help="N, the large transformer's input length.")
@click.option("--oracle-length", "M", type=int, required=True, help="M, the most tokens that the oracle reads.")
@click.option("--layers", "L", type=_SIZE, default=1, show_default=True, help="L, layers.")
@click.option("--heads", "H", type=_SIZE, default=1, show_default=True, help="H, heads of a layer.")
@click.option("--oracle-layers", "L_small", type=_SIZE, default=1, show_default=True, help="L', the oracle's layers.")
@click.option("--oracle-heads", "H_small", type=_SIZE, default=1, show_default=True, help="H', the oracle's heads.")
@click.option("--packing", default="residual", show_default=True, help=" | ".join(packings.PACKINGS))
@click.option("--dimension", "d", type=_SIZE, default=64, show_default=True, help="d, embedding dimension.")
@click.option("--window", "r", type=int, default=16, show_default=True, help="R, the window size.")
@click.option("--sinks", "s", type=int, default=4, show_default=True, help="S, the number of sinks.")
@click.option("--construction", "name", default=None, help="Only this one: " + " | ".join(CONSTRUCTIONS))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    N: int,
    M: int,
    L: int,
    H: int,
    L_small: int,
    H_small: int,
    packing: str,
    d: int,
    r: int,
    s: int,
    name: str | None,
    as_json: bool,
) -> int:
    """Print the calls of each construction, beside the paper's bound and a lower bound.

    The lower bound is for algorithms in which every allowed pair of a query and a key meets in a call. A
    construction that does not take the sizes is listed with the reason.
    """
    block_length(N, M)  # refuses an M that no construction takes
    packings.packing(packing).capacity(H_small, L_small)
    sizes = _Sizes(N, M, L, H, L_small, H_small, d, packing, Options(r=r, s=s))
    wanted = [construction(name)] if name else list(CONSTRUCTIONS.values())
    rows = [_row(chosen, variant, sizes) for chosen in wanted for variant in chosen.variants]
    if as_json:
        print_json(rows)
    else:
        _print(rows, sizes)
    return 0


def _row(chosen: Construction, variant: str, z: _Sizes) -> dict[str, Any]:
    """The cost of the whole transformer, or why the construction does not take the sizes."""
    row: dict[str, Any] = {"construction": chosen.name, "item": chosen.item, "variant": variant, "N": z.N, "M": z.M}
    width = max(z.d // z.H, 1)
    shape = (z.N, z.M, z.H, z.L, z.H_small, z.L_small, chosen.name)
    try:
        calls = theorem_3_4.calls(*shape, variant, z.packing, z.options)
        head = counts(chosen.name, variant, z.N, z.M, HeadShape(z.d, width, width), z.options)
    except InputError as error:
        return {**row, "calls": None, "refused": str(error)}
    bound = theorem_3_4.bound(*shape, z.options)
    constant, least = _constant(chosen, variant, z, bound), _lower_bound(chosen, z)
    return {
        **row,
        "calls": calls,
        "rounds": z.L * head.rounds,
        "bound": float(bound),
        "ratio": float(calls / bound),
        "constant": None if constant is None else float(constant),
        "lower_bound": least,
        "gap": None if least is None else calls / least,
        "head": head.as_dict(),
        "refused": None,
    }


def _constant(chosen: Construction, variant: str, z: _Sizes, bound: Fraction) -> Fraction | None:
    """c with calls <= c bound, where one is claimed: for M <= N and, if calls are packed, for a bound of at least L."""
    if z.M > z.N or (z.packed and bound < z.L):
        return None
    try:
        if not z.packed:
            return chosen.constant(variant, z.options)
        return theorem_3_4.constant(z.H_small, z.L_small, chosen.name, variant, z.packing, z.options)
    except InputError:
        return None


def _lower_bound(chosen: Construction, z: _Sizes) -> int | None:
    """The pair-covering bound; None for a construction that is allowed to skip pairs."""
    if chosen.approximate:
        return None
    return covering_bound(
        z.N,
        z.M,
        r=z.options.r if chosen.name in ("window", "sink") else None,
        s=z.options.s if chosen.name == "sink" else 0,
        causal=chosen.causal,
        heads=z.H * z.L,
        packed=z.H_small * z.L_small,
    )


def _print(rows: list[dict[str, Any]], z: _Sizes) -> None:
    print_table(
        f"N = {z.N}, M = {z.M}, L = {z.L}, H = {z.H}, L' = {z.L_small}, H' = {z.H_small}, "
        f"r = {z.options.r}, s = {z.options.s}: oracle calls",
        ["construction", "variant", "calls", "bound", "calls/bound", "c", "at least", "calls/at least", "rounds"],
        [
            [
                row["construction"],
                row["variant"],
                row["calls"],
                f"{row['bound']:.1f}",
                f"{row['ratio']:.2f}",
                _or_dash(row["constant"], "g"),
                _or_dash(row["lower_bound"], "d"),
                _or_dash(row["gap"], ".2f"),
                row["rounds"],
            ]
            for row in rows
            if row["refused"] is None
        ],
    )
    for row in rows:
        if row["refused"]:
            click.echo(f"{row['construction']} {row['variant']}: not counted, since {row['refused']}")


def _or_dash(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)
