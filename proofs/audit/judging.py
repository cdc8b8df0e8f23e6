"""What follows for an item from all that ran: whether it holds as printed, and what is known of it as repaired."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from proofs.audit.entry import Entry
from proofs.audit.reading import Affects, Evaluated, Slip, evaluate
from proofs.obligation import Assumption
from proofs.verdicts import HOLDS, Verdict, weakest

__all__ = ["Audited", "Printed", "judge"]


class Printed(StrEnum):
    """The printed text, after it was run."""

    HOLDS = "holds"
    REFUTED = "refuted"
    NOT_CHECKABLE = "not-checkable"


@dataclass(frozen=True, eq=False)
class Audited:
    """An entry after it ran. Everything here is computed from what was found."""

    entry: Entry
    readings: Sequence[Evaluated]
    remarks: Sequence[Evaluated]
    evidence: Sequence[Any]
    """Results of `proofs.core`, in the entry's order."""
    below: Sequence[Any]
    """Results of what the evidence depends on."""
    parts: Sequence[Audited]
    missing: Sequence[str]
    """Parts without an entry so far."""

    @property
    def refutations(self) -> list[Evaluated]:
        """The readings that fail, most serious first; each holds a counterexample that was replayed in floats."""
        failing = [one for one in self.readings if not one.holds and one.floats_agree]
        return sorted(failing, key=lambda one: -_affects(one).rank)

    @property
    def failing_parts(self) -> list[Audited]:
        """Parts of which more than the print fails, most serious first."""
        failing = [one for one in self.parts if one.printed is Printed.REFUTED and one.affects is not Affects.NOTHING]
        return sorted(failing, key=lambda one: -one.affects.rank)

    @property
    def printed(self) -> Printed:
        """Refuted by a counterexample, here or in a part; holds if something ran and nothing failed."""
        if self.refutations or self.failing_parts:
            return Printed.REFUTED
        open_parts = self.missing or any(one.printed is Printed.NOT_CHECKABLE for one in self.parts)
        unshown = [result for result in [*self.evidence, *self.below] if not result.passed]
        if self.entry.not_checkable or open_parts or unshown:
            return Printed.NOT_CHECKABLE
        return Printed.HOLDS

    @property
    def affects(self) -> Affects:
        """The most serious of what fails."""
        touched = [_affects(one) for one in self.refutations] + [one.affects for one in self.failing_parts]
        return max(touched, key=lambda one: one.rank, default=Affects.NOTHING)

    @property
    def extraction(self) -> bool:
        """Whether all that fails may come from the text extraction."""
        slips = [one.reading.slip for one in self.refutations]
        return bool(slips) and not self.failing_parts and all(slip and slip.extraction for slip in slips)

    @property
    def verdict(self) -> Verdict:
        """What is known of the item as it holds, that is, repaired if what is printed fails.

        Its own evidence decides; without any, its parts do.
        """
        if self.flaws:
            return Verdict.UNKNOWN
        # an assumption does not weaken what rests on it, but is listed; nor does what only supports it
        shown = [result for result in self.evidence if not isinstance(result.subject, Assumption)]
        needed = [result for result in shown if not result.subject.supports]
        if shown:
            return weakest(_counted(result) for result in needed or shown)
        if self.readings and not self.refutations:
            return Verdict.PROVED_BOUNDED
        if self.entry.not_checkable or self.missing or not self.parts:
            return Verdict.ASSUMED
        return weakest(one.verdict for one in self.parts)

    @property
    def rests_on(self) -> list[str]:
        """Assumptions below the evidence."""
        return sorted({r.subject.id for r in [*self.evidence, *self.below] if isinstance(r.subject, Assumption)})

    @property
    def counterexample(self) -> Evaluated | None:
        """The most serious one, of the parts if there is none here."""
        if self.refutations:
            return self.refutations[0]
        return self.failing_parts[0].counterexample if self.failing_parts else None

    @property
    def flaws(self) -> list[str]:
        """Where what the entry says and what ran contradict each other; a sound audit has none."""
        found = [flaw for one in self.readings for flaw in _reading_flaws(one)]
        found += [f"the remark {one.reading.says!r} fails {one.text}" for one in self.remarks if not one.holds]
        found += [f"{one.reading.says!r}: floats say otherwise" for one in self.remarks if not one.floats_agree]
        found += [f"{r.subject.id}: {r.verdict} {r.reason}" for r in [*self.evidence, *self.below] if not r.passed]
        if bool(self.entry.repair) != any(one.reading.slip for one in self.readings) and not self.parts:
            found.append("a repair is described, but nothing fails")
        return found


def judge(entry: Entry, results: Mapping[str, Any], below: Sequence[Any], parts: Mapping[str, Audited]) -> Audited:
    """Run the readings of an entry and put together what else ran for it.

    Args:
        entry: the item.
        results: results of `proofs.core` by id, all the entry's evidence among them.
        below: results of what that evidence depends on.
        parts: the judged parts that have an entry, by id.
    """
    return Audited(
        entry=entry,
        readings=[evaluate(reading) for reading in entry.readings],
        remarks=[evaluate(remark) for remark in entry.remarks],
        evidence=[results[one if isinstance(one, str) else one.id] for one in entry.evidence],
        below=below,
        parts=[parts[name] for name in entry.parts if name in parts],
        missing=[name for name in entry.parts if name not in parts],
    )


def _reading_flaws(one: Evaluated) -> list[str]:
    says, slip = one.reading.says, one.reading.slip
    found = []
    if one.holds and slip:
        found.append(f"{says!r} is entered as a slip, but holds in all {one.examined} cases")
    if not one.holds and not slip:
        found.append(f"{says!r} fails {one.text}, and no slip is entered")
    if not one.floats_agree:
        found.append(f"{says!r}: floats say otherwise {one.text}")
    return found


def _affects(one: Evaluated) -> Affects:
    slip: Slip | None = one.reading.slip
    return slip.affects if slip else Affects.STATEMENT


def _counted(result: Any) -> Verdict:
    """A statement that is refuted as it should be is proved to be false."""
    if result.passed and result.verdict is Verdict.REFUTED:
        return Verdict.PROVED
    return Verdict(result.verdict) if result.verdict in HOLDS else Verdict.UNKNOWN
