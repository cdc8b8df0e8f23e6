"""The Coq model of `proofs/coq`, computed on rationals, for tests that hold it against the running code."""

from __future__ import annotations

import re
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1] / "proofs" / "coq"
COMPUTED = (
    "Sums",
    "Scalar",
    "Model",
    "Schedules",
    "Sampling",
    "Transformer",
    "Packing",
    "Subsets",
    "Codes",
    "Compute",
)
"""The modules that compute, each after those that it uses."""

Change = tuple[str, str, str]
"""A module, a text that stands in it once, and what is put in its place."""


def compiled(folder: Path, changed: Change | None = None, unchanged: Path | None = None) -> Path:
    """The computing modules compiled in a folder, one of them changed; what does not depend on it is `unchanged`'s."""
    if unchanged is not None:
        shutil.copytree(unchanged, folder, dirs_exist_ok=True)
    new = {changed[0]} if changed and unchanged else set(COMPUTED)
    for name in COMPUTED:
        text = (SOURCES / f"{name}.v").read_text()
        if changed and name == changed[0]:
            assert text.count(changed[1]) == 1
            text = text.replace(*changed[1:])
        uses = re.findall(r"\w+", " ".join(re.findall(r"From TwoHeads Require Import ([^.]*)\.", text)))
        if name in new or new & set(uses):
            new.add(name)
            (folder / f"{name}.v").write_text(text)
            subprocess.run(["coqc", "-Q", ".", "TwoHeads", f"{name}.v"], cwd=folder, check=True, capture_output=True)
    return folder


def evaluated(folder: Path, questions: list[str]) -> list[list[list[Fraction]]]:
    """What Coq computes for each question, as rows of Fractions."""
    lines = ["From Coq Require Import QArith List.", *(f"From TwoHeads Require Import {m}." for m in COMPUTED)]
    lines += ["Import ListNotations.", "Open Scope Q_scope.", "Set Printing Width 10000.", "Set Printing Depth 10000."]
    # Coq writes some rationals with a point, in tens or in sixteenths; numerators and denominators it writes plainly
    plain = "map (fun row => flat_map (fun x => [Qnum x; Zpos (Qden x)]) row)"
    lines += [f"Eval vm_compute in {plain} ({question})." for question in questions]
    (folder / "Ask.v").write_text("\n".join(lines) + "\n")
    printed = subprocess.run(
        ["coqc", "-Q", ".", "TwoHeads", "Ask.v"], cwd=folder, capture_output=True, text=True, check=True
    ).stdout
    answers = re.findall(r"= (\[.*?\])\s*: list \(list Z\)", printed, re.DOTALL)
    assert len(answers) == len(questions)
    return [[_numbers(row) for row in re.findall(r"\[([^\[\]]+)\]", answer)] for answer in answers]


def _numbers(row: str) -> list[Fraction]:
    """Fractions from numerators and denominators in turn."""
    parts = [int(x) for x in re.findall(r"-?\d+", row)]
    return [Fraction(*pair) for pair in zip(parts[::2], parts[1::2], strict=True)]


def in_coq(table) -> str:
    """A table of whole numbers or Fractions as Coq's list (list Q)."""
    return listed(listed(f"({x.numerator} # {x.denominator})" for x in row) for row in table)


def listed(parts) -> str:
    """A Coq list of terms."""
    return "[" + "; ".join(parts) + "]"


def naturals(numbers) -> str:
    """A Coq list of nat."""
    return listed(f"{int(x)}%nat" for x in numbers)
