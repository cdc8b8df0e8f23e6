"""The ledger: all entries in the paper's order, run together, as records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

from proofs.answers import Answers, Progress
from proofs.audit.entry import Entry
from proofs.audit.judging import Audited, judge
from proofs.audit.paper_ids import PAPER_IDS, SECTIONS
from proofs.audit.reading import AuditError
from proofs.core import Result
from proofs.obligation import Subject
from proofs.registry import all_subjects, with_dependencies
from twoheads.errors import InputError

__all__ = ["BEYOND", "MODULES", "audit", "entries", "section_of", "select"]

MODULES = (
    "section_1_1",
    "section_1_2",
    "section_2",
    "appendix_a",
    "lemma_3_1",
    "lemma_3_1_calls",
    "lemma_3_3",
    "theorem_3_4",
    "claim_b_6",
    "theorem_3_5",
    "theorem_3_5_calls",
    "theorem_4_1",
    "theorem_4_1_layers",
    "theorem_4_1_calls",
    "theorem_4_1_tails",
    "theorem_4_2",
    "theorem_4_2_error",
    "theorem_5_1",
    "theorem_5_1_calls",
    "beyond",
)
"""Modules of this folder with a list ENTRIES."""

BEYOND = "Beyond the paper"
"""The section of our own claims."""


@lru_cache(maxsize=1)
def entries() -> dict[str, Entry]:
    """Every entry by id: the paper's items in the paper's order, then our own.

    Raises:
        AuditError: an id occurs twice.
    """
    found: dict[str, Entry] = {}
    for name in MODULES:
        for entry in import_module(f"proofs.audit.{name}").ENTRIES:
            if entry.id in found:
                raise AuditError(f"there are two entries of {entry.id}.")
            found[entry.id] = entry
    place = {name: number for number, name in enumerate(PAPER_IDS)}
    return dict(sorted(found.items(), key=lambda item: place.get(item[0], len(place))))


def section_of(name: str) -> str:
    """The heading under which an id stands."""
    return next((section for section, ids in SECTIONS.items() if name in ids), BEYOND)


def select(names: Sequence[str]) -> list[Entry]:
    """The entries that are named, in any spelling and by either half of a double name; all if none is.

    Raises:
        InputError: a name is no item of the ledger.
    """
    known = entries()
    if not names:
        return list(known.values())
    chosen: set[str] = set()
    for name in names:
        fitting = [one for one in known if _plain(name) in _spellings(one)]
        if not fitting:
            raise InputError(f"the audit has no item {name!r}: `twoheads audit` lists them all.")
        chosen |= set(fitting)
    return [entry for name, entry in known.items() if name in chosen]


def audit(chosen: Sequence[Entry], answers: Answers | None = None, progress: Progress | None = None) -> list[Audited]:
    """Run the entries, with the parts of which they consist.

    Args:
        chosen: entries, as `select` gives them.
        answers: how obligations are asked and checks run; by default in this process, without a cache.
        progress: called with the number of questions done and of all.

    Raises:
        AuditError: an entry is not well formed, or names evidence that is not there.
        SolverError: a solver cannot read a text.
    """
    pool = {**entries(), **{entry.id: entry for entry in chosen}}
    whole = _with_parts(chosen, pool)
    subjects = with_dependencies([subject for entry in whole.values() for subject in _evidence(entry)])
    answers = answers or Answers()
    answers.gather(subjects, progress)
    results = {subject.id: Result(subject, answers) for subject in subjects}
    judged: dict[str, Audited] = {}

    def judged_one(name: str) -> Audited:
        if name not in judged:
            entry = whole[name]
            parts = {part: judged_one(part) for part in entry.parts if part in whole}
            below = [results[s.id] for s in with_dependencies(_evidence(entry))]
            judged[name] = judge(entry, results, below, parts)
        return judged[name]

    return [judged_one(entry.id) for entry in chosen]


def _with_parts(chosen: Iterable[Entry], pool: Mapping[str, Entry]) -> dict[str, Entry]:
    """The entries and their parts, and theirs; a part that is not in the pool is left out."""
    found: dict[str, Entry] = {}
    waiting = list(chosen)
    while waiting:
        entry = waiting.pop()
        if entry.id not in found:
            found[entry.id] = entry
            waiting += [pool[part] for part in entry.parts if part in pool]
    return found


def _evidence(entry: Entry) -> list[Subject]:
    known: dict[str, Any] = all_subjects()
    missing = [one for one in entry.evidence if isinstance(one, str) and one not in known]
    if missing:
        raise AuditError(f"{entry.id} names evidence that is not there: {', '.join(missing)}.")
    return [known[one] if isinstance(one, str) else one for one in entry.evidence]


def _spellings(name: str) -> set[str]:
    """`Lemma 3.1 / B.1` is also Lemma 3.1, B.1, lemma_3_1 and so on."""
    halves = [part.strip() for part in name.split(" / ")]
    return {_plain(part) for part in (name, *halves)}


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
