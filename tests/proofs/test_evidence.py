"""Evidence: the verdict follows from the numbers, in both directions."""

from __future__ import annotations

from fractions import Fraction

import pytest

from proofs.evidence import Enclosure, ExactCases, FloatTest, IdentityTest, KernelProof, from_json, to_json
from proofs.verdicts import Verdict, weakest

FIELD = IdentityTest("N = 8, M = 3", 1_048_573, 100, 5, 0)
BALL = Enclosure("N = 8", 8, Fraction(1, 2**200), Fraction(1, 2**8), True)
FLOAT = FloatTest("N = 8", 40, 1e-15, 1e-13)
CASES = ExactCases("N <= 4", "Fractions", 12)
KERNEL = KernelProof("recovery", "Coq 8.18", True, ("R",), ("R",))


@pytest.mark.parametrize(
    ("evidence", "verdict"),
    [
        (FIELD, Verdict.IDENTITY_TESTED),
        (IdentityTest("", 1_048_573, 100, 5, 1), Verdict.REFUTED),
        (IdentityTest("", 1_048_573, 100, 4, 0), Verdict.UNKNOWN),
        (IdentityTest("", 101, 200, 50, 0), Verdict.UNKNOWN),
        (IdentityTest("", 1_048_573, 100, 0, 0), Verdict.UNKNOWN),
        (BALL, Verdict.CERTIFIED),
        (Enclosure("", 8, Fraction(1, 2), Fraction(1, 4), True), Verdict.UNKNOWN),
        (Enclosure("", 8, Fraction(0), Fraction(1, 4), False), Verdict.REFUTED),
        (Enclosure("", 0, Fraction(0), Fraction(1, 4), True), Verdict.UNKNOWN),
        (FLOAT, Verdict.TESTED),
        (FloatTest("", 40, 2e-13, 1e-13), Verdict.REFUTED),
        (FloatTest("", 40, float("nan"), 1e-13), Verdict.REFUTED),
        (FloatTest("", 0, 0.0, 1e-13), Verdict.UNKNOWN),
        (CASES, Verdict.PROVED_BOUNDED),
        (ExactCases("", "", 12, ("N = 2",)), Verdict.REFUTED),
        (ExactCases("", "", 0), Verdict.UNKNOWN),
        (KERNEL, Verdict.KERNEL_CHECKED),
        (KernelProof("", "", False), Verdict.UNKNOWN),
        (KernelProof("", "", True, ("choice",), ("R",)), Verdict.UNKNOWN),
    ],
)
def test_the_verdict_follows_from_the_numbers(evidence, verdict):
    assert evidence.judged()[0] is verdict


@pytest.mark.parametrize("evidence", [FIELD, BALL, FLOAT, CASES, KERNEL])
def test_evidence_survives_being_stored(evidence):
    assert from_json(to_json(evidence)) == evidence


def test_the_error_probability_is_degree_over_order_for_each_trial():
    assert FIELD.error_probability == Fraction(100, 1_048_573) ** 5 < Fraction(1, 2**64)
    assert FIELD.judged()[1] == "error probability below 2^-66"


def test_the_weakest_of_nothing_is_unknown():
    assert weakest([]) is Verdict.UNKNOWN
    assert weakest([Verdict.PROVED, Verdict.TESTED, Verdict.KERNEL_CHECKED]) is Verdict.TESTED
    assert [v.rank for v in Verdict] == list(range(len(Verdict)))
