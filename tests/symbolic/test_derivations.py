"""Every derivation verifies, prints, and does not survive a false step."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from latex2mathml.converter import convert
from sympy import Eq, ImmutableMatrix, Rel

from symbolic.blocks import BlocksAgree
from symbolic.catalogue import BUILDERS, derivations
from symbolic.checks import Named
from symbolic.derivation import Derivation, StepError


@cache
def built(item: str) -> Derivation:
    return derivations()[item]


@pytest.fixture(params=list(BUILDERS))
def derivation(request):
    return built(request.param)


def test_the_catalogue_holds_the_papers_constructions():
    assert list(derivations()) == [
        "Lemma A.1",
        "Lemma A.2",
        "Lemma A.3",
        "Lemma 3.1",
        "Lemma 3.3",
        "Theorem 3.4",
        "Claim B.6",
        "Theorem 3.5",
        "Theorem 4.1",
        "Theorem 4.2",
        "Theorem 5.1",
    ]


def test_verifies_when_built(derivation, request):
    assert derivation.item == request.node.callspec.params["derivation"]
    assert derivation.steps


def test_verifies_again():
    built("Claim B.6").verify()


def falsified(step):
    """The step with its right-hand side changed: one more, or one more in every entry, or less than it was."""
    left, right = step.expression.args
    if isinstance(step.check, BlocksAgree):
        return replace(step, expression=Eq(left, 2 * right, evaluate=False))
    if isinstance(right, ImmutableMatrix):
        changed = right.as_mutable()
        changed[0] += 1
        return replace(step, expression=Eq(left, changed.as_immutable(), evaluate=False))
    if isinstance(step.expression, Eq):
        return replace(step, expression=Eq(left, right + 1, evaluate=False))
    return replace(step, expression=Rel(right, left, step.expression.rel_op, evaluate=False))


def test_no_step_can_be_replaced_by_a_false_one(derivation):
    """A false equation or inequality fails itself; a changed definition fails itself or a step that uses it."""
    survivors = []
    for place, step in enumerate(derivation.steps):
        false = falsified(step)
        users = [later for later in derivation.steps if step.name in getattr(later.check, "using", ())]
        # the rest of the chain is as it was, and was verified
        chain = [false, *users] if isinstance(step.check, Named) else [false]
        before = {earlier.name: earlier.expression for earlier in derivation.steps[:place]}
        if not any(fails(one, before | {step.name: false.expression}, one is false) for one in chain):
            survivors.append(step.name)
    assert survivors == []


def fails(step, before, itself):
    try:
        step.check(step.expression, {name: x for name, x in before.items() if name != step.name} if itself else before)
    except StepError:
        return True
    return False


def test_a_derivation_with_a_false_step_cannot_be_made(derivation):
    proved = [place for place, step in enumerate(derivation.steps) if not isinstance(step.check, Named)]
    steps = list(derivation.steps)
    steps[proved[0]] = falsified(steps[proved[0]])
    with pytest.raises(StepError, match=rf"{derivation.item}, step {proved[0] + 1} \("):
        replace(derivation, steps=tuple(steps))


def test_steps_have_names_of_their_own_and_use_earlier_ones(derivation):
    names = [step.name for step in derivation.steps]
    assert len(set(names)) == len(names)
    for step in derivation.steps:
        for used in getattr(step.check, "using", ()):
            assert names.index(used) < names.index(step.name)


def test_latex_becomes_mathml(derivation):
    for step in derivation.steps:
        shown = convert(step.latex, display="block")
        assert shown.startswith("<math")
        assert "\\" not in shown, (step.name, step.latex)


def test_text_says_everything(derivation):
    text = derivation.text
    for sentence in derivation.hypotheses:
        assert sentence in text
    flat = " ".join(text.split())
    for number, step in enumerate(derivation.steps, start=1):
        assert f"{number}. {step.name} [{step.item}]. {' '.join(step.reason.split())}" in flat
        assert step.text.splitlines()[0].strip() in text
    document = derivation.latex
    assert all(step["latex"] in document for step in derivation.as_dict()["steps"])
    assert document.count(r"\item") == len(derivation.hypotheses) + len(derivation.steps)


@pytest.mark.parametrize(
    ("item", "step", "expected"),
    [
        ("Lemma 3.1", "A recovered", r"{A}_{i,t} = \frac{a {R}_{i,t} {s}_{t}}{{w}_{i,t}}"),
        ("Lemma 3.1", "sum of all A", r"\sum_{t=1}^{T} {A}_{i,t} = \sum_{j=1}^{N} {a}_{i,j}"),
        ("Theorem 3.5", "calls", r"T + \sum_{t=1}^{T} \left(2 t - 2\right) = T^{2}"),
        ("Theorem 4.2", "own product", r"\sum_{c=1}^{2 h + 2 k} {u}_{c} {v}_{c} = 0"),
    ],
)
def test_final_identities(item, step, expected):
    assert built(item).step(step).latex == expected


def test_two_steps_of_one_name_are_refused():
    first = built("Claim B.6").steps[0]
    with pytest.raises(StepError, match=r"step 2 \(A\): an earlier step has the same name"):
        Derivation("Claim B.6", "twice", (), (first, first))
