"""`twoheads explain`: the derivation of an item, step by step."""

from __future__ import annotations

import click

from reports.deriving import derivation
from reports.output import print_json
from symbolic.derivation import StepError

__all__ = ["command"]


@click.command("explain")
@click.argument("item", metavar="ITEM", nargs=-1, required=True)
@click.option("--latex", is_flag=True, help="Print it as the body of a LaTeX document.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(item: tuple[str, ...], latex: bool, as_json: bool) -> int:
    """Print the derivation of ITEM, step by step, each with its reason and how it was checked.

    The steps are checked whenever they are printed; exits 1 if one does not follow. ITEM is the paper's name, in
    any spelling: Lemma 3.1, "lemma 3.1", lemma_3_1.
    """
    try:
        found = derivation(" ".join(item))
    except StepError as error:
        click.echo(f"twoheads: {error}", err=True)
        return 1
    if as_json:
        print_json(found.as_dict())
    else:
        click.echo(found.latex if latex else found.text, nl=False)
    return 0
