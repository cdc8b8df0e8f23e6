"""The audit of §4, §5, C and D: its counterexamples by other means, and verdicts that follow the evidence."""

from __future__ import annotations

from dataclasses import replace
from decimal import Context, Decimal
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numeric.average_case import exact_row_failures
from proofs.audit import ledger
from proofs.audit.exponentials import exp_above, exp_below
from proofs.audit.judging import Printed
from proofs.audit.literal import EXACT, FLOATS
from proofs.audit.paper_ids import SECTIONS
from proofs.audit.reading import Affects, evaluate
from proofs.evidence import ExactCases
from proofs.obligation import Check, Kind
from proofs.verdicts import Verdict
from twoheads import theorem_4_1, theorem_4_2
from twoheads.attention import attention, sink_mask
from twoheads.average_case_premise import combined_error
from twoheads.oracle import Oracle
from twoheads.transformer import Head

ENTRIES = ledger.entries()
*_, CHAPTER_4, CHAPTER_5 = SECTIONS.values()


def failing(name: str) -> list:
    """The readings of an entry that fail, as evaluated, in the entry's order."""
    return [found for one in ENTRIES[name].readings if not (found := evaluate(one)).holds]


@pytest.mark.parametrize(
    ("name", "number", "printed", "due"),
    [
        ("C.1.permute", 0, (1, 1), (2, 2)),  # tau = 1, 3, 2, 4 and chunks of 2
        ("C.1.wlog", 0, Fraction(37, 361), Fraction(1, 10)),
        ("C.1.wlog", 1, 4, Fraction(1, 2)),
        ("C.1.combine", 0, Fraction(5, 13), Fraction(-1, 6)),
        ("C.1.combine", 1, Fraction(2, 3), Fraction(1, 2)),
        ("C.1.combine", 2, 4, 3),
        ("Theorem 4.2 / C.2", 0, 15, 12),
        ("Theorem 4.2 / C.2", 1, Fraction(1, 3), 0),
        ("C.2.concat", 0, 7, 9),
        ("C.2.error", 0, Fraction(16, 3), 1),
        ("D.1.first", 0, 2, 1),
        ("D.1.sinks", 0, 4, 3),
        ("D.1.sinks", 2, 2, 1),
    ],
)
def test_counterexamples_by_pencil(name, number, printed, due):
    found = failing(name)[number]
    assert (found.printed, found.due) == (printed, due)


@pytest.mark.parametrize(
    ("name", "affects"),
    [
        ("C.1.permute", Affects.PROOF),
        ("C.1.wlog", Affects.STATEMENT),
        ("C.1.combine", Affects.PROOF),
        ("C.2.concat", Affects.NOTHING),
        ("C.2.error", Affects.PROOF),
        ("D.1.first", Affects.NOTHING),
        ("D.1.calls", Affects.PROOF),
        ("D.1.sinks", Affects.PROOF),
    ],
)
def test_what_a_failure_touches(name, affects):
    assert max((one.reading.slip.affects for one in failing(name)), key=lambda one: one.rank) is affects


@pytest.mark.parametrize(
    "name", ["C.1.unbiased", "C.1.step2", "C.2.bounds", "C.2.codes", "5.sketch", "D.1.difference", "D.1.chunks"]
)
def test_items_that_hold_as_printed(name):
    assert failing(name) == []


# the same by other means


def test_the_combined_error_passes_the_printed_bound_in_attention_itself():
    """N = 2, M = 1, a = (1/2, 3/2), v = (6, 2/3): both sums within ε/4 for ε = 2; attention 2, the estimate 6."""
    A = np.array([[Fraction(1, 2), Fraction(3, 2)]] * 2)
    V = np.array([[Fraction(6)], [Fraction(2, 3)]])
    b = A[0] * V[:, 0]
    assert all(abs(2 * sums[0] - sum(sums)) <= sum(sums) / 2 for sums in (A[0], b))
    assert exact_row_failures(A, V, 1, Fraction(199, 100)) == [Fraction(1, 2)] * 2  # key 1 fails, key 2 does not
    assert exact_row_failures(A, V, 1, Fraction(2)) == [0, 0]
    assert combined_error(Fraction(2)) == 2 > Fraction(2) / 2


def test_the_heads_fail_as_often_as_counting_says():
    """Two keys of 20 are in one of 10 pairs with probability 10/binom(20, 2)."""
    alone = Fraction(10, comb(20, 2))
    assert alone < Fraction(1, 10) < 1 - (1 - alone) ** 2 == failing("C.1.wlog")[0].printed


def test_two_layers_by_the_simulator():
    """Equal scores, values 1, 1, 3, 3 and chunks of 2: layer 1 is off by at most a half, layer 2 by 1/δ."""
    zeros, one, delta = np.zeros((1, 1)), np.ones((1, 1)), 0.25

    def estimated(column):
        return theorem_4_1.simulate(column[:, None], zeros, zeros, one, Oracle(2), seed=1)[:, 0]

    layer_1 = estimated(np.array([1.0, 1.0, 3.0, 3.0]))
    assert 0 < abs(layer_1 - 2).max() / 2 <= 0.5  # the seed does not put a 1 and a 3 into each chunk
    layer_2 = estimated(layer_1 - 2 + delta)  # exactly: mean 2, then all values are δ
    assert abs(layer_2 - delta).max() / delta > 0.5


