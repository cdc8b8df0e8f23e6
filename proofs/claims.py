"""What follows for a claim from all that was checked of it and of what it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proofs.core import Result
from proofs.obligation import Assumption
from proofs.verdicts import HOLDS, Verdict, weakest

__all__ = ["ClaimStatus", "DependencyError", "claims"]


class DependencyError(ValueError):
    """Something depends on what is not there."""


@dataclass(frozen=True)
class ClaimStatus:
    """The status of one item, computed from the results below it."""

    item: str
    verdict: Verdict
    """The weakest of what the claim needs; an assumption does not weaken it but is listed."""
    weakest: tuple[str, ...]
    """The ids that have this verdict."""
    rests_on: tuple[str, ...]
    """The ids of the assumptions, transitively."""
    failed: tuple[str, ...]
    """The ids that did not pass, transitively, and supporting evidence that contradicts the claim."""


def claims(results: Iterable[Any]) -> dict[str, ClaimStatus]:
    """The status of every item that has a result.

    Raises:
        DependencyError: a dependency names no id and no item among the results.
    """
    by_id: dict[str, Any] = {}
    by_item: dict[str, list[Any]] = {}
    for result in results:
        if type(result) is not Result:
            raise DependencyError(f"{result!r} is no result of a check.")
        if result.subject.id in by_id:
            raise DependencyError(f"there are two results of {result.subject.id}.")
        by_id[result.subject.id] = result
        by_item.setdefault(result.subject.item, []).append(result)
    return {item: _status(item, own, by_id, by_item) for item, own in by_item.items()}


def _status(
    item: str, own: Sequence[Any], by_id: Mapping[str, Any], by_item: Mapping[str, Sequence[Any]]
) -> ClaimStatus:
    below = _closure(own, by_id, by_item)
    needed = [r for r in below if not r.subject.supports and not isinstance(r.subject, Assumption)]
    assumed = tuple(sorted(r.subject.id for r in below if isinstance(r.subject, Assumption)))
    # a claim that has nothing but supporting evidence is as strong as that
    counted = needed or [r for r in below if not isinstance(r.subject, Assumption)]
    failed = tuple(sorted(r.subject.id for r in below if not r.passed))
    verdict = weakest(_counted(r) for r in counted) if counted else Verdict.ASSUMED
    if failed and verdict in HOLDS:
        verdict = Verdict.UNKNOWN
    least = tuple(r.subject.id for r in counted if _counted(r) is verdict)
    return ClaimStatus(item, verdict, least or failed or assumed, assumed, failed)


def _counted(result: Any) -> Verdict:
    """A statement that is refuted as it should be is proved to be false, which is what the claim needs."""
    if result.passed and result.verdict is Verdict.REFUTED:
        return Verdict.PROVED
    return Verdict(result.verdict)


def _closure(own: Sequence[Any], by_id: Mapping[str, Any], by_item: Mapping[str, Sequence[Any]]) -> list[Any]:
    """The results and all that they depend on. Two halves of an induction may depend on each other."""
    found: dict[str, Any] = {}
    waiting = list(own)
    while waiting:
        result = waiting.pop()
        if result.subject.id in found:
            continue
        found[result.subject.id] = result
        for name in result.subject.depends_on:
            if name in by_id:
                waiting.append(by_id[name])
            elif name in by_item:
                waiting += by_item[name]
            else:
                raise DependencyError(f"{result.subject.id} depends on {name!r}, of which there is no result.")
    return list(found.values())
