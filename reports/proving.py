"""Asking `proofs` for a run: where answers are kept, who is asked, and how far it has come."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from proofs.answers import Answers
from proofs.cache import Cache
from proofs.registry import select
from proofs.runner import Run, verify
from proofs.solvers import ENGINES
from reports.progress import Progress

__all__ = ["ANSWERS", "SOLVERS", "TEXTS", "prove"]

ANSWERS = Path("build/answers")
"""Where answers are kept between runs, from the folder in which the command is called."""

TEXTS = Path("build/smt2")
"""Where `twoheads verify` writes what it asked."""

SOLVERS = tuple(ENGINES)


def prove(
    items: Sequence[str],
    progress: Progress,
    texts: Path | None,
    solvers: Sequence[str] = SOLVERS,
    jobs: int | None = None,
    fresh: bool = False,
) -> Run:
    """Check the items, or all of them if none is named, with what they depend on.

    Args:
        items: as the paper names them, ids of obligations, or module names.
        progress: told how many questions are answered.
        texts: a folder for the SMT-LIB texts.
        solvers: names of `SOLVERS`.
        jobs: worker processes; the number of processors if not given.
        fresh: ask everything again, whatever was answered before.

    Raises:
        InputError: an item is unknown.
        SolverError: a solver cannot read a text.
        CacheError: a kept answer is damaged.
    """
    subjects = select(items)
    answers = Answers(solvers, cache=Cache(ANSWERS), fresh=fresh, jobs=jobs or os.cpu_count() or 1)
    progress.say("asking the solvers")
    return verify(subjects, answers, texts, progress.of)
