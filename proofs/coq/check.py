"""Build the Coq proofs, have the kernel and its checker go over them, and say what every theorem rests on.

Usage: python proofs/coq/check.py [--json PATH] [--build DIR] [--recheck-library]

Plain Python, standard library only, so that it runs before anything is installed. Sources are copied into the
build folder and nothing is written beside them. Every `Theorem` of the sources is reported; those in results.toml
must be there. Exit codes: 0 all checked, 1 something failed, 3 Coq is not installed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).resolve().parent
BUILD = SOURCES.parents[1] / "build" / "coq"
LIBRARY = "TwoHeads"
TOOLS = ("coqc", "coqdep", "coq_makefile", "coqchk", "make")

ALLOWED = {
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
}
"""The axioms of the standard library's real numbers and analysis; no other may be used."""

FORBIDDEN = re.compile(
    r"\b(Admitted|admit|give_up|Axioms?|Parameters?|Conjectures?|bypass_check|Unset\s+Guard\s+Checking)\b"
)

RESULTS = SOURCES / "results.toml"
"""The theorems that must be there, by the paper's item."""

_DECLARATION = re.compile(r"^[ \t]*Theorem\s+(\w+)", re.MULTILINE)
_MARK = "@@@"

Declared = tuple[str, str, int]
"""A theorem's name, file and line."""


@dataclass(frozen=True)
class Theorem:
    """One checked theorem, as reported."""

    name: str
    file: str
    line: int
    statement: str
    assumptions: list[str]


class CheckError(Exception):
    """What went wrong, in one sentence and the tool's own words."""


def main() -> int:
    """Run the check and report; returns the exit code."""
    parser = argparse.ArgumentParser(description="Have Coq check the proofs.")
    parser.add_argument("--json", type=Path, metavar="PATH", help="where to write the result")
    parser.add_argument("--build", type=Path, default=BUILD, metavar="DIR", help="build folder (default: build/coq)")
    parser.add_argument(
        "--recheck-library", action="store_true", help="let coqchk go over the standard library's proofs as well"
    )
    options = parser.parse_args()
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        print(f"Coq is not installed ({', '.join(missing)} not found): install Debian's package coq.", file=sys.stderr)
        return 3
    start = time.monotonic()
    record: dict[str, Any] = {"coq": _run(["coqc", "--print-version"]).split()[0], "passed": False, "theorems": []}
    try:
        record |= check(options.build.resolve(), options.recheck_library)
        record["passed"] = True
    except CheckError as failure:
        record["failure"] = str(failure)
    record["seconds"] = round(time.monotonic() - start, 1)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(record, indent=1) + "\n")
    if not record["passed"]:
        print(record["failure"], file=sys.stderr)
        return 1
    print(f"Coq {record['coq']}: {len(record['theorems'])} theorems checked in {record['seconds']} s.")
    return 0


def check(build: Path, recheck_library: bool) -> dict[str, object]:
    """Build, list, inspect and re-check everything.

    Raises:
        CheckError: a source holds a forbidden command, a proof fails, a theorem is missing or uses another axiom.
    """
    sources = sorted(SOURCES.glob("*.v"))
    for source in sources:
        found = FORBIDDEN.search(_without_comments(source.read_text()))
        if found:
            raise CheckError(f"{source.name} holds {found.group(0)}: finish the proof or state it as a hypothesis.")
    declared = [place for source in sources for place in _declared(source)]
    names = {(file.removesuffix(".v"), name) for name, file, _ in declared}
    results = tomllib.loads(RESULTS.read_text())
    for item, wanted in results.items():
        for name in wanted["theorems"]:
            if (wanted["module"], name) not in names:
                raise CheckError(f"{item}: the theorem {name} is not in {wanted['module']}.v.")
    _compile(build, sources)
    theorems = _inspect(build, declared)
    for theorem in theorems:
        other = sorted(set(theorem.assumptions) - ALLOWED)
        if other:
            raise CheckError(f"{theorem.name} in {theorem.file} rests on {', '.join(other)}.")
    _recheck(build, sources, recheck_library)
    return {
        "theorems": [asdict(theorem) for theorem in theorems],
        "results": {item: [f"{one['module']}.{name}" for name in one["theorems"]] for item, one in results.items()},
        "allowed_axioms": sorted(ALLOWED),
        "sources": sources_digest(),
        "coqchk": "standard library re-checked" if recheck_library else "standard library trusted",
    }


