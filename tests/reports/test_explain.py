"""`twoheads explain`: how an item is named, and the three forms of its derivation."""

from __future__ import annotations

import pytest
import sympy

from reports import deriving
from symbolic.catalogue import BUILDERS
from symbolic.derivation import Derivation, Step, StepError


class Taken:
    """A check that takes every step."""

    how = "as given"

    def __call__(self, expression, before):
        pass


@pytest.fixture
def lemma(monkeypatch):
    A, B, Y = sympy.symbols("A B Y")
    step = Step("quotient", sympy.Eq(Y, B / A), "The definition of softmax.", "Definition 2.1", Taken())
    made = Derivation("Lemma 3.1", "blocks", ("A is positive",), (step,))
    known = {"Lemma 3.1": made, "Claim B.6": Derivation("Claim B.6", "", (), ())}
    monkeypatch.setattr(deriving, "derivations", lambda: known)
    return made


@pytest.mark.usefixtures("lemma")
@pytest.mark.parametrize("name", [["Lemma 3.1"], ["lemma_3_1"], ["LEMMA", "3.1"], ["lemma3.1"], [" lemma  3.1 "]])
def test_names(twoheads, name):
    out = twoheads("explain", *name).out
    assert out.startswith("Lemma 3.1: blocks")
    assert "The definition of softmax." in out
    assert "checked: as given" in out


def test_latex_and_json(twoheads, lemma):
    assert r"\[ Y = \frac{B}{A} \]" in twoheads("explain", "Lemma 3.1", "--latex").out
    found = twoheads("explain", "Lemma 3.1", "--json").json
    assert (found["item"], found["title"]) == ("Lemma 3.1", "blocks")
    assert [step["latex"] for step in found["steps"]] == [lemma.steps[0].latex]


@pytest.mark.usefixtures("lemma")
@pytest.mark.parametrize("name", ["Lemma 3.11", "Lemma", "", "3.1"])
def test_an_unknown_item_is_refused_with_the_known_ones(twoheads, name):
    message = twoheads("explain", name).refusal
    assert "choose from Lemma 3.1, Claim B.6" in message


def test_no_item_at_all(twoheads):
    assert twoheads("explain").refusal


@pytest.mark.parametrize("item", BUILDERS)
def test_every_derivation_is_printed_in_every_form(twoheads, item):
    text = twoheads("explain", item)
    assert text.code == 0
    assert text.out.startswith(f"{item}: ")
    latex = twoheads("explain", item, "--latex").out
    document = twoheads("explain", item, "--json").json
    assert document["steps"]
    assert all(step["reason"] and step["latex"] in latex for step in document["steps"])


def test_a_step_that_does_not_follow_is_exit_1(twoheads, monkeypatch):
    class Broken(dict):
        def __getitem__(self, item):
            raise StepError("Lemma 3.1, step 2 (x): it does not follow.")

    monkeypatch.setattr(deriving, "derivations", lambda: Broken({"Lemma 3.1": None}))
    ran = twoheads("explain", "Lemma 3.1")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == "twoheads: Lemma 3.1, step 2 (x): it does not follow.\n"
    (record,) = deriving.all_derivations()
    assert record["error"] == "Lemma 3.1, step 2 (x): it does not follow."
