"""Evidence that is no formula: what was computed, in numbers from which the core derives a verdict.

Nothing here is a verdict. Every record is plain data, so that it can be cached and printed; bounds are exact
rationals, never floats.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from proofs.verdicts import Verdict

__all__ = [
    "EVIDENCE",
    "Enclosure",
    "Evidence",
    "ExactCases",
    "FloatTest",
    "IdentityTest",
    "KernelProof",
    "from_json",
    "to_json",
]

MAX_ERROR = Fraction(1, 2**64)
"""The largest probability with which an identity test may have missed a difference."""


@dataclass(frozen=True)
class IdentityTest:
    """A rational identity at random points of the field of `order` elements.

    A nonzero polynomial of total degree at most `degree` vanishes at a uniformly random point with probability at
    most degree/order (Schwartz, Zippel), independently in every trial.
    """

    size: str
    order: int
    degree: int
    trials: int
    mismatches: int
    redrawn: int = 0
    """Points that were drawn again, since a denominator vanished there."""

    @property
    def error_probability(self) -> Fraction:
        """Of missing a difference in every trial."""
        return min(Fraction(self.degree, self.order), Fraction(1)) ** self.trials

    def judged(self) -> tuple[Verdict, str]:
        """The verdict and its reason."""
        if self.mismatches:
            return Verdict.REFUTED, f"{self.mismatches} of {self.trials} trials differ"
        if self.trials < 1 or self.degree < 1:
            return Verdict.UNKNOWN, "nothing was tried"
        if self.error_probability > MAX_ERROR:
            return Verdict.UNKNOWN, f"the error probability is above 2^-64: {float(self.error_probability):.2g}"
        return Verdict.IDENTITY_TESTED, f"error probability below 2^{_log2_above(self.error_probability)}"


@dataclass(frozen=True)
class Enclosure:
    """A rigorous upper bound of |simulated - direct| over all entries, held against a stated bound."""

    size: str
    entries: int
    upper: Fraction
    bound: Fraction
    contains_zero: bool
    """Whether every entry's enclosure of the difference contains 0; one that does not is a refutation."""

    def judged(self) -> tuple[Verdict, str]:
        """The verdict and its reason."""
        if not self.contains_zero:
            return Verdict.REFUTED, "an enclosure of the difference excludes 0"
        if self.entries < 1:
            return Verdict.UNKNOWN, "nothing was enclosed"
        if self.upper > self.bound:
            return Verdict.UNKNOWN, f"the enclosure is too wide: 2^{_log2_above(self.upper)}"
        return Verdict.CERTIFIED, f"|difference| at most 2^{_log2_above(self.upper)}"


@dataclass(frozen=True)
class FloatTest:
    """The worst error over some cases in floating point, held against a tolerance."""

    size: str
    cases: int
    worst: float
    tolerance: float

    def judged(self) -> tuple[Verdict, str]:
        """The verdict and its reason."""
        if self.cases < 1:
            return Verdict.UNKNOWN, "nothing was tried"
        if not self.worst <= self.tolerance:  # nan is worse than anything
            return Verdict.REFUTED, f"worst case {self.worst:.2g} is above the tolerance {self.tolerance:.2g}"
        return Verdict.TESTED, f"worst case {self.worst:.2g} within {self.tolerance:.2g}"


@dataclass(frozen=True)
class ExactCases:
    """All cases of a finite range, each decided in exact arithmetic by `method`."""

    size: str
    method: str
    cases: int
    failures: tuple[str, ...] = ()
    """The cases that fail, smallest first."""

    def judged(self) -> tuple[Verdict, str]:
        """The verdict and its reason."""
        if self.failures:
            return Verdict.REFUTED, f"fails at {self.failures[0]}"
        if self.cases < 1:
            return Verdict.UNKNOWN, "the range is empty"
        return Verdict.PROVED_BOUNDED, f"{self.cases} cases, {self.method}"


@dataclass(frozen=True)
class KernelProof:
    """A theorem that a proof assistant's kernel has accepted, with the axioms it rests on."""

    theorem: str
    kernel: str
    accepted: bool
    axioms: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    """The axioms that the statement may rest on: those of the assistant's own theory of the reals."""

    def judged(self) -> tuple[Verdict, str]:
        """The verdict and its reason."""
        if not self.accepted:
            return Verdict.UNKNOWN, f"{self.kernel} did not accept {self.theorem}"
        if foreign := sorted(set(self.axioms) - set(self.allowed)):
            return Verdict.UNKNOWN, f"{self.theorem} rests on {', '.join(foreign)}"
        return Verdict.KERNEL_CHECKED, f"{self.theorem}, accepted by {self.kernel}"


Evidence = IdentityTest | Enclosure | FloatTest | ExactCases | KernelProof
EVIDENCE: dict[str, type[Any]] = {
    kind.__name__: kind for kind in (IdentityTest, Enclosure, FloatTest, ExactCases, KernelProof)
}


def to_json(evidence: Evidence) -> dict[str, Any]:
    """The record as JSON values; a Fraction becomes text."""
    fields = {k: str(v) if isinstance(v, Fraction) else v for k, v in asdict(evidence).items()}
    return {"evidence": type(evidence).__name__, **fields}


def from_json(record: Mapping[str, Any]) -> Evidence:
    """What `to_json` wrote."""
    kind = EVIDENCE[record["evidence"]]
    fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in record.items()}
    del fields["evidence"]
    for name in {"upper", "bound"} & fields.keys():
        fields[name] = Fraction(fields[name])
    evidence: Evidence = kind(**fields)
    return evidence


def _log2_above(value: Fraction) -> str:
    """The smallest integer e with value <= 2^e, as text."""
    if value == 0:
        return "-inf"
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    while Fraction(2) ** exponent < value:
        exponent += 1
    while Fraction(2) ** (exponent - 1) >= value:
        exponent -= 1
    return str(math.floor(exponent))
