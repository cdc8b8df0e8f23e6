"""A run: obligations asked, judged, written down."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proofs.answers import Answers, Progress
from proofs.claims import ClaimStatus, claims
from proofs.core import Result
from proofs.obligation import Obligation, Subject
from proofs.questions import questions_of
from proofs.records import claim_record, record

__all__ = ["Run", "verify", "write_texts"]


@dataclass(frozen=True, eq=False)
class Run:
    """What came out, in the order of the subjects."""

    results: Sequence[Any]
    claims: Mapping[str, ClaimStatus]
    texts: Mapping[str, str]
    """Where the text of an obligation was written, by id."""

    @property
    def passed(self) -> bool:
        """Whether everything is as it should be; a run of nothing shows nothing."""
        return bool(self.results) and all(result.passed for result in self.results)

    @property
    def failures(self) -> list[Any]:
        """The results that did not pass."""
        return [result for result in self.results if not result.passed]

    @property
    def decided_by_one(self) -> list[str]:
        """The ids of obligations that only one of the solvers decides."""
        return [
            result.subject.id
            for result in self.results
            if result.answers is not None and sum(a.says != "unknown" for a in result.answers.values()) == 1
        ]

    def records(self) -> list[dict[str, Any]]:
        """The results as JSON values."""
        return [record(r, self.claims.get(r.subject.item), self.texts.get(r.subject.id)) for r in self.results]

    def claim_records(self) -> list[dict[str, Any]]:
        """The claims as JSON values."""
        return [claim_record(status) for status in self.claims.values()]


def verify(
    subjects: Iterable[Subject],
    answers: Answers | None = None,
    texts: Path | None = None,
    progress: Progress | None = None,
) -> Run:
    """Ask, judge and write down.

    Args:
        subjects: with all that they depend on, see `proofs.registry`.
        answers: how they are asked; by default in this process, without a cache.
        texts: a folder for the SMT-LIB texts; nothing is written without it.
        progress: called with the number of tasks done and of all tasks.

    Raises:
        SolverError: a solver cannot read a text.
        CacheError: a cached entry is damaged.
        DependencyError: something depends on what is not among the subjects.
    """
    subjects, answers = list(subjects), answers or Answers()
    answers.gather(subjects, progress)
    results = [Result(subject, answers) for subject in subjects]
    written = write_texts(subjects, texts) if texts else {}
    return Run(results, claims(results), written)


def write_texts(subjects: Iterable[Subject], folder: Path) -> dict[str, str]:
    """Write every question of every obligation as NAME.ROLE.smt2 in its item's folder; the proof's path by id.

    Files of earlier runs are removed, so that the folder holds what was asked and nothing else.
    """
    written: dict[str, str] = {}
    kept: set[Path] = set()
    for obligation in (s for s in subjects if isinstance(s, Obligation)):
        place = folder / re.sub(r"[^a-z0-9]+", "_", obligation.item.lower())
        place.mkdir(parents=True, exist_ok=True)
        for question in questions_of(obligation).values():
            path = place / f"{obligation.name}.{question.role}.smt2"
            path.write_text(question.text, encoding="utf-8")
            kept.add(path)
        written[obligation.id] = str(place / f"{obligation.name}.proof.smt2")
    for old in folder.glob("*/*.smt2"):
        if old not in kept:
            old.unlink()
    return written
