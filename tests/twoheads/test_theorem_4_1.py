"""Theorem 4.1: the estimator equals its defining formula for every permutation, over every scalar."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
import sympy
import z3
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from tests.judge import rational_instance
from twoheads.errors import InputError
from twoheads.oracle import Oracle
from twoheads.plans import run
from twoheads.scalars import given_weights
from twoheads.scalars.finite_field import FiniteField
from twoheads.theorem_4_1 import VARIANTS, calls, chunks, estimates, plan, random_permutation, simulate
from twoheads.transformer import Head


def simulated(X, W, oracle, seed=0, variant="merged"):
    W_Q, W_K, W_V = W
    return simulate(X, W_Q, W_K, W_V, oracle, seed, variant)


def sampled_keys(N, n, tau):
    """For every query the keys it meets, by a loop: n at a time, the last chunk ending at N."""
    keys: list[list[int]] = [[] for _ in range(N)]
    for first in range(0, N, n):
        start = min(first, N - n)
        for i in range(first, min(first + n, N)):
            keys[i] = [tau[j] for j in range(start, start + n)]
    return keys


def formula(A, V, n, tau):
    """Row i is (N/n sum a, sum b / sum a) over the sampled keys."""
    N, d_v = V.shape
    weights, attention = [], []
    for i, keys in enumerate(sampled_keys(N, n, tau)):
        total = sum(A[i, j] for j in keys)
        weights.append([N * total / n])
        attention.append([sum(A[i, j] * V[j, c] for j in keys) / total for c in range(d_v)])
    return weights, attention


@given(N=st.integers(1, 9), M=st.integers(2, 10), seed=st.integers(0, 2**32))
def test_both_variants_are_their_formula_over_the_rationals(N, M, seed):
    A, V = rational_instance(N, d_v=2, seed=seed)
    X, *W = given_weights(A, V)
    tau = random_permutation(N, seed)
    for variant, n in (("merged", min(M, N)), ("printed", min(M - 1, N))):
        assert simulated(X, W, Oracle(M), seed, variant).tolist() == formula(A, V, n, tau)[1]
    both = estimates(X, Head(*W), Oracle(M), tau)
    assert (both.weights.tolist(), both.attention.tolist()) == formula(A, V, min(M - 1, N), tau)


def test_every_permutation_of_a_small_input():
    A, V = rational_instance(5, seed=4)
    X, *W = given_weights(A, V)
    for tau in itertools.permutations(range(5)):
        output = run([plan(X, Head(*W), Oracle(2), np.array(tau))], Oracle(2))[0]
        assert output.tolist() == formula(A, V, 2, tau)[1]


def test_the_mean_over_all_permutations_is_unbiased_in_both_sums_but_not_in_their_quotient():
    # C.1.unbiased: numerator and denominator are; their quotient is not, hence the two concentration bounds
    A, V = rational_instance(4, seed=1)
    X, *W = given_weights(A, V)
    found = [estimates(X, Head(*W), Oracle(3), np.array(tau)) for tau in itertools.permutations(range(4))]
    mean = sum(x.weights for x in found) / len(found)
    assert mean[:, 0].tolist() == [sum(row) for row in A]
    sums = sum(x.weights * x.attention for x in found) / len(found)
    exact = [sum(A[i, j] * V[j, 0] for j in range(4)) for i in range(4)]
    assert sums[:, 0].tolist() == exact
    ratio = sum(x.attention for x in found) / len(found)
    assert ratio[0, 0] != exact[0] / sum(A[0])


@pytest.mark.parametrize("variant", VARIANTS)
@given(N=st.integers(1, 80), M=st.integers(2, 90), d=st.integers(1, 4), seed=st.integers(0, 2**32))
def test_calls_equal_the_ledger_and_floats_meet_the_formula(variant, N, M, d, seed):
    rng = np.random.default_rng(seed)
    X, W_Q, W_K, W_V = (rng.normal(size=shape) for shape in [(N, d), (d, 2), (d, 2), (d, 3)])
    oracle = Oracle(M)
    output = simulate(X, W_Q, W_K, W_V, oracle, seed, variant)
    assert oracle.ledger.calls == calls(N, M, variant)
    assert oracle.ledger.rounds == 1
    n = min(M if variant == "merged" else M - 1, N)
    T = -(-N // n)
    assert oracle.ledger.tokens == (T * n if variant == "merged" else T * (2 * n + 1))
    assert oracle.ledger.width == (2 * d if variant == "merged" else 2 * d + 2)
    A = np.exp(np.clip((X @ W_Q) @ (X @ W_K).T, -30, 30))
    if np.abs((X @ W_Q) @ (X @ W_K).T).max() < 30:
        expected = np.array(formula(A, X @ W_V, n, random_permutation(N, seed))[1])
        assert np.abs(output - expected).max() < 1e-9 * (1 + np.abs(X @ W_V).max())


def test_one_call_that_holds_all_keys_is_attention_itself():
    A, V = rational_instance(6, seed=2)
    X, *W = given_weights(A, V)
    assert calls(6, 6) == calls(6, 50) == 1
    assert simulated(X, W, Oracle(50), 3).tolist() == formula(A, V, 6, range(6))[1]


def test_every_query_meets_exactly_n_keys_and_every_position_is_answered():
    for N in range(1, 30):
        for n in range(1, N + 1):
            S = chunks(N, n)
            assert S.shape == (-(-N // n), n)
            assert sorted(set(S.ravel().tolist())) == list(range(N))


def test_symbols_and_reals_and_balls_and_a_field():
    N, M = 4, 3
    tau = random_permutation(N, 1)
    a = np.array(sympy.symbols("a:16", positive=True), dtype=object).reshape(N, N)
    v = np.array(sympy.symbols("v:4"), dtype=object).reshape(N, 1)
    X, *W = given_weights(a, v)
    for (x,), (y,) in zip(simulated(X, W, Oracle(M), 1), formula(a, v, M, tau)[1], strict=True):
        assert sympy.simplify(x - y) == 0
    both = estimates(X, Head(*W), Oracle(M), tau)
    assert sympy.simplify(both.weights[0, 0] - formula(a, v, M - 1, tau)[0][0][0]) == 0

    a = np.array([[z3.Real(f"a{i}{j}") for j in range(N)] for i in range(N)], dtype=object)
    v = np.array([[z3.Real(f"v{j}")] for j in range(N)], dtype=object)
    X, *W = given_weights(a, v)
    solver = z3.Solver()
    solver.add(*[x > 0 for x in a.ravel()])
    output, expected = simulated(X, W, Oracle(M), 1), formula(a, v, M, tau)[1]
    solver.add(z3.Or(*[output[i, 0] != expected[i][0] for i in range(N)]))
    assert solver.check() == z3.unsat

    X, W_Q, W_K, W_V = (np.random.default_rng(0).integers(-3, 4, s) for s in [(7, 2), (2, 2), (2, 2), (2, 1)])
    balls = [np.vectorize(arb, otypes=[object])(x.astype(object)) for x in (X, W_Q, W_K, W_V)]
    floats = [x.astype(float) for x in (X, W_Q, W_K, W_V)]
    enclosed, close = simulated(balls[0], balls[1:], Oracle(3), 5), simulated(floats[0], floats[1:], Oracle(3), 5)
    assert max(abs(float(x.mid()) - y) for x, y in zip(enclosed[:, 0], close[:, 0], strict=True)) < 1e-12


def test_a_thousand_tokens_in_a_field():
    field, N, M = FiniteField(), 1024, 100
    rng = np.random.default_rng(3)
    X, W_Q, W_K, W_V = (rng.integers(0, field.order, s) for s in [(N, 3), (3, 3), (3, 3), (3, 2)])
    output = simulate(X, W_Q, W_K, W_V, Oracle(M, domain=field), 9)
    keys = np.array(sampled_keys(N, M, random_permutation(N, 9)))
    p = field.order
    scores = ((X @ W_Q) % (p - 1)) @ ((X @ W_K) % (p - 1)).T % (p - 1)
    A = field.weights(scores, np.eye(N, dtype=np.int64), None)
    picked = np.take_along_axis(np.asarray(A).astype(object), keys, axis=1)
    V = (X @ W_V % p).astype(object)
    numerator = (picked[:, :, None] * V[keys]).sum(axis=1) % p
    denominator = picked.sum(axis=1) % p
    assert (denominator != 0).all()
    assert ((np.asarray(output).astype(object) * denominator[:, None] - numerator) % p == 0).all()


def test_heads_share_their_round():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    heads = [Head(*(rng.normal(size=(3, 2)) for _ in range(3))) for _ in range(4)]
    oracle = Oracle(6)
    outputs = run([plan(X, head, oracle, random_permutation(20, h)) for h, head in enumerate(heads)], oracle)
    assert (oracle.ledger.calls, oracle.ledger.rounds) == (4 * calls(20, 6), 1)
    alone = simulate(X, heads[2].W_Q, heads[2].W_K, heads[2].W_V, Oracle(6), seed=2)
    assert np.abs(outputs[2] - alone).max() < 1e-14


def test_the_constant_against_the_papers_bound():
    for N in range(2, 60):
        for M in range(2, N + 1):
            assert calls(N, M) <= 2 * Fraction(N, M)
            assert calls(N, M, "printed") <= 4 * Fraction(N, M)


def test_step_1_as_printed_with_ones_below_says_nothing():
    # V' = [1_{M x d}, 0; 1, 1]: the first column weighs data and synthetic token alike
    A, _ = rational_instance(3)
    values = np.array([[1, 0], [1, 0], [1, 0], [1, 1]], dtype=object)
    weights = np.concatenate([A, np.array([[Fraction(1)]] * 3, dtype=object)], axis=1)
    X, *W = given_weights(np.concatenate([weights, weights[:1]]), values)
    first_step = simulated(X, W, Oracle(4))
    assert first_step[:, 0].tolist() == [1] * 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": -1}, "seed >= 0"),
        ({"variant": "stable"}, "variant must be one of printed, merged"),
        ({"oracle": Oracle(3, causal=True)}, "without a causal mask"),
        ({"X": np.ones((4, 3))}, r"X must be \(N, d\) with d = 2"),
        ({"X": np.ones((0, 2))}, "N >= 1"),
    ],
)
def test_bad_input_is_refused(change, message):
    given_arguments = {"X": np.ones((4, 2)), "oracle": Oracle(3), "seed": 0, "variant": "merged"} | change
    X = given_arguments.pop("X")
    with pytest.raises(InputError, match=message):
        simulate(X, np.ones((2, 1)), np.ones((2, 1)), np.ones((2, 1)), **given_arguments)


def test_what_is_no_permutation_is_refused():
    X, head = np.ones((4, 2)), Head(*(np.ones((2, 1)) for _ in range(3)))
    for tau in ([0, 1, 2], [0, 1, 2, 2], [1, 2, 3, 4]):
        with pytest.raises(InputError, match="tau must be a permutation"):
            run([plan(X, head, Oracle(3), np.array(tau))], Oracle(3))
        with pytest.raises(InputError, match="tau must be a permutation"):
            estimates(X, head, Oracle(3), np.array(tau))
    with pytest.raises(InputError, match="1 <= n <= N"):
        chunks(3, 4)
    with pytest.raises(InputError, match="M must be at least 2"):
        calls(3, 1)
