"""The audit: its ledger is complete, says what ran, and says something else when something else runs."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from proofs import kernel
from proofs.answers import Answers
from proofs.audit import ledger
from proofs.audit.entry import Entry
from proofs.audit.judging import Printed
from proofs.audit.literal import EXACT, FLOATS
from proofs.audit.paper_ids import PAPER_IDS, PENDING, SECTIONS
from proofs.audit.reading import Affects, AuditError, Reading, Slip, Undefined, evaluate
from proofs.audit.records import record
from proofs.core import Result
from proofs.evidence import ExactCases
from proofs.obligation import Check, Kind
from proofs.registry import all_subjects
from proofs.verdicts import HOLDS, Verdict
from twoheads.errors import InputError

ENTRIES = ledger.entries()
OWN = [name for name in ENTRIES if name.startswith("beyond.")]


def audited(*entries: Entry):
    return ledger.audit(entries)


def without_slips(entry: Entry) -> Entry:
    """The entry with every printed formula put right, and nothing said of slips."""
    readings = [replace(one, printed=one.due, slip=None, relation="=") if one.slip else one for one in entry.readings]
    return replace(entry, readings=readings, repair="")


def checked(name: str, verdict_of: ExactCases) -> Check:
    return Check("an item", name, Kind.BOUNDED, "some cases", "something", lambda: verdict_of, supports=False)


HELD, FAILED = ExactCases("1", "exactly", 1), ExactCases("1", "exactly", 1, ("N = 1",))
SLIP = Slip("it is 2", Affects.NOTHING)


def reading(printed, due, relation="=", slip=None):
    return Reading("something", [{"n": 1}, {"n": 2}], printed, due, relation, slip)


# the ledger


def test_every_id_of_the_paper_has_an_entry_in_the_paper_s_order():
    assert [name for name in ENTRIES if name not in OWN] == [name for name in PAPER_IDS if name not in PENDING]
    assert OWN


def test_only_items_of_the_last_two_sections_are_pending():
    *_, chapter_4, chapter_5 = SECTIONS
    assert PENDING <= {*SECTIONS[chapter_4], *SECTIONS[chapter_5]}
    assert len(set(PAPER_IDS)) == len(PAPER_IDS) == 71


@pytest.mark.parametrize("name", ENTRIES)
def test_what_an_entry_refers_to_is_there(name):
    entry = ENTRIES[name]
    assert set(entry.parts) | set(entry.depends) <= {*PAPER_IDS, *OWN}
    assert {one for one in entry.evidence if isinstance(one, str)} <= all_subjects().keys()


@pytest.mark.parametrize("name", ENTRIES)
def test_readings_and_remarks_say_what_runs(name):
    entry = ENTRIES[name]
    for one in entry.readings:
        found = evaluate(one)
        assert found.holds == (one.slip is None), f"{one.says}: {found.text}"
        assert found.floats_agree, f"{one.says}: {found.floats}"
    for one in entry.remarks:
        assert evaluate(one).holds, one.says


@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_s_own_evidence_passes(name):
    own = [one for one in ENTRIES[name].evidence if not isinstance(one, str)]
    answers = Answers()
    answers.gather(own)
    for subject in own:
        result = Result(subject, answers)
        assert result.passed, f"{subject.id}: {result.verdict} {result.reason} {result.mutants}"


@pytest.mark.slow
def test_the_whole_audit_is_consistent_and_every_refuted_item_has_its_counterexample_and_its_repair():
    found = ledger.audit(ledger.select([]))
    assert {one.entry.id: one.flaws for one in found if one.flaws} == {}
    for one in found:
        if one.printed is Printed.REFUTED:
            assert one.counterexample is not None
            assert not one.counterexample.holds
            assert one.verdict in HOLDS
            assert one.entry.repair
        if one.printed is Printed.NOT_CHECKABLE:
            assert one.entry.not_checkable or one.missing


@pytest.mark.parametrize("name", [name for name, entry in ENTRIES.items() if any(r.slip for r in entry.readings)])
def test_counterexamples_are_small_and_fail_again(name):
    for one in ENTRIES[name].readings:
        if one.slip:
            found = evaluate(one)
            assert found.examined <= len(one.cases)
            numbers = np.concatenate([np.ravel(np.array(v, dtype=object)) for v in found.case.values()])
            assert len(numbers) <= 8
            assert all(abs(n) <= 64 for n in numbers if not isinstance(n, str))
            alone = evaluate(replace(one, cases=[found.case]))
            assert (alone.holds, alone.printed, alone.due) == (False, found.printed, found.due)


def test_every_slip_has_a_theorem_but_those_of_names_and_sizes():
    slips = [(name, one.slip) for name, entry in ENTRIES.items() for one in entry.readings if one.slip]
    assert [name for name, slip in slips if not slip.theorem] == ["Lemma A.3", "Lemma A.3"]
    sources = "".join(path.read_text() for path in (Path(kernel.__file__).parent / "coq").glob("*.v"))
    declared = set(re.findall(r"^Theorem (\w+)", sources, re.MULTILINE))
    assert {slip.theorem for _, slip in slips if slip.theorem} <= declared


def test_a_slip_is_kernel_checked_only_where_the_kernel_ran(monkeypatch):
    (found,) = audited(ENTRIES["B.6.ratio"])
    theorem = found.counterexample.reading.slip.theorem
    for accepted in (set(), {theorem}):
        monkeypatch.setattr("proofs.audit.records.accepted_theorems", lambda accepted=accepted: accepted)
        shown = record(found)["counterexample"]
        assert (shown["theorem"], shown["kernel_checked"]) == (theorem, bool(accepted))


def test_known_counterexamples():
    """A few that can be done with pencil, entered here a second time."""
    found = {
        "B.1.goal": (Fraction(2, 5), Fraction(1, 4)),  # N = 4, M = 2: positions 1, 2, 2, 3, 4
        "B.6.ratio": (Fraction(1, 3), Fraction(1, 2)),
        "B.5.second-values": (Fraction(1, 6), Fraction(1, 3)),
        "§1.1.d": (Fraction(1, 32), Fraction(1, 2**16)),
    }
    for name, values in found.items():
        first = evaluate(ENTRIES[name].readings[0])
        assert (first.printed, first.due) == values


# flips: other evidence, another verdict


@pytest.mark.parametrize("name", ["B.6.ratio", "Lemma A.1", "§2.1.layer", "Lemma A.3"])
def test_a_formula_put_right_holds(name):
    before, after = audited(ENTRIES[name])[0], audited(without_slips(ENTRIES[name]))[0]
    assert (before.printed, after.printed) == (Printed.REFUTED, Printed.HOLDS)
    assert before.counterexample is not None
    assert after.counterexample is None
    assert (before.flaws, after.flaws) == ([], [])


def test_a_formula_put_right_contradicts_its_slip():
    entry = ENTRIES["B.6.ratio"]
    readings = [replace(one, printed=one.due) for one in entry.readings]
    (found,) = audited(replace(entry, readings=readings))
    assert found.printed is Printed.HOLDS
    assert all("entered as a slip, but holds" in flaw for flaw in found.flaws)
    assert len(found.flaws) == 2
    assert found.verdict is Verdict.UNKNOWN


def test_a_formula_put_wrong_is_refuted_and_said_to_have_no_slip():
    entry = ENTRIES["B.1.ratio"]
    (one,) = entry.readings
    wrong = replace(one, printed=lambda x, **case: one.printed(x, **case) + 1)
    (found,) = audited(replace(entry, readings=[wrong]))
    assert found.printed is Printed.REFUTED
    assert "no slip is entered" in found.flaws[0]
    assert found.affects is Affects.STATEMENT


def test_evidence_that_fails_takes_the_verdict_with_it():
    entry = ENTRIES["B.1.ratio"]
    (sound,) = audited(entry)
    (broken,) = audited(replace(entry, evidence=[checked("broken", FAILED)]))
    assert (sound.printed, sound.verdict) == (Printed.HOLDS, Verdict.PROVED)
    assert (broken.printed, broken.verdict) == (Printed.NOT_CHECKABLE, Verdict.UNKNOWN)
    assert "fails at N = 1" in broken.flaws[0]


def test_weaker_evidence_gives_a_weaker_verdict():
    entry = ENTRIES["B.1.ratio"]
    (found,) = audited(replace(entry, evidence=[*entry.evidence, checked("bounded", HELD)]))
    assert (found.printed, found.verdict) == (Printed.HOLDS, Verdict.PROVED_BOUNDED)
    assert audited(replace(entry, evidence=[]))[0].verdict is Verdict.PROVED_BOUNDED
    supporting = replace(checked("supporting", HELD), supports=True)
    assert audited(replace(entry, evidence=[*entry.evidence, supporting]))[0].verdict is Verdict.PROVED


def test_a_failing_dependency_of_the_evidence_is_a_flaw():
    entry = ENTRIES["§1.2.tight"]
    assert audited(entry)[0].rests_on == ["§1.2.tight/attention-is-hard"]
    leaning = replace(checked("leaning", HELD), depends_on=["Theorem 5.1/monotone-product"])
    (found,) = audited(Entry("x", "something", evidence=[leaning]))
    assert [r.subject.id for r in found.below if r.subject.id not in {s.subject.id for s in found.evidence}] == [
        "Theorem 5.1/monotone-product"
    ]


def test_a_part_s_failure_is_the_whole_s_unless_it_is_one_of_print():
    part = Entry(
        "part",
        "something",
        [reading(lambda x, n: n, lambda x, n: 2, slip=Slip("it is n", Affects.PROOF))],
        repair="2",
        evidence=[checked("two", HELD)],
    )
    whole = Entry("whole", "something", parts=["part"], repair="2")
    _, failing = audited(part, whole)
    assert (failing.printed, failing.affects) == (Printed.REFUTED, Affects.PROOF)
    assert failing.counterexample.case == {"n": 1}
    of_print = replace(part, readings=[replace(part.readings[0], slip=SLIP)])
    assert audited(of_print, whole)[1].printed is Printed.HOLDS
    right = replace(part, readings=[reading(lambda x, n: n, lambda x, n: n)], repair="")
    assert audited(right, replace(whole, repair=""))[1].printed is Printed.HOLDS


def test_a_whole_without_all_its_parts_is_open():
    (found,) = audited(Entry("whole", "something", parts=["C.9.nowhere"]))
    assert (found.printed, found.verdict, found.missing) == (Printed.NOT_CHECKABLE, Verdict.ASSUMED, ["C.9.nowhere"])


def test_a_counterexample_that_floats_do_not_confirm_refutes_nothing():
    base = reading(lambda x, n: int(x.base == 2), lambda x, n: 0, slip=SLIP)
    (found,) = audited(Entry("x", "something", [base], repair="none", evidence=[checked("c", HELD)]))
    assert found.printed is not Printed.REFUTED
    assert any("floats say otherwise" in flaw for flaw in found.flaws)


def test_a_remark_that_fails_is_a_flaw():
    (found,) = audited(replace(ENTRIES["§1.1.a"], remarks=[reading(lambda x, n: n, lambda x, n: 1)]))
    assert "the remark 'something' fails at n = 2: 2 ≠ 1" in found.flaws


# what an entry must have


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"restatement": ""},
        {"not_checkable": "a definition", "readings": [reading(lambda x, n: n, lambda x, n: n)]},
        {"readings": [reading(lambda x, n: n, lambda x, n: 2, slip=SLIP)]},
        {"readings": [reading(lambda x, n: n, lambda x, n: 2, slip=SLIP)], "repair": "2"},
        {"not_checkable": "a definition", "remarks": [reading(lambda x, n: n, lambda x, n: 2, slip=SLIP)]},
    ],
)
def test_an_entry_that_is_not_well_formed_is_refused(arguments):
    with pytest.raises(AuditError):
        Entry("x", **({"restatement": "something"} | arguments))


def test_evidence_that_is_not_there_is_refused():
    with pytest.raises(AuditError, match=r"x names evidence that is not there: Lemma 9\.9/nothing"):
        audited(Entry("x", "something", evidence=["Lemma 9.9/nothing"]))


def test_readings_without_cases_or_without_a_due_value_are_refused():
    with pytest.raises(AuditError, match="no cases"):
        evaluate(replace(reading(lambda x, n: n, lambda x, n: n), cases=[]))
    with pytest.raises(AuditError, match="no value"):
        evaluate(reading(lambda x, n: n, lambda x, n: 1 / 0))


# readings


@pytest.mark.parametrize(
    ("relation", "holds"), [("=", False), ("!=", True), ("<=", True), ("<", True), (">=", False), (">", False)]
)
def test_relations(relation, holds):
    assert evaluate(reading(lambda x, n: x.number(n), lambda x, n: x.number(n + 1), relation)).holds is holds


def test_no_value_equals_nothing():
    found = evaluate(reading(lambda x, n: x.number(n) / 0, lambda x, n: 1))
    assert not found.holds
    assert isinstance(found.printed, Undefined)
    assert found.floats_agree


def test_both_arithmetics_do_attention():
    """Against NumPy's own softmax, the base being e, and by hand with the base 2."""
    rng = np.random.default_rng(3)
    Q, K, V = rng.normal(size=(3, 4, 2))
    weights = np.exp(Q @ K.T)
    due = weights @ V / weights.sum(axis=1, keepdims=True)
    got = FLOATS.call(*(FLOATS.array(m) for m in (Q, K, V))).astype(float)
    np.testing.assert_allclose(got, due, rtol=1e-12)
    column = EXACT.array([[0], [1]])
    assert EXACT.call(column, column, column)[:, 0].tolist() == [Fraction(1, 2), Fraction(2, 3)]
    assert EXACT.call(column, column, column, causal=True)[0, 0] == 0


# names and records


@pytest.mark.parametrize(
    ("name", "found"),
    [("Lemma 3.1", "Lemma 3.1 / B.1"), ("b_1", "Lemma 3.1 / B.1"), ("§1.1.a", "§1.1.a"), ("b.5.SPLIT", "B.5.split")],
)
def test_items_are_found_in_any_spelling(name, found):
    assert [entry.id for entry in ledger.select([name])] == [found]


def test_unknown_items_are_refused():
    with pytest.raises(InputError, match=r"no item 'B\.9'"):
        ledger.select(["B.9"])


def test_a_record_says_what_was_computed():
    (found,) = audited(ENTRIES["B.6.ratio"])
    row = record(found)
    assert (row["printed"], row["affects"], row["verdict"]) == ("refuted", "nothing", "proved-bounded")
    assert row["counterexample"]["at"] == "a = (1, 1), i = 2"
    assert (row["counterexample"]["printed"], row["counterexample"]["due"]) == ("1/3", "1/2")
    assert {one["id"]: one["verdict"] for one in row["evidence"]} == {
        "B.6.ratio/never-equal": "proved",
        "Claim B.6/prefix-runs": "proved-bounded",
    }
