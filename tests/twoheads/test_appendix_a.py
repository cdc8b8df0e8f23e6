"""Appendix A: the three lemmas against plain sums over Fractions, retrieval against its proved bound."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy
import z3
from flint import arb, ctx
from hypothesis import example, given
from hypothesis import strategies as st

from twoheads.appendix_a import (
    constant_block,
    factor_for,
    retrieval,
    retrieval_error_bound,
    row_sum,
    share_of_first_keys,
)
from twoheads.errors import InputError
from twoheads.oracle import Batch, Oracle
from twoheads.scalars import domain_of
from twoheads.scalars.finite_field import FiniteField

FRACTIONS = domain_of(np.array([Fraction(1)], dtype=object))


def fractions(rows, columns, seed):
    rng = np.random.default_rng(seed)
    entries = [Fraction(int(x), int(y)) for x, y in rng.integers(1, 40, (rows * columns, 2)) - [[20, 0]]]
    return np.array(entries, dtype=object).reshape(rows, columns)


def called(transformer, X, domain=None, causal=False):
    oracle = Oracle(max(2, len(X)), causal=causal, domain=domain)
    [output] = oracle.round([Batch(X[None], transformer)])
    assert oracle.ledger.calls == 1
    return output[0]


@given(N=st.integers(1, 6), d=st.integers(1, 5), data=st.data())
def test_lemma_a_1_makes_the_block(N, d, data):
    a, b = data.draw(st.integers(0, N)), data.draw(st.integers(0, d))
    phi, U = constant_block(d, a, b, FRACTIONS)
    block = FRACTIONS.values(phi(fractions(N, d, 1), np.arange(N)), U)
    assert block.tolist() == [[int(i < a and c < b) for c in range(d)] for i in range(N)]


def test_lemma_a_1_as_printed_needs_d_1():
    phi, U = constant_block(1, 2, 1, FRACTIONS, "printed")
    X = fractions(3, 1, 0)
    assert FRACTIONS.values(phi(X, np.arange(3)), U).tolist() == [[1], [1], [0]]
    for b in range(4):
        with pytest.raises(InputError, match="lower blocks of U are 1 and d = 3 rows high"):
            constant_block(3, 2, b, FRACTIONS, "printed")


@given(N=st.integers(1, 5), d=st.integers(1, 3), data=st.data(), seed=st.integers(0, 2**32))
def test_lemma_a_1_at_work_gives_the_share_of_the_first_keys(N, d, data, seed):
    a, b = data.draw(st.integers(0, N)), data.draw(st.integers(0, d))
    rng = np.random.default_rng(seed)
    X, W_Q, W_K = (rng.integers(-2, 3, shape) for shape in [(N, d), (d, 2), (d, 2)])
    weights = [[Fraction(2) ** int(x) for x in row] for row in (X @ W_Q) @ (X @ W_K).T]
    share = [sum(row[:a], Fraction(0)) / sum(row) for row in weights]
    transformer = share_of_first_keys(W_Q.astype(object), W_K.astype(object), a, b, FRACTIONS)
    output = called(transformer, X.astype(object), FRACTIONS)
    assert output.tolist() == [[x] * b + [0] * (d - b) for x in share]


@given(N=st.integers(1, 8), d=st.integers(1, 4), seed=st.integers(0, 2**32))
def test_lemma_a_2_is_the_exact_sum_of_the_rows(N, d, seed):
    X = fractions(N, d, seed)
    output = called(row_sum(N, d, FRACTIONS), X)
    assert output.tolist() == [[sum(X[:, c]) for c in range(d)]] * N


def test_lemma_a_2_over_other_scalars():
    x = np.array(sympy.symbols("x:6"), dtype=object).reshape(3, 2)
    output = called(row_sum(3, 2, domain_of(x)), x)
    assert all(sympy.simplify(output[i, c] - sum(x[:, c])) == 0 for i in range(3) for c in range(2))
    z = np.array([z3.Real(f"z{i}") for i in range(4)], dtype=object).reshape(4, 1)
    solver = z3.Solver()
    solver.add(called(row_sum(4, 1, domain_of(z)), z)[2, 0] != sum(z[:, 0]))
    assert solver.check() == z3.unsat
    balls = np.array([[arb(i) / 3] for i in range(5)], dtype=object)
    assert called(row_sum(5, 1, domain_of(balls)), balls)[0, 0].contains(arb(10) / 3)
    floats = np.random.default_rng(0).normal(size=(50, 4))
    assert np.abs(called(row_sum(50, 4, domain_of(floats)), floats) - floats.sum(axis=0)).max() < 1e-12
    field = FiniteField()
    tokens = np.random.default_rng(1).integers(0, field.order, (1024, 3))
    sums = called(row_sum(1024, 3, field), tokens, field)
    assert (sums == field.number(tokens.sum(axis=0))).all()


def test_lemma_a_2_as_printed_is_right_only_for_equal_coordinate_sums():
    X = np.array([[0.5, -0.5], [0.25, -0.25], [1.0, -1.0]])
    printed = row_sum(3, 2, domain_of(X), "printed")
    assert np.allclose(called(printed, X), X.sum(axis=0))
    X = np.array([[0.5, -0.5], [0.25, -0.25], [1.0, 1.0]])
    weights = np.exp(3 * X.sum(axis=1))
    output = called(printed, X)
    assert np.allclose(output, 3 * weights @ X / weights.sum())
    assert np.abs(output - X.sum(axis=0)).max() > 1


def test_lemma_a_2_under_a_causal_mask_sums_in_the_last_row_only():
    X = fractions(4, 1, 3)
    output = called(row_sum(4, 1, FRACTIONS), X, causal=True)
    assert output.tolist() == [[Fraction(4, i + 1) * sum(X[: i + 1, 0])] for i in range(4)]


@given(N=st.integers(2, 9), d=st.integers(1, 3), B=st.integers(1, 12), seed=st.integers(0, 2**32))
def test_lemma_a_3_stays_within_its_bound_and_is_never_exact(N, d, B, seed):
    X = fractions(N, d, seed)
    targets = np.random.default_rng(seed).integers(0, N, N)
    output = called(retrieval(lambda X, i: targets[i], B, d, FRACTIONS), X)
    # everything exact: the rationals' weight of score 1 is 2
    largest = max(max(abs(x) for x in row) for row in X)
    bound = retrieval_error_bound(B, N, largest, Fraction(2))
    for i in range(N):
        error = [abs(output[i, c] - X[targets[i], c]) for c in range(d)]
        assert max(error) <= bound
        others = [X[j] for j in range(N) if j != targets[i]]
        for c in range(d):
            if all(row[c] < X[targets[i], c] for row in others):
                assert output[i, c] < X[targets[i], c]


def test_the_retrieval_bound_holds_for_certified_balls_at_e():
    ctx.prec = 200
    try:
        N, B = 6, 30
        X = np.array([[arb((-1) ** i)] for i in range(N)], dtype=object)
        tau = np.array([5, 0, 3, 3, 1, 2])
        output = called(retrieval(lambda X, i: tau[i], B, 1, domain_of(X)), X)
        worst = max(float(abs(output[i, 0] - X[tau[i], 0]).upper()) for i in range(N))
    finally:
        ctx.prec = 53
    bound = retrieval_error_bound(B, N, 1)
    assert bound / 3 < worst <= bound  # not far from attained, neighbours being opposite


def test_tau_reads_the_token_and_a_rounding_rho_makes_retrieval_exact():
    rng = np.random.default_rng(2)
    N = 300
    X = rng.integers(-9, 10, (N, 3)).astype(float)

    def tau(X, i):
        return (X[..., 0].astype(int) + 2 * i) % N

    B = factor_for(0.4, N, float(np.linalg.norm(X, axis=1).max()))
    exact = called(retrieval(tau, B, 3, domain_of(X), rho=lambda rows, i: np.round(rows)), X)
    assert (exact == X[tau(X, np.arange(N))]).all()
    weak = called(retrieval(tau, 1, 3, domain_of(X), rho=lambda rows, i: np.round(rows)), X)
    assert (weak != X[tau(X, np.arange(N))]).any()


@given(
    error=st.floats(1e-300, 1e3) | st.integers(1, 3000).map(lambda k: Fraction(1, 2**k)),
    N=st.integers(1, 10**6),
    largest=st.floats(0, 1e6),
)
@example(error=1.0, N=1000, largest=1.7)  # 4 * 1.7 < e^2 < 4 * 1.7 + 1
def test_the_factor_is_the_smallest_that_reaches_the_error(error, N, largest):
    B = factor_for(error, N, largest)
    target = Fraction(error)

    def within(B):
        ctx.prec = 300
        try:
            x = (-arb(B)).exp()
            shares = (N - 1) * x, 2 * x / (1 - x)
            small = [share * 2 * arb(largest) * target.denominator <= target.numerator for share in shares]
        finally:
            ctx.prec = 53
        return any(small)

    assert within(B)
    assert B == 1 or not within(B - 1)
    assert isinstance(retrieval_error_bound(B, N, largest), float) or N == 1


half: Any = 1.5
nonsense: Any = "nonsense"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: constant_block(2, 1, 3, FRACTIONS), "0 <= b <= d"),
        (lambda: constant_block(2, -1, 1, FRACTIONS), "a >= 0"),
        (lambda: constant_block(2, 5, 1, FRACTIONS)[0](np.zeros((3, 2)), np.arange(3)), "take a <= N"),
        (lambda: constant_block(2, 1, 1, FRACTIONS, nonsense), "variant must be one of printed, repaired"),
        (lambda: row_sum(0, 2, FRACTIONS), "at least one row"),
        (lambda: row_sum(1, 2, FRACTIONS, nonsense), "variant must be one of"),
        (lambda: retrieval(lambda X, i: i, 0, 2, FRACTIONS), "B >= 1"),
        (lambda: retrieval(lambda X, i: i, half, 2, FRACTIONS), "integers B >= 1"),
        (lambda: called(retrieval(lambda X, i: i + 1, 1, 1, FRACTIONS), fractions(2, 1, 0)), "from 0 to N-1 = 1"),
        (lambda: called(retrieval(lambda X, i: i - 1, 1, 1, FRACTIONS), fractions(2, 1, 0)), "from 0 to N-1 = 1"),
        (lambda: called(retrieval(lambda X, i: i / 2, 1, 1, FRACTIONS), fractions(2, 1, 0)), "must return integers"),
        (lambda: retrieval_error_bound(0, 2, 1), "B >= 1"),
        (lambda: retrieval_error_bound(1, 2, -1), "largest >= 0"),
        (lambda: factor_for(0, 2, 1), "must be positive"),
        (lambda: factor_for(math.inf, 2, 1), "must be positive"),
        (lambda: factor_for(math.nan, 2, 1), "must be positive"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
