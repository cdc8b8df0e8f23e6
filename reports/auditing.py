"""The audit as plain records, for the command line and the report, and the errata list that follows from it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from proofs.answers import Answers
from proofs.audit.ledger import BEYOND, audit, select
from proofs.audit.reading import Affects
from proofs.audit.records import record
from proofs.cache import Cache
from reports.progress import Progress
from reports.proving import ANSWERS

__all__ = ["asked", "audited", "by_kernel", "consistent", "errata"]

Record = Mapping[str, Any]

_HEADINGS = {
    Affects.STATEMENT: "Statements that need another range, constant or assumption",
    Affects.PROOF: "Arguments that do not go through as printed",
    Affects.NOTHING: "Slips of the print",
}
_PREFACE = """# Errata, suggested to the authors

Every paragraph was computed: what is printed was run literally, in exact arithmetic, up to the smallest case of a
finite list at which it fails, and that case was run again in floats. Exact values have 2 as the weight of score 1, in
place of e. The text was read from extractions of the published PDF; what may come from the extraction is marked. Each
paragraph ends with the command that reproduces it. Where we have misread the text we ask for correction.
"""
_ASKED = {
    "=": "where {} is due",
    "!=": "which has to differ from {}",
    "<=": "which has to be at most {}",
    "<": "which has to be less than {}",
    ">=": "which has to be at least {}",
    ">": "which has to be more than {}",
}


def audited(
    items: Sequence[str] = (), progress: Progress | None = None, jobs: int | None = None, fresh: bool = False
) -> list[dict[str, Any]]:
    """The audit's records, in the paper's order; see `proofs.audit.records`.

    Args:
        items: as the paper names them ("Lemma 3.1", B.5.split), in any spelling; all if none is named.
        progress: told how many questions are answered.
        jobs: worker processes; the number of processors if not given.
        fresh: ask the solvers again, whatever was answered before.

    Raises:
        InputError: an item is unknown.
        AuditError: an entry is not well formed.
        SolverError: a solver cannot read a text.
        CacheError: a kept answer is damaged.
    """
    chosen = select(items)
    answers = Answers(cache=Cache(ANSWERS), fresh=fresh, jobs=jobs or os.cpu_count() or 1)
    if progress:
        progress.say("running the printed text")
    return [record(one) for one in audit(chosen, answers, progress.of if progress else None)]


def consistent(records: Sequence[Record]) -> bool:
    """Whether every entry says what ran says; a run of nothing shows nothing."""
    return bool(records) and not any(row["flaws"] for row in records)


def errata(records: Sequence[Record]) -> str:
    """The refuted items of the paper as Markdown, by how much they matter, one paragraph each.

    An item of which only parts fail is left to the parts' paragraphs.
    """
    rows = [row for row in records if row["section"] != BEYOND and _slips(row)]
    parts = [_PREFACE]
    for affects, heading in sorted(_HEADINGS.items(), key=lambda pair: -pair[0].rank):
        own = [row for row in rows if _worst(row) is affects]
        if own:
            parts.append(f"## {heading}\n")
            parts += [_paragraph(row) + "\n" for row in own]
    if not rows:
        parts.append("None of the items that were run fails as printed.\n")
    return "\n".join(parts)


def asked(reading: Record) -> str:
    """What a reading gives at its counterexample and what it has to give, as the end of a sentence."""
    at = f"at {reading['at']} " if reading["at"] else ""
    if (reading["printed"], reading["due"]) == ("no", "yes"):
        return f"{at}this is not so"
    return f"{at}it gives {reading['printed']}, {_ASKED[reading['relation']].format(reading['due'])}"


def by_kernel(reading: Record) -> str:
    """Which Coq theorem refutes a failing reading, and whether it was checked here, as the end of a sentence."""
    if not reading["theorem"]:
        return ""
    return f"; Coq: {reading['theorem']}, {'kernel-checked' if reading['kernel_checked'] else 'not re-checked here'}"


def _slips(row: Record) -> list[Record]:
    """Most serious first."""
    failing = [reading for reading in row["readings"] if not reading["holds"] and reading["slip"]]
    return sorted(failing, key=lambda reading: -Affects(reading["affects"]).rank)


def _worst(row: Record) -> Affects:
    return Affects(_slips(row)[0]["affects"])


def _paragraph(row: Record) -> str:
    findings = " ".join(
        f"{'(As extracted.) ' if reading['as_extracted'] else ''}{reading['slip']} "
        f"Read as “{reading['says']}”, {asked(reading)}."
        for reading in _slips(row)
    )
    survives = f" Survives: {row['survives']}" if row["survives"] else ""
    return (
        f"**{row['id']}.** {findings} Suggested repair: {row['repair']} Evidence for it: {row['verdict']}.{survives} "
        f"Reproduce: `{row['command']}`."
    )
