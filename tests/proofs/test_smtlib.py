"""The canonical text: the same for the same formula, and read the same way by both solvers."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from proofs.exact import NotEvaluable, evaluate, holds, parse_witness
from proofs.obligation import Obligation
from proofs.questions import questions_of
from proofs.registry import all_subjects
from proofs.smtlib import digest_of, numeral, script
from proofs.solvers import ENGINES, Limits, SolverError, ask
from proofs.terms import PortabilityError, graph_of, logic_of

x, y = z3.Reals("x y")
n, k = z3.Ints("n k")
p = z3.Bool("p")

EXPECTED = """\
; words
(set-logic QF_NRA)
(declare-const x Real)
(declare-const y Real)
(define-fun shared!1 () Real (* x x))
(assert (! (> (+ shared!1 (/ 1.0 3.0)) (- 2.0)) :named hypothesis-a))
(assert (! (not (= shared!1 y)) :named negated-goal))
(check-sat)
"""


def test_the_text_of_a_small_formula():
    text = script({"hypothesis-a": x * x + z3.Q(1, 3) > -2, "negated-goal": z3.Not(x * x == y)}, comment="words")
    assert text == EXPECTED


def test_the_text_does_not_depend_on_the_process():
    source = (
        "import hashlib\nfrom proofs.registry import all_subjects\nfrom proofs.obligation import Obligation\n"
        "from proofs.questions import questions_of\n"
        "o = [s for s in all_subjects().values() if isinstance(s, Obligation) and s.item == 'Lemma 3.1']\n"
        "print(hashlib.sha256(''.join(q.text for s in o for q in questions_of(s).values()).encode()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", source],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    own = [s for s in all_subjects().values() if isinstance(s, Obligation) and s.item == "Lemma 3.1"]
    here = digest_of("".join(q.text for s in own for q in questions_of(s).values()))
    assert {digest.strip() for digest in digests} == {here}


def test_another_formula_has_another_address():
    assert digest_of(script({"a-1": x > 0})) != digest_of(script({"a-1": x >= 0}))


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        (z3.Function("f", z3.RealSort(), z3.RealSort())(x) > 0, "uninterpreted function"),
        (z3.BitVec("b", 8) == 0, "only Bool, Int and Real|operator"),
        (x**y > 0, "literal powers"),
        (x**-1 > 0, "literal powers"),
        (z3.Real("a b") > 0, "cannot name a constant"),
        (z3.And(z3.Real("n") > 0, n > 0), "two sorts"),
        (z3.Sqrt(x) > 0, "literal powers|operator"),
    ],
)
def test_what_is_not_portable_is_refused(formula, message):
    with pytest.raises(PortabilityError, match=message):
        script({"a-1": formula})


@pytest.mark.parametrize(
    ("formula", "logic"),
    [
        (n + 2 * k > 0, "QF_LIA"), (n * k > 0, "QF_NIA"), (x / 2 > y, "QF_LRA"), (x / y > 1, "QF_NRA"),
        (z3.ToReal(n) > x, "QF_LIRA"), (n % 3 == 1, "QF_LIA"), (n % k == 1, "QF_NIA"), (p, "QF_UF"),
        (z3.ForAll([x], x * x >= 0), "NRA"),
    ],
)  # fmt: skip
def test_the_smallest_logic(formula, logic):
    assert logic_of(graph_of([formula])) == logic


@given(st.fractions())
def test_numerals_have_no_sign_and_no_fraction_inside(value):
    (equation,) = z3.parse_smt2_string(f"(declare-const v Real)(assert (= v {numeral(value)}))")
    assert z3.simplify(equation.arg(1)).as_fraction() == value
    assert "-" not in numeral(value).replace("(- ", "")


NUMBERS = st.fractions(min_value=-20, max_value=20, max_denominator=12)
INTEGERS = st.integers(-12, 12)


def literal(value):
    return z3.Q(value.numerator, value.denominator)


def reals(depth):
    leaf = st.one_of(st.sampled_from([x, y]), NUMBERS.map(literal), ints(0).map(z3.ToReal))
    if depth == 0:
        return leaf
    sub = reals(depth - 1)
    return st.one_of(
        leaf,
        st.builds(lambda a, b: a + b, sub, sub),
        st.builds(lambda a, b: a - b, sub, sub),
        st.builds(lambda a, b: a * b, sub, sub),
        st.builds(lambda a, b: a / b, sub, sub),
        st.builds(lambda a: -a, sub),
        st.builds(z3.If, formulas(0), sub, sub),
        st.builds(lambda a: a**3, sub),
    )


def ints(depth):
    leaf = st.one_of(st.sampled_from([n, k]), INTEGERS.map(z3.IntVal))
    if depth == 0:
        return leaf
    sub = ints(depth - 1)
    return st.one_of(
        leaf,
        st.builds(lambda a, b: a + b, sub, sub),
        st.builds(lambda a, b: a * b, sub, sub),
        st.builds(lambda a, b: a / b, sub, sub),
        st.builds(lambda a, b: a % b, sub, sub),
    )


def formulas(depth):
    atom = st.one_of(
        st.just(p),
        st.builds(lambda a, b: a < b, reals(depth), reals(depth)),
        st.builds(lambda a, b: a >= b, ints(depth), ints(depth)),
        st.builds(lambda a, b: a == b, ints(depth), ints(depth)),
        st.builds(lambda a, b: z3.Distinct(a, b, a + 1), ints(depth), ints(depth)),
    )
    if depth == 0:
        return atom
    sub = formulas(depth - 1)
    return st.one_of(
        atom,
        st.builds(z3.And, sub, sub),
        st.builds(z3.Or, sub, sub),
        st.builds(z3.Implies, sub, sub),
        st.builds(z3.Xor, sub, sub),
        st.builds(z3.Not, sub),
    )


WITNESSES = st.fixed_dictionaries(
    {"x": NUMBERS, "y": NUMBERS, "n": INTEGERS.map(Fraction), "k": INTEGERS.map(Fraction), "p": st.booleans()}
)


@given(formulas(2), WITNESSES)
def test_exact_evaluation_agrees_with_both_solvers(formula, witness):
    """Pinned to a witness, a formula can hold in a solver exactly where it evaluates to true."""
    try:
        value = evaluate(formula, witness)
    except NotEvaluable:
        assert not holds(formula, witness)
        return
    pinned = [x == literal(witness["x"]), y == literal(witness["y"])]
    pinned += [n == int(witness["n"]), k == int(witness["k"]), p == witness["p"]]
    text = script({"formula-1": formula, "witness-1": z3.And(*pinned)})
    for solver in ENGINES:
        answer = ask(solver, text, Limits())
        assert answer.says == ("sat" if value else "unsat"), (solver, text)
        if value:
            assert parse_witness(answer.model) == witness


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        (z3.Or(x > 0, 1 / y > 0), True), (z3.And(x < 0, 1 / y > 0), False), (z3.Implies(y != 0, 1 / y > 0), True),
        (z3.If(y == 0, x, 1 / y) > 0, True), (1 / y > 0, None), (z3.Not(1 / y > 0), None), (1 / y == 1 / y, None),
        (n / k == 0, None), (n % k == 0, None),
    ],
)  # fmt: skip
def test_a_division_by_zero_has_no_value_unless_nothing_depends_on_it(formula, value):
    witness = {"x": Fraction(1), "y": Fraction(0), "n": Fraction(3), "k": Fraction(0)}
    if value is None:
        with pytest.raises(NotEvaluable, match="division by zero"):
            evaluate(formula, witness)
    else:
        assert evaluate(formula, witness) is value


@pytest.mark.parametrize("witness", [{}, {"x": True}, {"x": 0.5}, {"y": Fraction(1)}])
def test_a_witness_that_does_not_fit_has_no_value(witness):
    with pytest.raises(NotEvaluable, match="gives x no value"):
        evaluate(x > 0, witness)


def test_an_integer_is_no_fraction():
    with pytest.raises(NotEvaluable, match="the integer n"):
        evaluate(n > 0, {"n": Fraction(1, 2)})


def test_a_quantifier_is_not_evaluated_but_is_read_by_both():
    formula = z3.ForAll([y], z3.Exists([x], x > y))
    with pytest.raises(NotEvaluable, match="quantified"):
        evaluate(formula, {})
    assert {ask(solver, script({"a-1": z3.Not(formula)}), Limits()).says for solver in ENGINES} == {"unsat"}


def test_the_command_line_program_gives_the_same_answers(tmp_path):
    program = Path(sys.executable).parent / "z3"  # z3-solver installs it
    asked = {}
    for subject in all_subjects().values():
        if isinstance(subject, Obligation) and subject.item == "Lemma 3.1":
            for role in ("proof", "smoke"):
                path = tmp_path / f"{subject.name}.{role}.smt2"
                path.write_text(questions_of(subject)[role].text)
                asked[path] = "unsat" if role == "proof" else "sat"
    said = {
        path: subprocess.run([program, path], capture_output=True, text=True, check=True, timeout=120).stdout.strip()
        for path in asked
    }
    assert said == asked


@pytest.mark.parametrize("solver", ENGINES)
@pytest.mark.parametrize("text", ["(assert (> x 0))\n(check-sat)\n", "(set-logic ALL)\n(assert\n", "(check-sat"])
def test_a_text_that_cannot_be_read_is_an_error_and_no_verdict(solver, text):
    with pytest.raises(SolverError):
        ask(solver, text, Limits())


@pytest.mark.parametrize("solver", ENGINES)
def test_effort_is_bounded_in_resource_units(solver):
    a, b, c = z3.Ints("a b c")
    hard = script({"a-1": z3.And(a > 1, b > 1, a * a * a + b * b * b == c * c * c)})
    answer = ask(solver, hard, Limits(z3=50_000, cvc5=5_000))
    assert (answer.says, answer.reason) == ("unknown", "resource limit")