def test_the_inverse_bound_fails_for_real_queries_and_keys():
    """C = 2, B = 3: own score -4, and 4 - 9 for the other instance's key."""
    A, E = np.exp(-4.0), np.exp(4.0 - 9.0)
    found = failing("C.2.error")[0]
    difference = 1 / A - 1 / (A + E)
    assert difference > theorem_4_2.inverse_bound(3, 2.0, 2, 1, "printed") == pytest.approx(found.floats[1])
    assert difference <= theorem_4_2.inverse_bound(3, 2.0, 2, 1, "tight")
    assert difference == pytest.approx(found.floats[0])


def test_a_row_of_zero_is_not_met_by_the_simulator():
    tokens = [np.array([[1.0], [-1.0]]), np.array([[1.0], [1.0]])]
    head = Head(np.zeros((1, 1)), np.zeros((1, 1)), np.ones((1, 1)))
    outputs = theorem_4_2.simulate(tokens, [head, head], Oracle(4), B=1).outputs
    assert abs(outputs[0][0, 0]) == pytest.approx(failing("Theorem 4.2 / C.2")[1].floats[0])
    assert outputs[0][0, 0] != 0


def test_sinks_that_are_counted_twice_change_attention():
    """i = 2, r = 2, s = 1, scores 0: key 1 is a sink and in the window."""
    zeros, V = np.zeros((2, 1)), np.array([[1.0], [0.0]])
    assert attention(zeros, zeros, V, sink_mask(2, 2, 1))[1, 0] == 0.5
    assert (V[0, 0] + V.sum()) / 3 != 0.5


def test_the_repaired_window_calls_leave_out_a_key_that_no_window_holds():
    (one,) = (one for one in ENTRIES["D.1.calls"].evidence if isinstance(one, Check))
    found = one.run()
    assert isinstance(found, ExactCases)
    assert found.failures == ()
    assert found.cases > 100


@given(st.fractions(min_value=-60, max_value=60, max_denominator=1000))
def test_exponentials_are_enclosed(y):
    due = Fraction(Context(prec=60).exp(Context(prec=60).divide(y.numerator, y.denominator)))
    low, high = exp_below(EXACT, y), exp_above(EXACT, y)
    slack = due / 10**55  # of the 60 digits
    assert low <= due + slack
    assert due <= high + slack
    assert high <= low * (1 + Fraction(1, 2**12))
    assert exp_below(FLOATS, float(y)) == pytest.approx(float(due))


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("number", ["2", "3", "1000", "0.5", "0.125"])
def test_exponentials_are_enclosed_beside_numbers_of_few_bits(number, side):
    """There the series as far as it is summed and exp itself are rounded to different numbers."""
    y = Fraction(Context(prec=60).ln(Decimal(number))) + Fraction(side, 10**50)
    due = Fraction(Context(prec=90).exp(Context(prec=90).divide(y.numerator, y.denominator)))
    assert due != Fraction(number)
    assert exp_below(EXACT, y) <= due <= exp_above(EXACT, y)


# verdicts follow what runs


def put_right(name: str):
    """The entry with all that it prints put right, and nothing said of slips."""
    entry = ENTRIES[name]
    right = [replace(one, printed=one.due, slip=None, relation="=") if one.slip else one for one in entry.readings]
    return replace(entry, readings=right, repair="")


@pytest.mark.parametrize("name", ["C.1.combine", "C.2.concat", "C.2.error", "D.1.first"])
def test_a_formula_put_right_holds(name):
    (before,), (after,) = ledger.audit([ENTRIES[name]]), ledger.audit([put_right(name)])
    assert (before.printed, after.printed) == (Printed.REFUTED, Printed.HOLDS)
    assert (before.flaws, after.flaws) == ([], [])
    assert before.verdict is after.verdict


def test_a_repair_that_fails_is_no_repair():
    broken = Check("C.2.concat", "broken", Kind.BOUNDED, "one case", "nothing", lambda: ExactCases("1", "", 1, ("it",)))
    (found,) = ledger.audit([replace(ENTRIES["C.2.concat"], evidence=[broken])])
    assert found.printed is Printed.REFUTED
    assert found.verdict is Verdict.UNKNOWN
    assert "fails at it" in found.flaws[0]


def test_tail_bounds_rest_on_what_is_cited():
    hoeffding, vector = ledger.audit([ENTRIES["C.1.hoeffding"], ENTRIES["C.1.vector"]])
    assert "Theorem 4.1/hoeffding" in hoeffding.rests_on
    assert vector.rests_on == ["C.1.vector/pinelis"]


def test_every_item_of_both_sections_is_entered():
    assert {*CHAPTER_4, *CHAPTER_5} <= ENTRIES.keys()
