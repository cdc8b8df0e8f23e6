"""`twoheads audit`: its records, its story of one item, its errata, and how it ends."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proofs.audit import ledger
from proofs.audit.paper_ids import PAPER_IDS
from reports.auditing import consistent, errata

CONTRACT = {"id", "printed", "affects", "verdict", "finding", "repair", "counterexample", "evidence"}
QUICK = ("B.6.ratio", "§1.1.b", "B.5.goal", "Lemma A.1", "§1.2.tight")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def audit(twoheads, *arguments):
    return twoheads("audit", "--jobs", 1, *arguments)


def test_json_holds_what_scripts_rely_on(twoheads):
    ran = audit(twoheads, *QUICK, "--json")
    assert ran.code == 0
    assert [row["id"] for row in ran.json] == [name for name in PAPER_IDS if name in QUICK]
    for row in ran.json:
        assert row.keys() >= CONTRACT
        assert row["printed"] in {"holds", "refuted", "not-checkable"}
        assert row["affects"] in {"nothing", "proof", "statement"}
        assert (
            (row["printed"] == "refuted") == bool(row["finding"]) == bool(row["counterexample"]) == bool(row["repair"])
        )
    by_id = {row["id"]: row for row in ran.json}
    assert by_id["§1.1.b"]["not_checkable"]
    assert by_id["Lemma A.1"]["as_extracted"]
    assert by_id["§1.2.tight"]["rests_on"] == ["§1.2.tight/attention-is-hard"]


def test_several_items_are_a_table(twoheads):
    ran = audit(twoheads, *QUICK)
    assert ran.code == 0
    assert "5 items: 1 hold as printed, 3 are refuted, 1 cannot be checked." in ran.out
    assert "As extracted." in ran.out


def test_one_item_is_told_in_full(twoheads):
    out = audit(twoheads, "b.6.ratio").out
    for text in (
        "1/3",
        "1/2 is due",
        "in floats 0.333333 and 0.5",
        "B.6.ratio/never-equal: proved",
        "i - 1",
        "See also",
        "Coq: B_6_ratio_as_printed_is_wrong, not re-checked here",
    ):
        assert text in out
    assert out.endswith("Reproduce: twoheads audit 'B.6.ratio'\n")


def test_unknown_items_are_refused_in_one_line(twoheads):
    assert "no item 'B.99'" in audit(twoheads, "B.99").refusal
    assert "exclude each other" in audit(twoheads, "--errata", "--json").refusal


def test_an_entry_that_contradicts_what_ran_fails_the_command(twoheads, monkeypatch):
    entry = ledger.entries()["B.6.ratio"]
    wrong = replace(entry, readings=[replace(one, printed=one.due) for one in entry.readings])
    monkeypatch.setattr(ledger, "entries", lambda: {entry.id: wrong})
    ran = audit(twoheads, "B.6.ratio", "--json")
    assert ran.code == 1
    assert ran.json[0]["flaws"]
    assert "entered as a slip, but holds" in audit(twoheads, "B.6.ratio").out


def test_an_entry_that_is_not_well_formed_fails_the_command(twoheads, monkeypatch):
    entry = replace(ledger.entries()["B.6.ratio"], evidence=["Lemma 9.9/nothing"])
    monkeypatch.setattr(ledger, "entries", lambda: {entry.id: entry})
    ran = audit(twoheads, "B.6.ratio")
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (1, "", 1)


def test_errata_are_sorted_by_how_much_they_matter(twoheads):
    ran = audit(twoheads, "--errata", *QUICK, "3.3.sketch")
    assert ran.code == 0
    found = [line.split("**")[1] for line in ran.out.splitlines() if line.startswith("**")]
    assert found == ["§1.2.tight.", "3.3.sketch.", "Lemma A.1.", "B.6.ratio."]
    for line in ran.out.splitlines():
        if line.startswith("**"):
            assert line.count("Reproduce: `twoheads audit '") == 1


def test_errata_of_nothing():
    assert "None of the items" in errata([])
    assert not consistent([])
