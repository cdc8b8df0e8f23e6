"""Theorem 4.2: the one call against its formula over exact scalars, the bounds against certified balls."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from tests.judge import judged, rational_instance
from twoheads.errors import InputError, MixedScalarsError, OracleLengthError
from twoheads.oracle import Oracle
from twoheads.scalars import given_weights
from twoheads.scalars.finite_field import FiniteField
from twoheads.theorem_4_2 import (
    B_for,
    code_length,
    codes,
    error_bound,
    inverse_bound,
    log_error_bound,
    norm_bound,
    products,
    simulate,
    width,
)
from twoheads.transformer import Head


def float_instances(P, M, d, m, d_v, seed, size=0.5):
    rng = np.random.default_rng(seed)
    tokens = [size * rng.normal(size=(M, d)) for _ in range(P)]
    return tokens, [Head(*(rng.normal(size=(d, c)) for c in (m, m, d_v))) for _ in range(P)]


def direct(X, head):
    weights = np.exp((X @ head.W_Q) @ (X @ head.W_K).T)
    return weights @ (X @ head.W_V) / weights.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("P", [*range(1, 22), 70, 71, 252, 253])
def test_codes_are_what_C_2_asks_for(P):
    u, v = codes(P)
    r = code_length(P)
    assert u.shape == v.shape == (P, r)
    assert set(u.ravel().tolist()) <= {0, -1}
    assert (v == 1 + u).all()
    assert (u.sum(axis=1) == -r // 2).all()
    assert len(set(map(tuple, u.tolist()))) == P
    products = u @ v.T
    assert (np.diag(products) == 0).all()
    assert P == 1 or products[~np.eye(P, dtype=bool)].max() <= -1
    assert r % 2 == 0
    assert math.comb(r, r // 2) >= P
    assert r == 0 or math.comb(r - 2, r // 2 - 1) < P


def joined_formula(instances, B):
    """The large transformer's output by loops: weights of other instances times 2^(-B^2 h), h from sets of zeros."""
    P, M = len(instances), len(instances[0][0])
    r = code_length(P)
    zeros = [set(range(r)) - set(places) for places in itertools.islice(itertools.combinations(range(r), r // 2), P)]
    rows = []
    for i, (A, _) in enumerate(instances):
        for p in range(M):
            top, bottom = Fraction(0), Fraction(0)
            for j, (_, V) in enumerate(instances):
                h = len(zeros[j] - zeros[i])
                for q in range(M):
                    a = (A[p, q] if i == j else Fraction(1)) * Fraction(1, 2 ** (B * B * h))
                    top, bottom = top + a * V[q, 0], bottom + a
            rows.append([top / bottom])
    return rows


@given(P=st.integers(1, 7), M=st.integers(1, 3), B=st.integers(1, 4), seed=st.integers(0, 2**32))
def test_the_call_is_its_formula_over_the_rationals(P, M, B, seed):
    # queries are unit vectors of 2P M coordinates' worth of keys: across instances all scores are 0, weights 1
    instances = [rational_instance(M, seed=seed + i) for i in range(P)]
    tokens, heads = [], []
    for i, (A, V) in enumerate(instances):
        X, W_Q, W_K, W_V = given_weights(A, V)
        wide = np.zeros((W_Q.shape[0], P * M), dtype=object)
        wide_Q, wide_K = wide.copy(), wide.copy()
        wide_Q[:, i * M : (i + 1) * M], wide_K[:, i * M : (i + 1) * M] = W_Q, W_K
        tokens.append(X)
        heads.append(Head(wide_Q, wide_K, W_V))
    oracle = Oracle(max(2, P * M))
    found = simulate(tokens, heads, oracle, B)
    assert found.outputs.reshape(P * M, 1).tolist() == joined_formula(instances, B)
    # the true error, exactly, within 2 max|v| E / (A + E)
    for i, (A, V) in enumerate(instances):
        right = judged(A, V, lambda i, j: True)
        largest = max(abs(V[q, 0]) for _, V in instances for q in range(M))
        for p in range(M):
            ratio = (P - 1) * M * Fraction(1, 2 ** (B * B)) / sum(A[p])
            assert abs(found.outputs[i, p, 0] - right[p][0]) <= 2 * largest * ratio / (1 + ratio)


@given(
    P=st.integers(1, 9),
    M=st.integers(1, 6),
    d=st.integers(1, 4),
    m=st.integers(1, 3),
    d_v=st.integers(1, 3),
    seed=st.integers(0, 2**32),
)
def test_floats_meet_every_instance_and_the_counts_are_closed_forms(P, M, d, m, d_v, seed):
    tokens, heads = float_instances(P, M, d, m, d_v, seed)
    N, oracle = P * M, Oracle(max(2, P * M))
    C = norm_bound(tokens, heads)
    B = B_for(1e-13, C, N, M)
    found = simulate(tokens, heads, oracle, B)
    for X, head, output in zip(tokens, heads, found.outputs, strict=True):
        # exact as code sums are, the scores beside B^2 still round: relative 1e-16 of C^2 + B^2
        assert np.abs(output - direct(X, head)).max() < 1e-9 * max(1, C)
    ledger = oracle.ledger
    assert (ledger.calls, ledger.rounds, ledger.tokens, ledger.width) == (1, 1, N, width(N, M, m, d_v))
    assert found.products == products(N, M) == 3 * P


def certified_error(tokens, heads, B):
    """Upper end of the largest row error, everything in balls."""
    P, M = len(tokens), len(tokens[0])
    as_balls = np.vectorize(lambda x: arb(float(x)), otypes=[object])
    X = [as_balls(x) for x in tokens]
    W = [Head(as_balls(h.W_Q), as_balls(h.W_K), as_balls(h.W_V)) for h in heads]
    output = simulate(X, W, Oracle(max(2, P * M)), B).outputs
    worst = arb(0)
    for x, head, own in zip(X, W, output, strict=True):
        scores = (x @ head.W_Q) @ (x @ head.W_K).T
        weights = np.vectorize(lambda s: s.exp(), otypes=[object])(scores)
        right = (weights @ (x @ head.W_V)) / weights.sum(axis=1, keepdims=True)
        for row in own - right:
            worst = worst.max(sum(z * z for z in row).sqrt())
    return worst


@pytest.mark.parametrize("variant", ["printed", "tight"])
@pytest.mark.parametrize("B", [1, 2, 5, 12])
def test_the_certified_error_is_within_the_bound(variant, B):
    for seed in range(4):
        tokens, heads = float_instances(3, 2, 2, 2, 2, seed)
        C = norm_bound(tokens, heads)
        ctx.prec = 600
        try:
            error = certified_error(tokens, heads, B)
            # the bound's own logarithm is a float: allow it 1e-9
            assert error <= (arb(log_error_bound(B, C, 6, 2, variant)) + 1e-9).exp()
            assert error > 0
        finally:
            ctx.prec = 53


def extreme(C, M):
    """Two instances with scores -C^2 inside, C^2 across, and opposite values: d = 1, W = +-1."""
    one, X = np.array([[1.0]]), np.full((M, 1), C)
    return [X, X], [Head(one, -one, one), Head(-one, one, -one)]


def test_the_tight_bound_is_nearly_attained_and_the_printed_proof_step_is_exceeded():
    C, M, B = 1.0, 3, 4
    tokens, heads = extreme(C, M)
    assert norm_bound(tokens, heads) == C
    ctx.prec = 300
    try:
        error = float(certified_error(tokens, heads, B))
    finally:
        ctx.prec = 53
    # all scores inside are -1, across +1, values 1 and -1: 2 x / (1 + x) exactly
    assert error == pytest.approx(error_bound(B, C, 2 * M, M), rel=1e-9)
    A, E = Fraction(M) * Fraction(math.exp(-(C**2))), Fraction(M) * Fraction(math.exp(C**2 - B**2))
    difference = float(1 / A - 1 / (A + E))
    assert difference > inverse_bound(B, C, 2 * M, M, "printed")
    assert difference <= inverse_bound(B, C, 2 * M, M)


@given(
    B=st.integers(1, 60), C=st.floats(1e-3, 30), M=st.integers(1, 50), P=st.integers(1, 50), scale=st.integers(1, 2000)
)
def test_tight_is_below_printed_and_B_for_is_the_smallest(B, C, M, P, scale):
    N = P * M
    assert log_error_bound(B, C, N, M) <= log_error_bound(B, C, N, M, "printed")
    for variant in ("printed", "tight"):
        chosen = B_for(Fraction(1, 2**scale), C, N, M, variant)
        wanted = -scale * math.log(2)
        assert log_error_bound(chosen, C, N, M, variant) <= wanted
        assert chosen == 1 or log_error_bound(chosen - 1, C, N, M, variant) > wanted
    assert B_for(Fraction(1, 2**scale), C, N, M) <= B_for(Fraction(1, 2**scale), C, N, M, "printed")


def test_B_grows_like_the_root_of_N_for_the_papers_error():
    found = {N: B_for(Fraction(1, 2**N), 2.0, N, 16) for N in (64, 256, 1024, 4096)}
    for N, B in found.items():
        assert math.sqrt(N * math.log(2)) <= B <= math.sqrt(N * math.log(2)) + 5
    assert error_bound(found[4096], 2.0, 4096, 16) == 0  # underflow; its logarithm is right
    assert log_error_bound(found[4096], 2.0, 4096, 16) <= -4096 * math.log(2)
    assert error_bound(1, 40.0, 32, 16, "printed") == math.inf


def test_a_single_instance_needs_no_code_and_has_no_error():
    tokens, heads = float_instances(1, 5, 3, 2, 2, seed=0)
    assert code_length(1) == 0
    assert error_bound(1, 2.0, 5, 5) == 0
    assert np.abs(simulate(tokens, heads, Oracle(5), 1).outputs[0] - direct(tokens[0], heads[0])).max() < 1e-14


def test_a_thousand_tokens_in_a_field():
    field, P, M, B = FiniteField(), 32, 32, 3
    p = field.order
    rng = np.random.default_rng(0)
    tokens = [rng.integers(0, p, (M, 3)) for _ in range(P)]
    heads = [Head(*(rng.integers(0, p, (3, c)) for c in (2, 2, 1))) for _ in range(P)]
    oracle = Oracle(P * M, domain=field)
    outputs = np.asarray(simulate(tokens, heads, oracle, B).outputs).astype(object).reshape(-1)
    Q, K = (np.concatenate([X @ getattr(h, W) % (p - 1) for X, h in zip(tokens, heads)]) for W in ("W_Q", "W_K"))
    V = np.concatenate([X @ h.W_V % p for X, h in zip(tokens, heads)]).astype(object)[:, 0]
    u, v = (np.repeat(x, M, axis=0) for x in codes(P))
    scores = (Q @ K.T + B * B * (u @ v.T)) % (p - 1)
    g = int(field.field.primitive_element)
    powers = np.array([pow(g, k, p) for k in range(p - 1)])
    A = powers[scores].astype(object)
    assert ((outputs * A.sum(axis=1) - A @ V) % p == 0).all()


half: Any = 1.5
loose: Any = "loose"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda t, h: simulate(t, h, Oracle(5), 3), OracleLengthError, "a sequence of 6 tokens"),
        (lambda t, h: simulate(t, h, Oracle(6, causal=True), 3), InputError, "without a causal mask"),
        (lambda t, h: simulate(t, h, Oracle(6), 0), InputError, "B must be a positive integer"),
        (lambda t, h: simulate(t, h, Oracle(6), half), InputError, "B must be a positive integer"),
        (lambda t, h: simulate([], [], Oracle(6), 3), InputError, "at least one"),
        (lambda t, h: simulate(t, h[:1], Oracle(6), 3), InputError, "as many heads"),
        (lambda t, h: simulate([t[0], t[1][:2]], h, Oracle(6), 3), InputError, "instances differ"),
        (lambda t, h: simulate([t[0][:, :1], t[1][:, :1]], h, Oracle(6), 3), InputError, r"X must be \(N, d\)"),
        (lambda t, h: simulate([t[0], t[1].astype(np.float32)], h, Oracle(6), 3), MixedScalarsError, "meet in one run"),
        (lambda t, h: norm_bound([], []), InputError, "at least one instance"),
        (lambda t, h: code_length(0), InputError, "at least one instance"),
        (lambda t, h: products(7, 2), InputError, "multiple of M"),
        (lambda t, h: error_bound(1, 1.0, 7, 2), InputError, "multiple of M"),
        (lambda t, h: error_bound(1, 1.0, 2, 4), InputError, "multiple of M"),
        (lambda t, h: error_bound(0, 1.0, 4, 2), InputError, "B >= 1"),
        (lambda t, h: error_bound(1, 0.0, 4, 2), InputError, "finite C > 0"),
        (lambda t, h: error_bound(1, math.nan, 4, 2), InputError, "finite C > 0"),
        (lambda t, h: error_bound(1, 1.0, 4, 2, loose), InputError, "variant must be one of printed, tight"),
        (lambda t, h: B_for(0, 1.0, 4, 2), InputError, "must be a positive number"),
        (lambda t, h: B_for(-1e-3, 1.0, 4, 2), InputError, "must be a positive number"),
        (lambda t, h: B_for(1e-3, 1.0, 5, 2), InputError, "multiple of M"),
    ],
)
def test_bad_input_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call(*float_instances(2, 3, 2, 1, 1, seed=0))
