"""Every construction against plain loops over Fractions, and its calls against the ledger."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.judge import ALLOWED, EVERY_VARIANT, EXACT_VARIANTS, admits, judged, rational_instance
from twoheads.catalogue import CONSTRUCTIONS, Options
from twoheads.errors import InputError
from twoheads.oracle import Oracle
from twoheads.plans import run
from twoheads.scalars import given_weights
from twoheads.transformer import Head

SMALL = [
    (N, M, r, s) for N, M in itertools.product(range(1, 8), range(2, 8)) for r, s in [(1, 0), (2, 1), (3, 0), (2, 3)]
]


def simulated(name, variant, X, head, M, options):
    entry = CONSTRUCTIONS[name]
    oracle = Oracle(M, causal=entry.causal)
    return run([entry.plan(X, head, oracle, variant, options)], oracle)[0], oracle.ledger


@pytest.mark.parametrize(("name", "variant"), EXACT_VARIANTS)
def test_equals_attention_over_the_rationals(name, variant):
    ran = 0
    for N, M, r, s in SMALL:
        options = Options(r=r, s=s)
        if not admits(CONSTRUCTIONS[name], N, M, variant, options):
            continue
        A, V = rational_instance(N, d_v=2, seed=100 * N + M)
        X, *W = given_weights(A, V)
        output, _ = simulated(name, variant, X, Head(*W), M, options)
        assert output.tolist() == judged(A, V, ALLOWED[name](options)), (N, M, r, s)
        ran += 1
    assert ran >= 20


@pytest.mark.parametrize(("name", "variant"), EVERY_VARIANT)
@given(
    N=st.integers(1, 120), M=st.integers(2, 40), r=st.integers(1, 9), s=st.integers(0, 6), seed=st.integers(0, 2**32)
)
def test_calls_equal_the_ledger_and_floats_stay_close(name, variant, N, M, r, s, seed):
    options = Options(r=r, s=s)
    entry = CONSTRUCTIONS[name]
    assume(admits(entry, N, M, variant, options))
    rng = np.random.default_rng(seed)
    Q, K, V = rng.uniform(-1, 1, (N, 3)), rng.uniform(-1, 1, (N, 3)), rng.normal(size=(N, 2))
    select = np.eye(8)
    head = Head(select[:, :3], select[:, 3:6], select[:, 6:])
    output, ledger = simulated(name, variant, np.hstack([Q, K, V]), head, M, options)
    assert ledger.calls == entry.calls(N, M, variant, options)
    assert ledger.rounds == 1
    if (name, variant) == ("causal", "printed") or entry.approximate:
        return
    allowed = ALLOWED[name](options)
    weights = np.exp(Q @ K.T) * [[allowed(i, j) for j in range(N)] for i in range(N)]
    direct = weights @ V / weights.sum(axis=1, keepdims=True)
    assert np.abs(output - direct).max() < 1e-9


def test_the_printed_causal_construction_counts_the_diagonal_key_twice():
    # N = 4, M = 3: block 2 = positions 2, 3. Query 2 meets key 0 in both halves of block 1.
    A, V = rational_instance(4, seed=1)
    X, *W = given_weights(A, V)
    output, _ = simulated("causal", "printed", X, Head(*W), 3, Options())
    right = judged(A, V, ALLOWED["causal"](Options()))
    assert output[:2].tolist() == right[:2]
    assert output[2].tolist() != right[2]
    # what it computes: the second half's ratio also holds key 0, weighted by the sum over key 1 alone
    B2 = (A[2, 0] * V[0, 0] + A[2, 1] * V[1, 0]) / (A[2, 0] + A[2, 1]) * A[2, 1]
    wrong = (A[2, 0] * V[0, 0] + B2 + A[2, 2] * V[2, 0]) / (A[2, 0] + A[2, 1] + A[2, 2])
    assert output[2, 0] == wrong


@pytest.mark.parametrize("name", CONSTRUCTIONS)
def test_an_unknown_variant_and_the_wrong_kind_of_oracle_are_refused(name):
    entry = CONSTRUCTIONS[name]
    X, *W = given_weights(*rational_instance(3))
    with pytest.raises(InputError, match="variant"):
        simulated(name, "nonsense", X, Head(*W), 6, Options())
    oracle = Oracle(6, causal=not entry.causal)
    with pytest.raises(InputError, match="causal mask"):
        run([entry.plan(X, Head(*W), oracle, entry.everywhere, Options())], oracle)


def test_a_window_that_does_not_fit_is_refused_with_the_length_it_needs():
    assert CONSTRUCTIONS["sink"].calls(50, 8, "stable", Options(r=4, s=3)) > 0
    with pytest.raises(InputError, match="take M >= 9"):
        CONSTRUCTIONS["sink"].calls(50, 8, "stable", Options(r=4, s=4))
    with pytest.raises(InputError, match="take M >= 9"):
        CONSTRUCTIONS["sink"].calls(50, 8, "merged", Options(r=4, s=3))
    with pytest.raises(InputError, match="r >= 1"):
        CONSTRUCTIONS["window"].calls(50, 8, "stable", Options(r=0))
    with pytest.raises(InputError, match="s >= 0"):
        CONSTRUCTIONS["sink"].calls(50, 8, "stable", Options(r=1, s=-1))


def test_groups_sharing_a_call_are_refused_over_exact_scalars():
    X, *W = given_weights(*rational_instance(9))
    with pytest.raises(InputError, match="give each group its own call"):
        simulated("window", "stable", X, Head(*W), 8, Options(r=2))


@pytest.mark.parametrize(("name", "variant"), EVERY_VARIANT)
def test_the_constant_bounds_the_calls(name, variant):
    entry = CONSTRUCTIONS[name]
    if variant == "separate":
        with pytest.raises(InputError, match="no constant"):
            entry.constant(variant, Options())
        return
    for N, M, r, s in itertools.product([*range(2, 30), 97, 256], [*range(2, 20), 40], [1, 2, 5], [0, 1, 4]):
        options = Options(r=r, s=s)
        if M <= N and admits(entry, N, M, variant, options):
            bound = entry.constant(variant, options) * entry.bound(N, M, options)
            assert entry.calls(N, M, variant, options) <= bound, (N, M, r, s)
