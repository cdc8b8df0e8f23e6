"""The report's folder: our own files put in place one by one, each whole; foreign files are left alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from reports.output import checked_folder, finite_or_none, write_atomically
from twoheads.errors import InputError

__all__ = ["FORMULAS", "checked_report", "write_report"]

PAGE, DATA, FORMULAS = "index.html", "report.json", "smt2"


def checked_report(folder: Path) -> Path:
    """The path itself, if a report can be written there; nothing is made.

    Raises:
        InputError: it cannot.
    """
    for place in (folder, folder / FORMULAS):
        if place.exists() and not place.is_dir():
            raise InputError(f"cannot write the report into {folder}: {place} is not a folder; name another one.")
    for place in (folder / PAGE, folder / DATA):
        if place.is_dir():
            raise InputError(f"cannot write the report into {folder}: {place} is a folder; name another one.")
    return checked_folder(folder)


def write_report(folder: Path, page: str, data: Mapping[str, Any], formulas: Mapping[str, str]) -> None:
    """Write the formulas, the data and, last, the page; remove the formulas that only the former report had.

    Raises:
        InputError: a file cannot be written.
    """
    text = json.dumps(finite_or_none(data), indent=1, ensure_ascii=False, allow_nan=False)
    former = _formulas_of(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, formula in formulas.items():
            _put(folder / FORMULAS / name, formula)
        _put(folder / DATA, text + "\n")
        _put(folder / PAGE, page)
        for name in former - formulas.keys():
            (folder / FORMULAS / name).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"cannot write the report into {folder}: {error.strerror or error}.") from None


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, lambda stream: stream.write(text.encode()))


def _formulas_of(folder: Path) -> set[str]:
    """Names of the formulas that an earlier report of ours lists; nothing else in the folder is ours."""
    try:
        listed = json.loads((folder / DATA).read_text(encoding="utf-8"))["formulas"]
        paths = [PurePosixPath(entry).relative_to(FORMULAS) for entry in listed]
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    return {str(path) for path in paths if ".." not in path.parts and path.suffix == ".smt2"}