def sources_digest() -> str:
    """One address for all the sources, so that a result can be told from another version's."""
    parts = [(source.name, source.read_text()) for source in sorted(SOURCES.glob("*.v"))]
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _declared(source: Path) -> list[Declared]:
    """Name, file and line of every theorem of a source."""
    text = _without_comments(source.read_text())
    return [(m.group(1), source.name, text.count("\n", 0, m.start(1)) + 1) for m in _DECLARATION.finditer(text)]


def _without_comments(text: str) -> str:
    """The text with its comments blanked, line numbers kept. Comments nest; the sources hold no string literals."""
    out, depth = [], 0
    for piece in re.split(r"(\(\*|\*\))", text):
        if piece == "(*":
            depth += 1
        elif piece == "*)" and depth:
            depth -= 1
        elif depth:
            out.append("\n" * piece.count("\n"))
        else:
            out.append(piece)
    return "".join(out)


def _compile(build: Path, sources: list[Path]) -> None:
    """Copy the sources that changed, drop what has none, and compile."""
    build.mkdir(parents=True, exist_ok=True)
    stems = {source.stem for source in sources}
    for old in build.glob("*.v*"):
        if old.stem not in stems:
            old.unlink()
    for source in sources:
        copy = build / source.name
        if not copy.exists() or copy.read_bytes() != source.read_bytes():
            copy.write_bytes(source.read_bytes())
    files = [source.name for source in sources]
    (build / "_CoqProject").write_text("\n".join([f"-Q . {LIBRARY}", *files]) + "\n")
    _run(["coq_makefile", "-f", "_CoqProject", "-o", "Makefile"], build)
    _run(["make", "-j2", "-s"], build)


def _inspect(build: Path, declared: list[Declared]) -> list[Theorem]:
    """Every theorem's statement and assumptions, as Coq prints them; two processes share the work."""
    halves = [declared[: len(declared) // 2], declared[len(declared) // 2 :]]
    with ThreadPoolExecutor() as pool:
        return [theorem for half in pool.map(_ask, [build] * 2, range(2), halves) for theorem in half]


def _ask(build: Path, number: int, declared: list[Declared]) -> list[Theorem]:
    modules = sorted({file.removesuffix(".v") for _, file, _ in declared})
    lines = ["From Coq Require Import Reals Arith List.", *(f"From {LIBRARY} Require Import {m}." for m in modules)]
    lines += ["Open Scope R_scope.", "Set Printing Width 110."]
    for name, file, _ in declared:
        full = f"{LIBRARY}.{file.removesuffix('.v')}.{name}"
        mark = f'Goal True. idtac "{_MARK}". Abort.'
        lines += [mark, f"Check @{full}.", mark, f"Print Assumptions {full}."]
    folder = build / "questions"
    folder.mkdir(exist_ok=True)
    (folder / f"ask_{number}.v").write_text("\n".join(lines) + "\n")
    answer = _run(["coqc", "-Q", ".", LIBRARY, f"questions/ask_{number}.v"], build)
    pieces = [piece.strip("\n") for piece in answer.split(f"{_MARK}\n")[1:]]
    if len(pieces) != 2 * len(declared):
        raise CheckError("Coq's answers do not match the theorems asked about.")
    return [
        Theorem(name, file, line, _statement(statement), _axioms(assumptions))
        for (name, file, line), statement, assumptions in zip(declared, pieces[::2], pieces[1::2], strict=True)
    ]


def _statement(printed: str) -> str:
    """What `Check` prints after the name and the colon, without its common indentation."""
    _, _, body = printed.partition(":")
    lines = body.strip().splitlines()
    return "\n".join(line.removeprefix("       ") for line in lines)


def _axioms(printed: str) -> list[str]:
    """The names that `Print Assumptions` lists."""
    if printed.strip() == "Closed under the global context":
        return []
    if not printed.startswith("Axioms:"):
        raise CheckError(f"Print Assumptions answered something unknown: {printed[:200]}")
    return re.findall(r"^([\w.']+)(?= ?:|$)", printed.removeprefix("Axioms:"), re.MULTILINE)


def _recheck(build: Path, sources: list[Path], recheck_library: bool) -> None:
    """Let the separate checker read every compiled file."""
    modules = [f"{LIBRARY}.{source.stem}" for source in sources]
    chosen = modules if recheck_library else [word for module in modules for word in ("-norec", module)]
    _run(["coqchk", "-silent", "-Q", ".", LIBRARY, *chosen], build)


def _run(command: list[str], folder: Path | None = None) -> str:
    """The command's standard output.

    Raises:
        CheckError: it failed.
    """
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CheckError(f"{command[0]} failed:\n{(done.stderr + done.stdout).strip()[-4000:]}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
