"""JSON and files as every subcommand writes them: valid JSON, and never a half-written file."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import click

from twoheads.errors import InputError

__all__ = ["checked_folder", "checked_target", "finite_or_none", "print_json", "write_atomically"]


def print_json(document: Any) -> None:
    """Print the one JSON document of a `--json` run; numbers that JSON lacks (nan, infinity) become null."""
    click.echo(json.dumps(finite_or_none(document), indent=2, ensure_ascii=False, allow_nan=False))


def finite_or_none(value: Any) -> Any:
    """The same document with every float that is not finite replaced by None."""
    if isinstance(value, dict):
        return {key: finite_or_none(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [finite_or_none(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def checked_target(path: Path) -> Path:
    """The path itself, if a file can be written there.

    Raises:
        InputError: its folder does not exist or is not writable, or the path is a folder.
    """
    folder = path.parent
    if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise InputError(f"cannot write {path}: give a file name in an existing, writable folder.")
    return path


def checked_folder(folder: Path) -> Path:
    """The path itself, if it is a folder that takes files or can become one; nothing is made.

    Raises:
        InputError: it is not and cannot.
    """
    above = next((place for place in (folder, *folder.parents) if place.exists()), Path())
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        raise InputError(f"cannot write into {folder}: {above} is not a writable folder; name another one.")
    return folder


def write_atomically(path: Path, write: Callable[[IO[bytes]], Any]) -> None:
    """Let `write` fill a temporary file beside `path`, then put it in its place."""
    checked_target(path)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            write(stream)
        umask = os.umask(0)
        os.umask(umask)
        Path(name).chmod(0o666 & ~umask)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
