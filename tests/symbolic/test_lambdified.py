"""Derived formulas and runs on symbols, evaluated in NumPy, against the numeric run."""

from __future__ import annotations

import numpy as np
import pytest

from symbolic.catalogue import derivations
from symbolic.lambdified import quotient, simulator
from symbolic.on_symbols import Run
from tests.judge import ALLOWED, EXACT_VARIANTS
from twoheads.catalogue import CONSTRUCTIONS, Options
from twoheads.oracle import Oracle
from twoheads.plans import run
from twoheads.transformer import Head

RNG = np.random.default_rng(3)


def softmax_rows(scores):
    weights = np.exp(scores)
    return weights / weights.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("variant", ["stable", "merged"])
@pytest.mark.parametrize(("N", "n"), [(7, 3), (6, 3), (5, 4), (3, 1), (2, 5)])
def test_the_derived_quotient_of_oracle_outputs_is_attention(variant, N, n):
    """The outputs come from plain softmax rows here, synthetic tokens of score 0.7 included."""
    scores, values = RNG.normal(size=(N, N)), RNG.normal(size=N)
    T, n = -(-N // n), min(n, N)
    out, R, w, s = np.empty((N, T)), np.empty((N, T)), np.empty((N, T)), np.empty(T)
    for t in range(T):
        own = slice(t * n, min((t + 1) * n, N))
        s[t] = n + 1 - len(values[own])
        synthetic = np.full((N, int(s[t])), 0.7)
        shares = softmax_rows(np.concatenate([synthetic, scores[:, own]], axis=1))
        R[:, t] = shares[:, int(s[t]) :].sum(axis=1)
        w[:, t] = shares[:, : int(s[t])].sum(axis=1)
        out[:, t] = shares[:, int(s[t]) :] @ values[own]
    recovered = quotient(derivations()["Lemma 3.1"], variant)(O=out, R=R, w=w, s=s)
    np.testing.assert_allclose(recovered, softmax_rows(scores) @ values, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(("name", "variant"), EXACT_VARIANTS)
def test_a_run_on_symbols_evaluated_in_numpy_equals_the_numeric_run(name, variant):
    N, M, options = 5, 5, Options(r=2, s=1)
    A, v = np.exp(RNG.normal(size=(N, N))), RNG.normal(size=N)
    on_symbols = simulator(Run(name, variant, N, M, options=options))(A, v)
    select = np.eye(2 * N + 1)
    entry = CONSTRUCTIONS[name]
    oracle = Oracle(M, causal=entry.causal)
    X = np.concatenate([np.eye(N), np.log(A).T, v[:, None]], axis=1)
    head = Head(select[:, :N], select[:, N : 2 * N], select[:, 2 * N :])
    numeric = run([entry.plan(X, head, oracle, variant, options)], oracle)[0][:, 0]
    np.testing.assert_allclose(on_symbols, numeric, rtol=1e-12, atol=1e-13)
    weights = A * [[ALLOWED[name](options)(i, j) for j in range(N)] for i in range(N)]
    np.testing.assert_allclose(on_symbols, weights @ v / weights.sum(axis=1), rtol=1e-12, atol=1e-13)


def test_a_run_on_tokens_has_no_weights_to_put_in():
    with pytest.raises(ValueError, match="given weights is needed"):
        simulator(Run("quadratic", "stable", 2, 2, "tokens"))
