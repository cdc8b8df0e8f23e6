"""Tables for people, on standard output."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

__all__ = ["print_table"]

_PIPED_WIDTH = 160  # where standard output is not a terminal


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table; numbers are aligned to the right, cells are shown as they are, never as markup."""
    rows = [list(row) for row in rows]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for k, name in enumerate(columns):
        numeric = bool(rows) and all(_is_number(row[k]) for row in rows)
        table.add_column(name, justify="right" if numeric else "left", no_wrap=numeric)
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=_PIPED_WIDTH)
    console.print(Text(title), table)


def _is_number(cell: Any) -> bool:
    if isinstance(cell, int | float):
        return True
    return isinstance(cell, str) and (cell in ("", "–") or cell.replace(".", "").replace("e-", "").isdigit())
