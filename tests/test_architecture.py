"""The rooms' rules, checked from the code's own imports.

    twoheads <- symbolic, numeric <- proofs <- reports

An arrow points from what is imported to what imports it; nothing points the other way.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
MAX_LINES = 400

MAY_IMPORT = {
    "twoheads": set(),
    "symbolic": {"twoheads"},
    "numeric": {"twoheads"},
    "proofs": {"twoheads", "symbolic", "numeric"},
    "reports": {"twoheads", "symbolic", "numeric", "proofs"},
}
CORE_LIBRARIES = {"numpy", "array_api_compat"}
ADAPTED_LIBRARIES = {"sympy", "z3", "flint", "galois"}


def modules(room: str) -> list[Path]:
    return sorted((ROOT / room).rglob("*.py"))


def imported_roots(source: str) -> Iterator[tuple[int, str]]:
    """(line, top-level package) of each import, at whatever depth; a relative one stays in its room."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name.partition(".")[0]) for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield node.lineno, module.partition(".")[0]
            case ast.Call(func=ast.Attribute(attr="import_module"), args=[ast.Constant(value=str(name)), *_]):
                yield node.lineno, name.partition(".")[0]
            case ast.Call(func=ast.Name(id="import_module" | "__import__"), args=[ast.Constant(value=str(name)), *_]):
                yield node.lineno, name.partition(".")[0]


def offences(path: str, source: str) -> list[str]:
    """What the module at `path` (from the root, with slashes) imports against the rules."""
    room = path.partition("/")[0]
    forbidden = MAY_IMPORT.keys() - MAY_IMPORT[room] - {room} | {"tests"}
    found = [f"{path}:{line} imports {root}" for line, root in imported_roots(source) if root in forbidden]
    if room == "twoheads":
        allowed = CORE_LIBRARIES | sys.stdlib_module_names | MAY_IMPORT.keys() | {"tests"}
        if path.startswith("twoheads/scalars/"):
            allowed |= ADAPTED_LIBRARIES
        found += [
            f"{path}:{line} imports the library {root}" for line, root in imported_roots(source) if root not in allowed
        ]
    return found


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_imports_point_one_way(room):
    paths = modules(room)
    assert paths, f"the room {room} has no modules"
    found = [
        offence
        for path in paths
        for offence in offences(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("twoheads/oracle.py", "import numeric", "twoheads/oracle.py:1 imports numeric"),
        (
            "twoheads/oracle.py",
            "def f():\n    from proofs.core import x",
            "twoheads/oracle.py:2 imports proofs",
        ),
        ("twoheads/oracle.py", "import sympy as sp", "twoheads/oracle.py:1 imports the library sympy"),
        ("twoheads/oracle.py", "import os, z3.z3util", "twoheads/oracle.py:1 imports the library z3"),
        ("twoheads/scalars/x.py", "import jax", "twoheads/scalars/x.py:1 imports the library jax"),
        ("symbolic/x.py", "from numeric import inputs", "symbolic/x.py:1 imports numeric"),
        ("numeric/x.py", "if True:\n    import symbolic.steps", "numeric/x.py:2 imports symbolic"),
        ("numeric/x.py", "importlib.import_module('reports.cli')", "numeric/x.py:1 imports reports"),
        ("proofs/coq/x.py", "import_module('reports')", "proofs/coq/x.py:1 imports reports"),
        ("reports/x.py", "import tests.conftest", "reports/x.py:1 imports tests"),
    ],
)
def test_an_import_against_the_rules_is_reported(path, source, expected):
    assert offences(path, source) == [expected]


@pytest.mark.parametrize(
    ("path", "source"),
    [
        (
            "twoheads/oracle.py",
            "import numpy as np\nfrom array_api_compat import device\nfrom . import attention",
        ),
        ("twoheads/scalars/z3_reals.py", "import z3\nfrom twoheads.errors import InputError"),
        ("proofs/x.py", "import numeric, symbolic, twoheads, cvc5"),
        ("reports/x.py", "from proofs import ledger\nimport reports.cli"),
    ],
)
def test_an_import_within_the_rules_is_not(path, source):
    assert offences(path, source) == []


def test_the_core_loads_no_adapter_it_does_not_need():
    names = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in modules("twoheads")
        if not any(root in ADAPTED_LIBRARIES for _, root in imported_roots(path.read_text(encoding="utf-8")))
    ]
    assert len(names) > 1
    script = (
        "import importlib, sys\n"
        f"for name in {names!r}: importlib.import_module(name.removesuffix('.__init__'))\n"
        f"print(*sorted({ADAPTED_LIBRARIES!r} & sys.modules.keys()))"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == []


@pytest.mark.parametrize("room", [*MAY_IMPORT, "tests"])
def test_modules_stay_readable_in_one_sitting(room):
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in modules(room)}
    assert {str(path.relative_to(ROOT)): n for path, n in lengths.items() if n >= MAX_LINES} == {}


def constraint_lines() -> list[str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_constraints_are_exact_versions_and_nothing_else():
    pattern = re.compile(r"[A-Za-z0-9._-]+==[0-9][0-9A-Za-z.]*")
    assert constraint_lines()
    assert [line for line in constraint_lines() if not pattern.fullmatch(line)] == []


def test_no_url_in_what_is_installed():
    for name in ("constraints.txt", "pyproject.toml"):
        assert "://" not in (ROOT / name).read_text(encoding="utf-8"), name


def test_constraints_pin_everything_that_is_installed():
    pinned = {canonicalize_name(line.partition("==")[0]) for line in constraint_lines()}
    assert requirements_closure() - pinned == set()


def requirements_closure() -> set[str]:
    """Names of all distributions that pyproject.toml asks for, directly or not, on this Python."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    waiting = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        requirement = Requirement(waiting.pop())
        key = (canonicalize_name(requirement.name), frozenset(requirement.extras))
        if key not in seen:
            seen.add(key)
            waiting += _needs(requirement)
    return {name for name, _ in seen}


def _needs(requirement: Requirement) -> list[str]:
    found = metadata.requires(requirement.name) or []
    return [text for text in found if _applies(Requirement(text), requirement.extras)]


def _applies(requirement: Requirement, extras: set[str]) -> bool:
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in {"", *extras})
