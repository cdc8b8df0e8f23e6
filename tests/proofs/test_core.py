"""The core: what earns a verdict, and that nothing else does."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from fractions import Fraction

import pytest
import z3

from proofs import solvers
from proofs.answers import Answers
from proofs.core import ForgedResultError, Result
from proofs.mutation import replay_of
from proofs.obligation import Assumption, Difference, Hypothesis, Kind, Mutant, Obligation, ObligationError
from proofs.runner import verify
from proofs.solvers import Answer, Engine
from proofs.verdicts import Verdict

x, y = z3.Reals("x y")
POSITIVE = Hypothesis("positive", x > 0)
BELOW = Hypothesis("below", y < 0)


def obligation(**changes):
    parts = {
        "item": "Test",
        "name": "sign",
        "kind": Kind.ANALYSIS,
        "scope": "all x > 0 and y < 0",
        "hypotheses": [POSITIVE, BELOW],
        "goal": x * y < 0,
        "proves": "the product of opposite signs is negative",
    }
    return Obligation(**(parts | changes))


def judged(subject, answers=None):
    (result,) = verify([subject], answers).results
    return result


@pytest.fixture
def lying(monkeypatch):
    """Replace one solver's answer to the texts that `where` picks."""

    def lie(solver, where=lambda text: True, **answer):
        honest = solvers.ENGINES[solver]

        def answered(text, limits):
            said = honest.answer(text, limits)
            return replace(said, **answer) if where(text) else said

        monkeypatch.setitem(solvers.ENGINES, solver, Engine(honest.version, answered))

    return lie


def is_proof(text):
    return text.startswith("; ")  # only the proof's own text has words on top


def test_a_valid_statement_is_proved_by_both_solvers():
    result = judged(obligation())
    assert result.passed
    assert result.verdict is Verdict.PROVED
    assert {name: answer.says for name, answer in result.answers.items()} == {"z3": "unsat", "cvc5": "unsat"}
    assert all(answer.resources > 0 and answer.version for answer in result.answers.values())


def test_a_bounded_statement_says_so():
    assert judged(obligation(bounded=True)).verdict is Verdict.PROVED_BOUNDED


def test_a_false_statement_is_refuted_with_an_exact_counterexample():
    result = judged(obligation(goal=x + y > 0))
    assert not result.passed
    assert result.verdict is Verdict.REFUTED
    assert result.witness["x"] > 0 > result.witness["y"]
    assert result.witness["x"] + result.witness["y"] <= 0


def test_a_refutable_statement_passes_by_being_refuted_and_replayed():
    known_false = obligation(goal=x + y > 0, refutable=True, replay=replay_of(x, x + y))
    result = judged(known_false)
    assert result.passed
    assert result.difference.exact == result.witness["y"]
    assert not judged(replace(known_false, goal=x * y < 0)).passed


def test_an_irrational_counterexample_is_moved_to_a_rational_one():
    result = judged(
        obligation(hypotheses=[Hypothesis("square", z3.And(x * x > 2, x > 0, x * x < 3))], goal=x * x * x < 3)
    )
    assert result.verdict is Verdict.REFUTED
    assert all(isinstance(value, Fraction) for value in result.witness.values())


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
@pytest.mark.parametrize("says", ["sat", "unknown"])
def test_replacing_one_answer_fails_the_run(lying, solver, says):
    lying(solver, is_proof, says=says, reason="resource limit" if says == "unknown" else "")
    result = judged(obligation())
    assert not result.passed
    assert result.verdict is Verdict.UNKNOWN
    assert ("disagreement" if says == "sat" else f"{solver}: resource limit") in result.reason


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_a_false_unsat_of_one_solver_fails_the_run(lying, solver):
    lying(solver, says="unsat", model=None)
    assert not judged(obligation(goal=x + y > 0)).passed
    assert not judged(obligation()).passed  # it has no model of the hypotheses either, which is contradicted


def test_a_made_up_counterexample_is_not_believed(lying):
    for solver in solvers.ENGINES:
        lying(solver, is_proof, says="sat", model={"x": "1", "y": "-1"})
    result = judged(obligation())
    assert result.verdict is Verdict.UNKNOWN
    assert "does not confirm" in result.reason


def test_a_contradictory_hypothesis_fails_the_run():
    result = judged(obligation(hypotheses=[POSITIVE, BELOW, Hypothesis("absurd", x < y)]))
    assert not result.passed
    assert "contradictory hypotheses" in result.reason


@pytest.mark.parametrize(
    "goal",
    [z3.BoolVal(True), z3.Or(x > 0, x <= 0), z3.RealVal(1) > 0, x * x + y * y >= 0, z3.Or(x * y < 0, x * y >= 0)],
)
def test_a_goal_weakened_to_a_tautology_fails_the_run(goal):
    result = judged(obligation(goal=goal))
    assert not result.passed
    assert "trivial goal" in result.reason


def test_an_identity_may_be_unconditional_if_it_says_so():
    assert judged(obligation(hypotheses=[], goal=x * x + y * y >= 2 * x * y, unconditional=True)).passed
    assert "unconditional" in judged(obligation(hypotheses=[], goal=x * x + y * y >= 2 * x * y)).reason


def test_hypotheses_met_only_by_a_division_by_zero_are_not_met():
    undefined = [POSITIVE, Hypothesis("inverse", 1 / y == 2), Hypothesis("zero", y == 0)]
    result = judged(obligation(hypotheses=undefined, goal=x + 1 / y > 2))
    assert not result.passed
    assert "contradictory hypotheses" in result.reason


