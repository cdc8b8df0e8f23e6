"""Small pieces of text: numbers, lists and identifiers; and rows put into groups."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["anchor", "counted", "grouped", "joined", "paper_order", "short"]


def short(value: float | None) -> str:
    """A number in two significant digits, as `1.6e-15`, `9.0e-16` or `0.24`; `not finite` for nan and infinity."""
    if value is None or not math.isfinite(value):
        return "not finite"
    return f"{value:#.2g}".rstrip(".")


def counted(n: int, noun: str) -> str:
    """`1 call`, `2 calls`."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def joined(words: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *head, last = list(words) or ["none"]
    return f"{', '.join(head)} and {last}" if head else last


def anchor(text: str) -> str:
    """An id for a place in a page: letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def paper_order(item: str) -> tuple[Any, ...]:
    """A key that sorts the paper's items: sections 1 to 5, then the appendices, numbers by value."""
    number = item.rsplit(maxsplit=1)[-1]
    parts = number.removeprefix("§").split(".")
    return (
        number[:1].isalpha(),
        [(not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts],
        item,
    )


def grouped(rows: Iterable[Any], key: Callable[[Any], Any]) -> list[tuple[Any, list[Any]]]:
    """Rows by key, in the order in which the keys first appear."""
    groups: dict[Any, list[Any]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return list(groups.items())
