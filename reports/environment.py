"""What a result depends on beside the code: versions, platform, seeds, the commit."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

__all__ = ["environment"]

_LIBRARIES = (
    "numpy",
    "sympy",
    "z3-solver",
    "cvc5",
    "python-flint",
    "galois",
    "array-api-compat",
    "jinja2",
    "latex2mathml",
    "matplotlib",
)


def environment() -> dict[str, Any]:
    """Versions of the project and its libraries, the platform, and the commit if the code lies in a repository."""
    return {
        "twoheads": _version("twoheads"),
        "commit": _commit(Path(__file__).resolve().parent.parent),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processors": os.cpu_count(),
        "libraries": {name: _version(name) for name in _LIBRARIES},
    }


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _commit(root: Path) -> str | None:
    """The commit of the code's own repository, marked if files differ from it."""
    if not (root / ".git").exists():
        return None
    commit = _git(root, "rev-parse", "HEAD")
    if commit is None:
        return None
    return f"{commit} with changes" if _git(root, "status", "--porcelain", "--untracked-files=no") else commit


def _git(root: Path, *arguments: str) -> str | None:
    try:
        run = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True, timeout=20
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return run.stdout.strip()
