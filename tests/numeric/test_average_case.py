"""Failure rates: exact ones against runs of the simulator for every permutation, sampled ones against exact ones."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from numeric.average_case import (
    diagnose,
    exact_row_failures,
    exact_run_failure,
    sampled_failure,
    wilson_interval,
)
from numeric.inputs import AttentionInput, embedded_input, qkv_input
from tests.judge import judged, rational_instance
from twoheads.errors import InputError
from twoheads.oracle import Oracle
from twoheads.plans import run
from twoheads.scalars import given_weights
from twoheads.theorem_4_1 import plan
from twoheads.transformer import Head


@given(failures=st.integers(0, 400), more=st.integers(0, 400), confidence=st.floats(0.5, 0.999))
def test_wilsons_interval_is_scipys(failures, more, confidence):
    trials = failures + more
    if trials == 0:
        with pytest.raises(InputError, match="trials >= 1"):
            wilson_interval(failures, trials, confidence)
        return
    expected = binomtest(failures, trials).proportion_ci(confidence, method="wilson")
    assert wilson_interval(failures, trials, confidence) == pytest.approx((expected.low, expected.high), abs=1e-9)


@pytest.mark.parametrize(("N", "M", "seed"), [(4, 2, 0), (5, 2, 1), (5, 3, 2), (5, 4, 3), (4, 4, 4)])
def test_exact_rates_are_those_of_all_runs_of_the_simulator(N, M, seed):
    A, V = rational_instance(N, d_v=2, seed=seed)
    X, *W = given_weights(A, V)
    epsilon = Fraction(1, 2)
    exact = judged(A, V, lambda i, j: True)
    limits = [epsilon**2 * sum(x * x for x in row) for row in exact]
    failed = []
    for tau in itertools.permutations(range(N)):
        output = run([plan(X, Head(*W), Oracle(M), np.array(tau))], Oracle(M))[0]
        off = [sum((x - y) ** 2 for x, y in zip(*rows, strict=True)) for rows in zip(output, exact, strict=True)]
        failed.append([x > limit for x, limit in zip(off, limits, strict=True)])
    assert exact_row_failures(A, V, M, epsilon) == [Fraction(sum(row), len(failed)) for row in zip(*failed)]
    rate = exact_run_failure(A, V, M, epsilon)
    assert rate == Fraction(sum(map(any, failed)), len(failed))
    assert (rate == 0) == (M == N)


@given(N=st.integers(2, 5), data=st.data(), seed=st.integers(0, 2**32))
def test_a_run_fails_at_least_as_often_as_a_row_and_at_most_by_the_union_bound(N, data, seed):
    M = data.draw(st.integers(1, N))
    A, V = rational_instance(N, seed=seed)
    rows = exact_row_failures(A, V, M, Fraction(1, 3))
    assert max(rows) <= exact_run_failure(A, V, M, Fraction(1, 3)) <= sum(rows)


def test_the_sampled_rate_finds_the_exact_one():
    N, M, trials, epsilon = 6, 3, 600, Fraction(9, 20)
    scores = np.random.default_rng(0).integers(-2, 3, (N, N))
    V = np.random.default_rng(1).integers(1, 9, (N, 1))
    A = np.array([[Fraction(2) ** int(x) for x in row] for row in scores], dtype=object)
    exact = exact_run_failure(A, V.astype(object) * Fraction(1), M, epsilon)
    assert Fraction(1, 10) < exact < Fraction(9, 10)
    data = qkv_input(scores * math.log(2), np.eye(N), V.astype(float))
    seen = sampled_failure(data.tokens[0], data.heads[0], M, float(epsilon), trials, confidence=0.9999)
    assert seen.interval[0] <= exact <= seen.interval[1]
    assert seen.interval[1] - seen.interval[0] < 0.2
    assert seen.rate == seen.failures / trials
    assert seen.failures <= seen.row_failures <= N * seen.failures
    assert seen.rows == N * trials
    assert seen.worst > epsilon


def test_equal_keys_never_fail_and_a_needle_nearly_always_does():
    rng = np.random.default_rng(2)
    Q, V = rng.normal(size=(40, 2)), np.ones((40, 1)) + 0.01 * rng.normal(size=(40, 1))
    never = diagnose(qkv_input(Q, np.zeros((40, 2)), V), 8, 0.5, trials=50)[0]
    assert (never.seen.failures, never.seen.row_failures) == (0, 0)
    assert never.seen.interval[0] == 0 < never.seen.interval[1] < 0.1
    assert never.premise.largest_score == 0
    needle = np.zeros((40, 1))
    needle[7] = 30
    V = np.where(needle > 0, 1.0, -1.0)
    often = diagnose(qkv_input(np.ones((40, 1)), needle, V), 8, 0.5, trials=50)[0]
    assert often.seen.rate == 1  # the chunks that miss the one key that matters are wrong about everything
    assert not often.applies
    assert often.required.log10_M > 40


def test_real_attention_is_far_from_the_premise():
    data = embedded_input("layer0")
    few = AttentionInput(data.tokens[:2], data.heads[:2])
    for head in diagnose(few, 64, 0.5, trials=3):
        assert head.required.log10_M > 10
        assert not head.applies
        assert head.seen.trials == 3
        assert head.required_shifted.log10_M <= head.required.log10_M


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda A, V: exact_row_failures(A, V, 0, Fraction(1)), "1 <= M <= N"),
        (lambda A, V: exact_row_failures(A, V, 4, Fraction(1)), "1 <= M <= N"),
        (lambda A, V: exact_run_failure(A, V, 2, Fraction(0)), "epsilon > 0"),
        (lambda A, V: exact_run_failure(A[:2], V, 2, Fraction(1)), "A \\(N, N\\)"),
        (lambda A, V: exact_run_failure(*rational_instance(9), 2, Fraction(1)), "362880 cases are too many"),
        (lambda A, V: wilson_interval(3, 2), "0 <= failures <= trials"),
        (lambda A, V: wilson_interval(1, 2, 1.0), "between 0 and 1"),
        (lambda A, V: diagnose(embedded_input(), 64, 0, 3), "epsilon must be above 0"),
        (lambda A, V: diagnose(embedded_input(), 64, 0.5, 0), "at least one trial"),
        (lambda A, V: diagnose(embedded_input(), 1, 0.5, 1), "M must be at least 2"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call(*rational_instance(3))
