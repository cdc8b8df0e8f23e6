"""Entries of the audit: what is said of an item of the paper, and what has to run for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from proofs.audit.reading import AuditError, Reading
from proofs.evidence import ExactCases
from proofs.obligation import Check, Kind, Subject

__all__ = ["Entry", "bounded_check"]


@dataclass(frozen=True, eq=False)
class Entry:
    """One item, with nothing in it that says whether it holds: `proofs.audit.judging` computes that.

    Args:
        id: as the paper's digest has it, such as "Lemma 3.1 / B.1" or "B.5.split".
        restatement: what the item says, in our words.
        readings: what is printed, to be run literally; those that are expected to fail say why.
        not_checkable: why there is nothing to check (a definition, a cited theorem, a complexity hypothesis).
        remarks: statements of ours about the item, which must hold.
        note: what no computation shows, for instance which reading of an ambiguous text was taken.
        repair: the smallest change, in words; needed if a reading fails.
        evidence: of the item where it holds as printed, of the repair where not: ids of obligations and checks
            ("Theorem 3.5/coverage-exists"), or obligations, checks and assumptions themselves.
        survives: whether the statement survives, with what constants, under which added assumption.
        parts: items of which this one consists; what fails in them fails here.
        depends: items that it rests on or that use it.
    """

    id: str
    restatement: str
    readings: Sequence[Reading] = ()
    not_checkable: str = ""
    remarks: Sequence[Reading] = ()
    note: str = ""
    repair: str = ""
    evidence: Sequence[str | Subject] = ()
    survives: str = ""
    parts: Sequence[str] = ()
    depends: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not self.restatement:
            raise AuditError(f"{self.id}: say what the item says.")
        if not (self.readings or self.not_checkable or self.evidence or self.parts):
            raise AuditError(f"{self.id}: there is nothing to run; give readings, evidence, or why there is none.")
        if self.not_checkable and self.readings:
            raise AuditError(f"{self.id}: it has readings, so it can be checked.")
        if any(remark.slip for remark in self.remarks):
            raise AuditError(f"{self.id}: a remark is a statement of ours; it has no slip.")
        if any(reading.slip for reading in self.readings) and not (self.repair and self.evidence):
            raise AuditError(f"{self.id}: a slip needs a repair and evidence for it.")


def bounded_check(item: str, name: str, scope: str, proves: str, run: Callable[[], ExactCases]) -> Check:
    """All cases of a finite range, as evidence that an entry needs: its verdict is no stronger."""
    return Check(item, name, Kind.BOUNDED, scope, proves, run, supports=False)
