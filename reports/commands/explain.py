"""`twoheads explain`: the derivation of an item, step by step."""

from __future__ import annotations

from typing import Any

import click

from reports.deriving import derivation
from reports.output import print_json

__all__ = ["command"]


@click.command("explain")
@click.argument("item", metavar="ITEM", nargs=-1, required=True)
@click.option("--latex", is_flag=True, help="Print the formulas as LaTeX.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(item: tuple[str, ...], latex: bool, as_json: bool) -> int:
    """Print the derivation of ITEM, step by step, each with its reason.

    ITEM is the paper's name, in any spelling: Lemma 3.1, "lemma 3.1", lemma_3_1.
    """
    found = derivation(" ".join(item))
    if as_json:
        print_json(found)
    else:
        _print(found, "latex" if latex else "text")
    return 0


def _print(found: dict[str, Any], form: str) -> None:
    click.echo(f"{found['item']}: {found['title']}")
    for number, step in enumerate(found["steps"], start=1):
        click.echo()
        click.echo(f"{number}. {step['reason']}")
        for line in step[form].splitlines():
            click.echo(f"   {line}")
