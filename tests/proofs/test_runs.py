"""Runs: the cache, worker processes, taint, and what is written down."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from functools import partial
from xml.etree import ElementTree as ET

import pytest
import z3

from proofs import solvers
from proofs.answers import Answers
from proofs.cache import Cache, CacheError
from proofs.claims import DependencyError
from proofs.evidence import ExactCases, FloatTest
from proofs.mutation import replay_of
from proofs.obligation import Assumption, Check, Hypothesis, Kind, Mutant, Obligation
from proofs.records import junit
from proofs.registry import select
from proofs.runner import verify
from proofs.solvers import Engine, Limits
from proofs.verdicts import Verdict
from proofs.workers import Ended, Task, run_tasks
from twoheads.errors import InputError

x, y = z3.Reals("x y")


def obligation(name="square", item="Test", **changes):
    hypotheses = [Hypothesis("big", x > 1)]
    valid = Obligation(
        item, name, Kind.ANALYSIS, "all x > 1", hypotheses, x * x > x, "squares of big numbers are bigger"
    )
    return replace(valid, **changes)


def worst_case(worst):
    return FloatTest("N = 1", 1, worst, 1e-9)


def check(name="floats", worst=1e-12, **changes):
    found = Check("Test", name, Kind.NUMERIC, "N = 1", "it is near", partial(worst_case, worst))
    return replace(found, **changes)


# --- the cache


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "answers")


@pytest.fixture
def asked(monkeypatch):
    """Counts the texts that reach a solver."""
    texts = []
    for name, engine in list(solvers.ENGINES.items()):

        def answered(text, limits, engine=engine):
            texts.append(text)
            return engine.answer(text, limits)

        monkeypatch.setitem(solvers.ENGINES, name, Engine(engine.version, answered))
    return texts


def entries(cache):
    return sorted(path for path in cache.folder.rglob("*.json"))


def test_a_second_run_asks_nothing_and_says_the_same(cache, asked):
    first = verify([obligation()], Answers(cache=cache)).records()
    count = len(asked)
    assert count == len(entries(cache)) > 0
    assert verify([obligation()], Answers(cache=cache)).records() == first
    assert len(asked) == count


def test_fresh_asks_everything_again(cache, asked):
    verify([obligation()], Answers(cache=cache))
    count = len(asked)
    verify([obligation()], Answers(cache=cache, fresh=True))
    assert len(asked) == 2 * count


def test_other_limits_are_another_question(cache, asked):
    verify([obligation()], Answers(cache=cache))
    count = len(asked)
    verify([obligation()], Answers(cache=cache, limits=Limits(z3=4_000_000, cvc5=500_000)))
    assert len(asked) == 2 * count


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace('"unsat"', '"sat"'),
        lambda text: text.replace('"sat"', '"unsat"'),
        lambda text: text[: len(text) // 2],
        lambda text: "[]",
        lambda text: text.replace('"seconds"', '"Seconds"', 1),
    ],
)
def test_a_corrupted_entry_fails_the_run(cache, damage):
    verify([obligation()], Answers(cache=cache))
    for path in entries(cache):
        path.write_text(damage(path.read_text()))
    with pytest.raises(CacheError, match=r"damaged.*--fresh"):
        verify([obligation()], Answers(cache=cache))
    assert verify([obligation()], Answers(cache=cache, fresh=True)).passed


def test_an_entry_moved_to_another_question_fails_the_run(cache):
    verify([obligation(), obligation("other", goal=x * x > 1)], Answers(cache=cache))
    proofs = [path for path in entries(cache) if json.loads(path.read_text())["answer"]["says"] == "unsat"]
    one, other = [path for path in proofs if path.name.startswith("z3")]
    other.write_bytes(one.read_bytes())
    with pytest.raises(CacheError, match="digest"):
        verify([obligation(), obligation("other", goal=x * x > 1)], Answers(cache=cache))


def test_after_an_upgrade_answers_are_obsolete_until_asked_again(cache, monkeypatch):
    verify([obligation()], Answers(cache=cache))
    engine = solvers.ENGINES["z3"]
    newer = Engine(lambda: "99.0", lambda text, limits: replace(engine.answer(text, limits), version="99.0"))
    monkeypatch.setitem(solvers.ENGINES, "z3", newer)
    run = verify([obligation()], Answers(cache=cache))
    assert not run.passed
    assert run.results[0].reason == f"z3: obsolete: unsat by version {engine.version()}"
    assert verify([obligation()], Answers(cache=cache, fresh=True)).passed
    again = verify([obligation()], Answers(cache=cache))
    assert again.passed
    assert again.results[0].answers["z3"].version == "99.0"


def test_evidence_is_kept_as_long_as_the_code_is_the_same(cache, monkeypatch):
    assert verify([check()], Answers(cache=cache)).passed
    assert verify([check(worst=1.0)], Answers(cache=cache)).passed  # same name and code: not run again
    assert not verify([check(worst=1.0)], Answers(cache=cache, fresh=True)).passed
    monkeypatch.setattr("proofs.answers._code_digest", lambda: "other code")
    assert verify([check()], Answers(cache=cache)).passed


# --- worker processes


def test_workers_give_every_result_with_its_number():
    assert dict(run_tasks([partial(pow, 2, k) for k in range(9)], 2, 60)) == {k: 2**k for k in range(9)}
    assert list(run_tasks([], 2, 60)) == []


def test_a_task_that_hangs_or_crashes_costs_only_itself():
    tasks: list[Task] = [partial(time.sleep, 600), partial(os._exit, 3), partial(pow, 2, 3)]
    assert dict(run_tasks(tasks, 1, 5)) == {0: Ended("wall-clock limit"), 1: Ended("the process crashed"), 2: 8}


def test_an_error_in_a_worker_is_an_error_of_the_run():
    with pytest.raises(ZeroDivisionError):
        list(run_tasks([partial(divmod, 1, 0)], 1, 60))


def test_workers_and_this_process_find_the_same():
    subjects = [obligation(), check()]
    here, there = (verify(subjects, Answers(jobs=jobs)) for jobs in (0, 2))
    assert here.passed
    assert there.passed
    assert [r.verdict for r in here.results] == [r.verdict for r in there.results]


def test_a_check_that_was_ended_is_unknown(monkeypatch):
    monkeypatch.setattr("proofs.answers._CHECK_SECONDS", 2)
    run = verify([check(run=partial(time.sleep, 600))], Answers(jobs=1))
    assert (run.results[0].verdict, run.results[0].reason, run.passed) == (Verdict.UNKNOWN, "wall-clock limit", False)


# --- claims


CITED = Assumption("Cited", "hoeffding", "a bound", "Hoeffding 1963")


def status(subjects, item="Test"):
    return verify(subjects).claims[item]


def test_a_claim_is_as_strong_as_the_weakest_thing_it_needs():
    assert status([obligation()]).verdict is Verdict.PROVED
    both = status([obligation(), obligation("small", bounded=True)])
    assert (both.verdict, both.weakest) == (Verdict.PROVED_BOUNDED, ("Test/small",))
    assert status([obligation(), check()]).verdict is Verdict.PROVED  # floats only support a proof
    assert status([obligation(), check(supports=False)]).verdict is Verdict.TESTED
    assert status([check()]).verdict is Verdict.TESTED


def test_weakness_is_inherited_through_other_items():
    below = obligation("below", "Other", bounded=True)
    above = obligation(depends_on=["Other"])
    assert status([above, below]).verdict is Verdict.PROVED_BOUNDED
    assert status([above, below], "Other").verdict is Verdict.PROVED_BOUNDED


def test_an_assumption_taints_transitively():
    chain = [
        obligation(depends_on=["Other/middle"]),
        obligation("middle", "Other", depends_on=["Cited/hoeffding"]),
        obligation("clean", "Third"),
        CITED,
    ]
    claims = verify(chain).claims
    assert claims["Test"].rests_on == claims["Other"].rests_on == ("Cited/hoeffding",)
    assert claims["Third"].rests_on == ()
    assert claims["Test"].verdict is Verdict.PROVED
    assert claims["Cited"].verdict is Verdict.ASSUMED
    record = verify(chain).records()[0]
    assert record["rests_on"] == ["Cited/hoeffding"]


@pytest.mark.parametrize("failing", [check(worst=1.0), obligation("false", goal=x > 2, supports=True)])
def test_contradicting_evidence_is_a_status_of_its_own(failing):
    claim = status([obligation(), failing])
    assert (claim.verdict, claim.failed) == (Verdict.UNKNOWN, (failing.id,))


def test_a_failure_below_is_inherited():
    broken = obligation("broken", "Other", goal=x > 2)
    claim = status([obligation(depends_on=["Other/broken"]), broken])
    assert claim.verdict is Verdict.REFUTED
    assert claim.failed == ("Other/broken",)


def test_a_surviving_mutant_unproves_the_claim():
    mutant = Mutant("idle", "nothing", replay_of(x, x), goal=x * x > 1)
    assert status([obligation(mutants=[mutant])]).verdict is Verdict.UNKNOWN


def test_a_refuted_statement_that_should_be_does_not_weaken_the_claim():
    known = obligation("printed", goal=x > 2, refutable=True, replay=replay_of(x, 2 + 0 * x - 1))
    assert status([obligation(), known]).verdict is Verdict.PROVED


def test_dependencies_may_be_mutual_but_not_missing():
    pair = [obligation("base", depends_on=["Test/step"]), obligation("step", depends_on=["Test/base"])]
    assert status(pair).verdict is Verdict.PROVED
    with pytest.raises(DependencyError, match="no result"):
        verify([obligation(depends_on=["Test/forgotten"])])


# --- what is written down


def test_every_row_has_the_promised_keys(tmp_path):
    mutant = Mutant("false", "too strong", replay_of(x * x, x * x - 2), goal=x * x > 2)
    run = verify([obligation(mutants=[mutant]), check(), CITED], texts=tmp_path)
    rows = json.loads(json.dumps(run.records()))
    promised = {"item", "name", "kind", "scope", "verdict", "solvers", "smtlib", "mutants"}
    assert all(promised <= row.keys() for row in rows)
    assert rows[0]["mutants"]["killed"] == rows[0]["mutants"]["total"] == 1
    assert {"version", "answer", "seconds"} <= rows[0]["solvers"]["cvc5"].keys()
    assert run.decided_by_one == []


def test_the_texts_are_those_that_were_asked_and_no_others(tmp_path):
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "old.proof.smt2").write_text("(check-sat)")
    run = verify([obligation()], texts=tmp_path)
    names = {path.name for path in tmp_path.rglob("*.smt2")}
    assert names == {f"square.{role}.smt2" for role in ("proof", "hypotheses", "smoke", "goal")}
    for solver in solvers.ENGINES:
        text = (tmp_path / "test" / "square.proof.smt2").read_text()
        assert solvers.ask(solver, text, Limits()).says == "unsat"
    assert run.records()[0]["smtlib"].endswith("square.proof.smt2")


def test_goals_that_one_solver_decides_are_listed():
    run = verify([obligation(required=("z3",))], Answers(solvers=["z3"]))
    assert run.decided_by_one == ["Test/square"]


def test_junit_counts_failures():
    suite = ET.fromstring(junit(verify([obligation(), obligation("false", goal=x > 2)]).records()))
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    (failure,) = suite.iterfind("testcase[@name='false']/failure")
    assert failure.attrib["message"].startswith("refuted")


def test_a_run_of_nothing_does_not_pass():
    assert not verify([]).passed


def test_items_are_found_by_any_of_their_names():
    by_item = [s.id for s in select(["Lemma 3.1"])]
    assert by_item == [s.id for s in select(["lemma_3_1"])]
    assert "Lemma 3.1/recovery-stable" in by_item
    with_all_below = {s.id for s in select(["Lemma 3.1/quotient"])}
    assert {"Lemma 3.1/quotient", "Lemma 3.1/sums-step", "Lemma 3.1/well-defined-call"} <= with_all_below
    assert "Lemma 3.1/count-bound" not in with_all_below
    with pytest.raises(InputError, match="choose from"):
        select(["Lemma 9.9"])


def test_exact_cases_are_bounded():
    found = Check("Test", "cases", Kind.BOUNDED, "N <= 3", "it holds", partial(ExactCases, "N <= 3", "counting", 3))
    assert verify([found]).results[0].verdict is Verdict.PROVED_BOUNDED
