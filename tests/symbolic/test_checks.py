"""What each check refuses, and that breaking the code breaks the derivations that run it."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import pytest
from sympy import Eq, Gt, Identity, Integer, Le, MatrixSymbol, Symbol, ZeroMatrix, binomial

from symbolic import claim_b_6, lemma_3_1
from symbolic.blocks import blocks, blocks_agree
from symbolic.catalogue import derivations
from symbolic.checks import Assumed, AtMost, BinomialsAgree, Positive, define, follow, unfolded
from symbolic.derivation import Derivation, Step, StepError
from symbolic.on_symbols import Run, computed_step
from symbolic.symbols import N, T, a, i, indexed, j, n, positive, real, size, t, total
from twoheads import catalogue, reconstruction, schedules
from twoheads import lemma_3_1 as simulated_lemma_3_1

A, x, y = indexed("A"), real("x"), positive("y")


def derived(*steps):
    return Derivation("item", "title", (), steps)


def step(expression, check):
    return Step("it", expression, "because", "item", check)


@pytest.mark.parametrize(
    ("new", "meaning", "message"),
    [
        (A[i], a[i, j], "also depends on j"),
        (A[i], A[i] + 1, "has been used before"),
        (x, x + 1, "has been used before"),
        (y, x, "has a sign that x is not seen to have"),
        (size("K"), x, "is taken for an integer"),
        (size("K"), n - T, "has a sign"),
        (Symbol("g", nonnegative=True), x, "has a sign"),
        (x + 1, y, "is no name"),
        (indexed("S", positive=True)[i], total(a[i, j], 1, n - 1), "has a sign"),
    ],
)
def test_definitions_that_say_too_much_are_refused(new, meaning, message):
    with pytest.raises(StepError, match=message):
        derived(define("it", new, meaning, "item", "because"))


def test_definitions_may_not_change_what_was_said():
    first = define("first", x, y + 1, "item", "because")
    with pytest.raises(StepError, match="y has been used before"):
        derived(first, define("second", y, Integer(2), "item", "because"))


def test_definitions_may_bind_their_own_indices_and_keep_signs():
    derived(
        define("sum", indexed("S", positive=True)[i], total(a[i, j], 1, n), "item", "because"),
        define("size", size("K"), n + T - 1, "item", "because"),
    )


@pytest.mark.parametrize(
    ("expression", "check", "message"),
    [
        (Gt(x, 0, evaluate=False), Positive(), "is not seen to be positive"),
        (Gt(y, 1, evaluate=False), Positive(), "an inequality x > 0 is needed"),
        (Gt(y + total(real("z"), 1, n), 0, evaluate=False), Positive(), "is not seen to be positive"),
        (Le(x, y, evaluate=False), AtMost(y - x), "is not seen to be at least 0"),
        (Le(y, 3 * y, evaluate=False), AtMost(y), "the two sides differ"),
        (Eq(y, x, evaluate=False), AtMost(y), "an inequality x <= y is needed"),
        (Eq(binomial(N, n), n, evaluate=False), BinomialsAgree(), "the two sides differ"),
        (y, BinomialsAgree(), "an equation is needed"),
        (y, Assumed("a source"), "an assumption is a relation"),
    ],
)
def test_checks_that_fail(expression, check, message):
    with pytest.raises(StepError, match=message):
        derived(step(expression, check))


def test_what_is_assumed_is_marked():
    assert "not derived: a source" in derived(step(Le(x, y, evaluate=False), Assumed("a source"))).text


def test_an_empty_sum_of_positive_terms_is_not_positive_but_not_negative():
    sum_may_be_empty = total(a[i, j], 1, n - 1)
    derived(step(Gt(1 + sum_may_be_empty, 0, evaluate=False), Positive()))
    with pytest.raises(StepError, match="not seen to be positive"):
        derived(step(Gt(sum_may_be_empty, 0, evaluate=False), Positive()))


def test_a_step_uses_only_earlier_ones():
    with pytest.raises(StepError, match="there is no earlier equation named 'later'"):
        derived(follow("it", x, x, "item", "because", "later"), define("later", x, y, "item", "because"))


def test_an_inequality_cannot_be_put_in():
    weaker = step(Le(y, 3 * y, evaluate=False), AtMost(2 * y))
    with pytest.raises(StepError, match="no earlier equation named 'it'"):
        derived(weaker, follow("next", y, 3 * y, "item", "because", "it"))


class TestPuttingIn:
    before: ClassVar = {"A": Eq(A[t], total(a[t, j], 1, t)), "x": Eq(x, y + 1)}

    def test_every_index_value(self):
        assert unfolded(A[t + 1] + A[2] * x, self.before, ("A", "x")) == total(a[t + 1, j], 1, t + 1) + total(
            a[2, j], 1, 2
        ) * (y + 1)

    def test_inside_sums(self):
        assert unfolded(total(A[t], 1, n, t), self.before, ("A",)) == total(total(a[t, j], 1, t), 1, n, t)

    def test_an_index_that_would_be_caught_is_refused(self):
        with pytest.raises(StepError, match="also the running index"):
            unfolded(A[j], self.before, ("A",))

    def test_a_repeated_index_must_match_twice(self):
        before = {"diagonal": Eq(a[t, t], y)}
        assert unfolded(a[2, 2] + a[2, 3], before, ("diagonal",)) == y + a[2, 3]


def test_block_products():
    k, m = size("k"), size("m")
    X, Y, W = MatrixSymbol("X", k, m), MatrixSymbol("Y", k, m), MatrixSymbol("W", m, m)
    selected = blocks([X, Y]) * blocks([W], [ZeroMatrix(m, m)])
    derived(blocks_agree("it", selected, X * W, "item", "because"))
    for wrong in (Y * W, X * W + Y * W, X):
        with pytest.raises(StepError, match="differ in a block"):
            derived(blocks_agree("it", selected, wrong, "item", "because"))
    with pytest.raises(StepError, match="have the shapes"):
        derived(blocks_agree("it", selected, Identity(m), "item", "because"))
    with pytest.raises(StepError, match="an equation of matrices"):
        derived(blocks_agree("it", x, x, "item", "because"))


def test_computed_entries_are_compared_one_by_one():
    def stating(*entries):
        return derived(computed_step("it", "Y", lambda: [x, x + y], entries, "item", "because", "it was run"))

    stating(x, y + x)
    with pytest.raises(StepError, match="entry 2 is not what is computed"):
        stating(x, y)
    with pytest.raises(StepError, match="1 entries are stated, 2 are computed"):
        stating(x)


def broken_key(family):
    """The family with every key one position further on."""
    return replace(family, key=lambda *place: family.key(*place) + 1)


def test_a_shifted_block_fails_the_derivation(monkeypatch):
    monkeypatch.setattr(simulated_lemma_3_1, "PAIRS", broken_key(simulated_lemma_3_1.PAIRS))
    with pytest.raises(StepError, match=r"step \d+ \(run of printed, N = 3, M = 3, on weights\)"):
        lemma_3_1.build()


def test_a_skipped_block_fails_the_derivation(monkeypatch):
    family = replace(simulated_lemma_3_1.PAIRS, exists=lambda z, u, t: [t < z.T - 1])
    monkeypatch.setattr(simulated_lemma_3_1, "PAIRS", family)
    with pytest.raises(StepError, match=r"\(run of printed, N = 3, M = 3, on weights\)"):
        lemma_3_1.build()


def test_a_miscounted_synthetic_token_fails_the_derivation(monkeypatch):
    sight = schedules.sight_of
    monkeypatch.setattr(reconstruction, "sight_of", lambda *of: ~sight(*of))
    with pytest.raises(StepError, match=r"\(run of \w+, N = 3, M = 3, on weights\)"):
        lemma_3_1.build()


def test_a_swapped_mask_fails_the_derivation(monkeypatch):
    entry = catalogue.CONSTRUCTIONS["causal"]
    everything = replace(entry, mask=lambda N, o: None)
    monkeypatch.setitem(catalogue.CONSTRUCTIONS, "causal", everything)
    with pytest.raises(StepError, match=r"Claim B\.6, step \d+ \(run of repaired"):
        claim_b_6.build()


def test_the_printed_causal_construction_is_not_attention():
    run = Run("causal", "printed", 4, 3)
    with pytest.raises(StepError, match="entry 3 is not what is computed"):
        derived(computed_step("it", "Y", run.simulated, run.direct(), "item", "because", "it was run"))


def test_window_and_sinks_are_what_is_run():
    runs = [found for found in derivations()["Theorem 5.1"].steps if found.name.startswith("run of")]
    assert [found.name for found in runs] == [
        "run of printed, N = 5, M = 4, r = 2, on weights",
        "run of merged, N = 5, M = 4, r = 2, on weights",
        "run of separate, N = 5, M = 4, r = 2, on weights",
        "run of merged, N = 5, M = 5, r = 2, s = 1, on weights",
        "run of separate, N = 5, M = 5, r = 2, s = 1, on weights",
    ]
