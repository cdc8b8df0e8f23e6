"""`twoheads explain`: how an item is named, and the three forms of its derivation."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from reports import deriving


@pytest.fixture
def lemma(monkeypatch):
    steps = [
        SimpleNamespace(reason="Definition 2.1", text="B/A", latex=r"\frac{B}{A}"),
        SimpleNamespace(reason="two lines", text="x\ny", latex="x"),
    ]
    known = {
        "Lemma 3.1": SimpleNamespace(title="blocks", steps=steps),
        "Claim B.6": SimpleNamespace(title="", steps=[]),
    }
    monkeypatch.setattr(deriving, "_all", lambda: known)


@pytest.mark.usefixtures("lemma")
@pytest.mark.parametrize("name", [["Lemma 3.1"], ["lemma_3_1"], ["LEMMA", "3.1"], ["lemma3.1"], [" lemma  3.1 "]])
def test_names(twoheads, name):
    assert (
        twoheads("explain", *name).out == "Lemma 3.1: blocks\n\n1. Definition 2.1\n   B/A\n\n2. two lines\n   x\n   y\n"
    )


@pytest.mark.usefixtures("lemma")
def test_latex_and_json(twoheads):
    assert r"   \frac{B}{A}" in twoheads("explain", "Lemma 3.1", "--latex").out
    found = twoheads("explain", "Lemma 3.1", "--json").json
    assert found["item"] == "Lemma 3.1"
    assert found["steps"][0] == {"reason": "Definition 2.1", "text": "B/A", "latex": r"\frac{B}{A}"}


@pytest.mark.usefixtures("lemma")
@pytest.mark.parametrize("name", ["Lemma 3.11", "Lemma", "", "3.1"])
def test_an_unknown_item_is_refused_with_the_known_ones(twoheads, name):
    message = twoheads("explain", name).refusal
    assert "choose from Lemma 3.1, Claim B.6" in message


def test_no_item_at_all(twoheads):
    assert twoheads("explain").refusal
