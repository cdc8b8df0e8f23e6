"""The premise of Theorem 4.1 against a direct reading of its definition, and the numbers of its proof."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twoheads.average_case_premise import Premise, combined_error, premise, required_length
from twoheads.errors import InputError


def instance(N, m, d, seed, scale=1.0):
    rng = np.random.default_rng(seed)
    return scale * rng.normal(size=(N, m)), rng.normal(size=(N, m)), rng.normal(size=(N, d))


@given(N=st.integers(1, 12), m=st.integers(1, 3), d=st.integers(1, 4), seed=st.integers(0, 2**32))
def test_C_and_D_are_the_tightest_that_the_definition_allows(N, m, d, seed):
    Q, K, V = instance(N, m, d, seed)
    measured = premise(Q, K, V)
    a = np.exp(Q @ K.T)
    b = a[:, :, None] * V[None]
    sums, largest = np.linalg.norm(b.sum(axis=1), axis=1), np.linalg.norm(b, axis=2).max(axis=1)
    assert max(a.max(), 1 / a.min()) == pytest.approx(math.exp(measured.largest_score))
    assert (sums / (N * largest)).min() == pytest.approx(measured.D)
    assert (measured.N, measured.d) == (N, d)
    # no shift of a row's scores makes its C smaller than half the spread
    spread = max(math.log(row.max() / row.min()) for row in a)
    assert measured.half_spread == pytest.approx(spread / 2)
    assert measured.half_spread <= measured.largest_score + 1e-12


def test_scores_beyond_every_float_are_measured():
    Q, K, V = instance(8, 2, 3, 0, scale=1e40)
    measured = premise(Q, K, V)
    assert measured.largest_score == pytest.approx(np.abs(Q @ K.T).max())
    assert measured.log10_C == pytest.approx(measured.largest_score / math.log(10))
    assert measured.D == pytest.approx(1 / 8)  # one key takes it all
    needed = required_length(measured, 0.5)
    assert needed.weights == pytest.approx(4 * measured.log10_C)
    assert math.isfinite(needed.log10_M)
    assert not needed.admits(10**18)
    assert premise(Q / 1e40, K, V * 1e300).D == pytest.approx(premise(Q / 1e40, K, V).D)


def test_values_that_cancel_leave_no_D():
    Q, K = np.zeros((2, 1)), np.zeros((2, 1))
    measured = premise(Q, K, np.array([[1.0], [-1.0]]))
    assert measured.D == 0
    assert required_length(measured, 1.0).values == math.inf
    assert not required_length(measured, 1.0).admits(10**100)
    assert premise(Q, K, np.zeros((2, 1))).D == 1
    assert premise(Q, K, np.array([[1.0], [0.0]])).D == pytest.approx(1 / 2)


def test_a_constant_on_all_scores_changes_the_printed_C_only():
    Q, K, V = instance(9, 2, 2, 1)
    lifted = premise(np.hstack([Q, np.ones((9, 1))]), np.hstack([K, np.full((9, 1), 50.0)]), V)
    plain = premise(Q, K, V)
    assert lifted.half_spread == pytest.approx(plain.half_spread)
    assert lifted.D == pytest.approx(plain.D)
    assert lifted.largest_score > 40


@given(
    N=st.integers(1, 10**6),
    d=st.integers(1, 1000),
    log_C=st.floats(0, 20),
    D=st.floats(1e-6, 1),
    epsilon=st.floats(1e-3, 2),
    heads=st.integers(1, 500),
)
def test_the_required_length_meets_both_tail_bounds_with_equality(N, d, log_C, D, epsilon, heads):
    measured = Premise(N, d, log_C, log_C / 2, D)
    needed = required_length(measured, epsilon, heads)
    M_a, M_b = 10**needed.weights, 10**needed.values
    failure = 2 * math.exp(-2 * epsilon**2 * M_a / (16 * math.exp(log_C) ** 4))
    assert failure == pytest.approx(1 / (20 * N * heads), rel=1e-6)
    vector = 2 * d * math.exp(-(epsilon**2) * M_b * D**2 / 128)
    assert vector == pytest.approx(1 / (20 * N * heads), rel=1e-6)
    assert needed.log10_M == max(needed.weights, needed.values)
    shifted = required_length(measured, epsilon, heads, shifted=True)
    assert shifted.weights <= needed.weights
    assert shifted.values == needed.values


def test_an_input_that_meets_the_premise_admits_a_length():
    N = 5000
    measured = premise(np.zeros((N, 1)), np.zeros((N, 1)), np.ones((N, 1)))
    assert measured.largest_score == 0
    assert measured.D == pytest.approx(1)
    assert required_length(measured, 1.0).admits(N)
    assert not required_length(measured, 1.0).admits(100)


def test_the_combined_error_is_the_exact_worst_case():
    for epsilon in (Fraction(1, 10), Fraction(1), Fraction(2)):
        x = epsilon / 4
        grid = [Fraction(k, 8) * x for k in range(-8, 9)]
        # in one dimension with A = B = 1: the error of (1 + beta) / (1 + alpha)
        worst = max(abs((1 + beta) / (1 + alpha) - 1) for alpha, beta in itertools.product(grid, grid))
        assert worst == combined_error(epsilon) <= epsilon
        printed = x + epsilon / (4 + epsilon) * (1 + x)
        assert printed == 2 * x < worst  # the printed bound is exceeded
    assert 2 * Fraction(21, 40) / (1 - Fraction(21, 40)) > Fraction(21, 10)  # beyond epsilon = 2 it is not enough


@pytest.mark.parametrize("epsilon", [0, -1, 2.5, math.nan, math.inf])
def test_epsilon_out_of_range_is_refused(epsilon):
    with pytest.raises(InputError, match="epsilon must be above 0 and at most 2"):
        required_length(Premise(5, 1, 1.0, 1.0, 0.5), epsilon)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ([(3, 2), (3, 1), (3, 1)], "none empty"),
        ([(3, 2), (3, 2), (4, 1)], "none empty"),
        ([(0, 2), (0, 2), (0, 1)], "none empty"),
        ([(3,), (3,), (3, 1)], "none empty"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(shapes, message):
    with pytest.raises(InputError, match=message):
        premise(*(np.zeros(shape) for shape in shapes))


def test_other_bad_input_is_refused():
    with pytest.raises(InputError, match="not finite"):
        premise(np.full((2, 1), np.nan), np.ones((2, 1)), np.ones((2, 1)))
    with pytest.raises(InputError, match="heads must be at least 1"):
        required_length(Premise(5, 1, 1.0, 1.0, 0.5), 0.5, heads=0)
