"""The verdicts, strongest first, and what is said of a claim that rests on several of them."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

__all__ = ["HOLDS", "Verdict", "weakest"]


class Verdict(StrEnum):
    """What is known of one statement. The order of the members is their strength."""

    KERNEL_CHECKED = "kernel-checked"
    """For all parameters, by a proof that a small kernel has checked."""
    PROVED = "proved"
    """For all parameters, by every solver that the obligation asks for."""
    PROVED_BOUNDED = "proved-bounded"
    """Exactly, for the parameters that the scope names and no others."""
    IDENTITY_TESTED = "identity-tested"
    """At random points of a finite field, with a stated probability of error."""
    CERTIFIED = "certified"
    """By a rigorous enclosure at one stated size."""
    TESTED = "tested"
    """In floating point, within a stated tolerance."""
    REFUTED = "refuted"
    """False: a counterexample was replayed in exact arithmetic."""
    ASSUMED = "assumed"
    """Cited, and not checked here."""
    UNKNOWN = "unknown"
    """Undecided: a resource limit, a disagreement, a check that could not have failed."""

    @property
    def rank(self) -> int:
        """0 for the strongest."""
        return list(Verdict).index(self)


HOLDS = frozenset(
    {
        Verdict.KERNEL_CHECKED,
        Verdict.PROVED,
        Verdict.PROVED_BOUNDED,
        Verdict.IDENTITY_TESTED,
        Verdict.CERTIFIED,
        Verdict.TESTED,
    }
)
"""The verdicts of something that was checked here and found to hold."""


def weakest(verdicts: Iterable[Verdict]) -> Verdict:
    """The weakest of the verdicts; of none at all, `unknown`, since nothing shown is nothing known."""
    return max(verdicts, key=lambda verdict: verdict.rank, default=Verdict.UNKNOWN)