def test_a_solver_that_was_not_asked_is_missed():
    result = judged(obligation(), Answers(solvers=["z3"]))
    assert not result.passed
    assert result.reason == "cvc5: not asked"
    assert judged(obligation(required=("z3",)), Answers(solvers=["z3"])).passed


def test_what_was_not_gathered_is_not_proved():
    assert Result(obligation(), Answers()).verdict is Verdict.UNKNOWN


def test_each_hypothesis_is_needed_or_not():
    result = judged(obligation(hypotheses=[POSITIVE, BELOW, Hypothesis("idle", y < 100)]))
    table = {name: status for name, status, _ in result.hypotheses}
    assert table == {"positive": "needed", "below": "needed", "idle": "not needed"}


def mutated(**parts):
    mutant = {"name": "sum", "flaw": "plus for times", "replay": replay_of(x, x + y), "goal": x + y < 0}
    return obligation(mutants=[Mutant(**(mutant | parts))])


def test_a_mutant_is_killed_by_a_witness_that_shows_a_difference():
    result = judged(mutated())
    (outcome,) = result.mutants
    assert (outcome.fate, result.passed) == ("killed", True)
    assert outcome.difference.exact == outcome.witness["y"] != 0


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"goal": x * y < 1}, "unsat"),
        ({"replay": replay_of(x, x)}, "no exact difference"),
        ({"replay": lambda witness: Difference(Fraction(1), 2.0)}, "the float replay gives 2.0"),
        ({"replay": lambda witness: Difference(Fraction(1), float("nan"))}, "the float replay gives nan"),
        ({"replay": replay_of(x, x / (y - y))}, "no value"),
    ],
)
def test_a_mutant_without_a_real_difference_survives_and_fails_the_run(parts, reason):
    result = judged(mutated(**parts))
    (outcome,) = result.mutants
    assert (outcome.fate, result.passed, result.verdict) == ("survived", False, Verdict.PROVED)
    assert reason in outcome.reason


TWICE = obligation(name="twice", hypotheses=[], goal=(2 * x * y < 0) == (x * y < 0), unconditional=True)


def test_an_equivalent_mutant_is_shown_to_be_one():
    result = judged(mutated(goal=2 * x * y < 0, equivalent_because=TWICE))
    assert [m.fate for m in result.mutants] == ["equivalent"]
    assert result.passed


@pytest.mark.parametrize(
    ("goal", "because"),
    [
        pytest.param(2 * x * y < 0, None, id="no argument"),
        pytest.param(2 * x * y < 0, replace(TWICE, goal=(x < 0) == (x + 0 < 0)), id="an argument that says nothing"),
        pytest.param(2 * x * y < 0, replace(TWICE, goal=x * y < 0), id="a false argument"),
        pytest.param(x + y < 0, TWICE, id="a true argument about something else"),
    ],
)
def test_a_mutant_is_not_equivalent_without_a_proof(goal, because):
    result = judged(mutated(goal=goal, replay=replay_of(x, x), equivalent_because=because))
    assert [m.fate for m in result.mutants] == ["survived"]
    assert not result.passed


def test_no_result_without_a_check():
    answers = Answers()
    with pytest.raises(TypeError):
        Result(obligation(), answers, Verdict.PROVED)
    with pytest.raises(ForgedResultError, match="answers of a run"):
        Result(obligation(), {"proof": Answer("z3", "5", "unsat")})
    with pytest.raises(ForgedResultError, match="nothing that could be judged"):
        Result("Lemma 3.1", answers)
    with pytest.raises(ForgedResultError, match="subclassed"):
        type("Forged", (Result,), {"verdict": Verdict.PROVED})
    with pytest.raises(ForgedResultError, match="not made by a check"):
        _ = object.__new__(Result).verdict
    with pytest.raises(ForgedResultError, match="cannot be changed"):
        Result.verdict = Verdict.PROVED
    assert not [name for name in vars(Answers) if name in {"put", "add", "set", "update"}]


def test_no_result_is_changed_or_copied():
    result = judged(obligation(goal=x + y > 0))
    for name in ("verdict", "passed", "reason"):
        with pytest.raises(AttributeError):
            setattr(result, name, Verdict.PROVED)
        with pytest.raises(AttributeError):
            object.__setattr__(result, name, Verdict.PROVED)
    with pytest.raises(ForgedResultError, match="once"):
        result.__init__(obligation(), Answers())
    for way in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(ForgedResultError, match="cannot be copied"):
            way(result)
    assert result.verdict is Verdict.REFUTED


def test_an_assumption_is_assumed():
    result = judged(Assumption("Test", "cited", "what Hoeffding proved", "Hoeffding 1963"))
    assert (result.verdict, result.passed) == (Verdict.ASSUMED, True)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "Not a slug"}, "not a slug"),
        ({"hypotheses": [POSITIVE, POSITIVE]}, "twice"),
        ({"goal": x + y}, "not a Z3 formula"),
        ({"scope": ""}, "must say something"),
        ({"refutable": True}, "needs a replay"),
        ({"mutants": [Mutant("idle", "none", replay_of(x, y))]}, "changes nothing"),
        ({"mutants": [Mutant("far", "none", replay_of(x, y), changed=[Hypothesis("other", x > 0)])]}, "no hypotheses"),
    ],
)
def test_a_malformed_obligation_is_refused(changes, message):
    with pytest.raises(ObligationError, match=message):
        obligation(**changes)
