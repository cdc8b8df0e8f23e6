"""The audit's records as the page shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reports.auditing import asked, by_kernel
from reports.wording import anchor, counted, grouped, joined

__all__ = ["audit_view"]

Record = Mapping[str, Any]


def audit_view(records: Sequence[Record]) -> dict[str, Any]:
    """What the audit's template needs: items by section, each with its story, and a sentence that counts them."""
    found = {status: sum(row["printed"] == status for row in records) for status in ("holds", "refuted")}
    rest = len(records) - sum(found.values())
    return {
        "audit_counts": (
            f"Of {counted(len(records), 'item')}, {found['holds']} hold as printed, {found['refuted']} are refuted and "
            f"{rest} cannot be checked."
        ),
        "audit_sections": [
            (section, [_row(row) for row in rows]) for section, rows in grouped(records, lambda row: row["section"])
        ],
    }


def _row(row: Record) -> dict[str, Any]:
    told = [
        ("Cannot be checked", row["not_checkable"]),
        ("No entry yet", row["missing"]),
        ("Note", row["note"]),
        ("Repair", row["repair"]),
        ("Survives", row["survives"]),
        ("Rests on", row["rests_on"]),
        ("Failed", row["flaws"]),
    ]
    return {
        **row,
        "anchor": "item-" + anchor(row["id"]),
        "lines": [_line(reading) for reading in row["readings"]],
        "told": [(title, text if isinstance(text, str) else joined(text)) for title, text in told if text],
    }


def _line(reading: Record) -> str:
    if reading["holds"]:
        return f"Holds in {counted(reading['examined'], 'case')}: {reading['says']}"
    one, other = reading["floats"][0], reading["floats"][1]
    return f"Fails: {reading['says']}: {asked(reading)}; in floats {one} and {other}{by_kernel(reading)}."
