"""`twoheads verify`: what it prints, how it ends, and what a run without one solver or with a bad cache does."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from proofs.registry import all_subjects
from reports.progress import Progress
from reports.proving import ANSWERS, TEXTS, prove

ONE = "Lemma 3.1/unique-division"

CONTRACT = {"item", "name", "kind", "scope", "verdict", "solvers", "smtlib", "mutants"}


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def verify(twoheads, *arguments):
    return twoheads("verify", ONE, "--jobs", 1, *arguments)


def test_json_holds_what_scripts_rely_on(twoheads):
    ran = verify(twoheads, "--json")
    assert ran.code == 0
    (row,) = ran.json
    assert row.keys() >= CONTRACT
    assert (row["item"], row["name"], row["verdict"]) == ("Lemma 3.1", "unique-division", "proved")
    assert {name: answer["answer"] for name, answer in row["solvers"].items()} == {"z3": "unsat", "cvc5": "unsat"}
    assert row["mutants"]["killed"] == row["mutants"]["total"] >= 1
    assert "(check-sat)" in Path(row["smtlib"]).read_text(encoding="utf-8")


def test_the_table_names_the_obligation_and_its_verdict(twoheads):
    ran = verify(twoheads)
    assert ran.code == 0
    assert "unique-division" in ran.out
    assert "proved" in ran.out
    assert "1 of 1 statement passed" in ran.out
    assert ran.err == ""


def test_a_claim_of_which_only_a_part_was_asked_is_not_called_proved(twoheads):
    assert len([s for s in all_subjects().values() if s.item == "Lemma 3.1"]) > 1
    out = verify(twoheads).out
    assert "Lemma 3.1, in part" in out
    assert "Lemma 3.1: proved" not in out


def test_a_solver_that_was_left_out_is_a_failed_check(twoheads):
    ran = verify(twoheads, "--solver", "z3", "--json")
    assert ran.code == 1
    (row,) = ran.json
    assert row["verdict"] == "unknown"
    assert "cvc5: not asked" in row["reason"]
    assert verify(twoheads, "--solver", "z3", "--solver", "cvc5", "--json").code == 0


def test_a_damaged_answer_fails_the_run_until_it_is_asked_afresh(twoheads):
    assert verify(twoheads).code == 0
    for entry in ANSWERS.rglob("z3-*.json"):
        entry.write_text(entry.read_text(encoding="utf-8").replace("unsat", "sat"), encoding="utf-8")
    ran = verify(twoheads)
    assert ran.code == 1
    assert ran.out == ""
    assert len(ran.err.splitlines()) == 1
    assert "damaged" in ran.err
    assert verify(twoheads, "--fresh").code == 0


def test_junit(twoheads, tmp_path):
    assert verify(twoheads, "--junit", tmp_path / "checks.xml").code == 0
    suite = ET.parse(tmp_path / "checks.xml").getroot()
    assert [(case.get("classname"), case.get("name")) for case in suite] == [("Lemma 3.1", "unique-division")]
    assert verify(twoheads, "--solver", "z3", "--junit", tmp_path / "checks.xml").code == 1
    (case,) = ET.parse(tmp_path / "checks.xml").getroot()
    assert [child.tag for child in case] == ["failure"]


@pytest.mark.parametrize("arguments", [["Lemma 99"], ["--solver", "oracle"], ["--jobs", "0"]])
def test_bad_usage(twoheads, arguments):
    assert twoheads("verify", *arguments).refusal


def test_a_target_that_cannot_be_written(twoheads, tmp_path):
    assert "cannot write" in twoheads("verify", ONE, "--junit", tmp_path).refusal
    Path("build").write_text("in the way", encoding="utf-8")
    assert "cannot write into" in verify(twoheads).refusal


def test_progress_is_told_how_far_the_run_is():
    class Heard(Progress):
        def __init__(self):
            super().__init__()
            self.steps = []

        def of(self, done, total):
            self.steps.append((done, total))

    heard = Heard()
    run = prove([ONE], heard, TEXTS, jobs=1, fresh=True)
    assert run.passed
    assert heard.steps[-1][0] == heard.steps[-1][1] > 0
