"""Theorem 3.4: whole transformers against plain loops, their calls against the ledger and the paper's bound."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy
from flint import arb
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from numeric.inputs import embedded_input
from tests.judge import ALLOWED, EVERY_VARIANT, EXACT_VARIANTS, admits, judged, rational_instance
from twoheads import theorem_3_4, theorem_4_1
from twoheads.call_lengths import call_lengths
from twoheads.catalogue import CONSTRUCTIONS, Options
from twoheads.counts import HeadShape, counts
from twoheads.errors import InputError
from twoheads.oracle import Oracle
from twoheads.packed_counts import packed_counts
from twoheads.packings import PACKINGS
from twoheads.scalars import given_weights
from twoheads.scalars.balls import DOMAIN as BALLS
from twoheads.scalars.finite_field import FiniteField
from twoheads.transformer import Head, Layer, Transformer

RIGHT = [name for name in PACKINGS if name != "printed"]
PACKED = [
    (1, 1, "residual"),
    (1, 3, "residual"),
    (2, 1, "residual"),
    (2, 1, "one_layer"),
    *((L_small, H_small, packing) for L_small, H_small in [(2, 2), (3, 4)] for packing in RIGHT),
]
"""L', H' and packing; one layer or one lane leaves nothing to choose."""
WINDOW = Options(r=7, s=3)


class Random:
    """A random transformer whose MLPs use the position, and how to run it in NumPy alone."""

    def __init__(self, N, d, heads, residual, seed):
        rng = np.random.default_rng(seed)
        self.N, self.residual, self.columns = N, residual, np.split(np.arange(d), heads)
        m = d // heads
        self.X, self.U = rng.normal(size=(N, d)), rng.normal(size=(d, d))
        self.W = rng.normal(size=(3, heads, 3, m, m))
        self.P = rng.normal(size=(3, d, d)) / 2

    def phi(self, x, i):
        return np.tanh(x @ self.U + np.sin(i)[:, None])

    def psi(self, level):
        def plain(y, i):
            return np.tanh(y @ self.P[level] + np.cos(i)[:, None])

        return (lambda y, i, x: x + plain(y, i)) if self.residual else plain

    def transformer(self):
        columns = [slice(c[0], c[-1] + 1) for c in self.columns]
        return Transformer(
            [
                Layer(
                    [Head(*W, columns=c) for W, c in zip(heads, columns, strict=True)], self.psi(level), self.residual
                )
                for level, heads in enumerate(self.W)
            ],
            self.phi,
        )

    def direct(self, allowed):
        i = np.arange(self.N)
        mask = np.array([[allowed(a, b) for b in i] for a in i])
        x = self.phi(self.X, i)
        for level, heads in enumerate(self.W):
            outputs = []
            for (W_Q, W_K, W_V), c in zip(heads, self.columns, strict=True):
                weights = np.exp(x[:, c] @ W_Q @ (x[:, c] @ W_K).T) * mask
                outputs.append(weights @ (x[:, c] @ W_V) / weights.sum(axis=1, keepdims=True))
            joined = np.hstack(outputs)
            x = self.psi(level)(joined, i, x) if self.residual else self.psi(level)(joined, i)
        return x


@pytest.fixture(scope="module", params=[False, True], ids=["", "residual"])
def large(request):
    return Random(N=200, d=8, heads=4, residual=request.param, seed=1)


@pytest.mark.parametrize(("L_small", "H_small", "packing"), PACKED)
@pytest.mark.parametrize("name", [name for name, entry in CONSTRUCTIONS.items() if not entry.approximate])
def test_three_layers_of_four_heads_by_any_oracle(large, name, L_small, H_small, packing):
    oracle = Oracle(24, L_small, H_small, CONSTRUCTIONS[name].causal)
    output = theorem_3_4.simulate(large.X, large.transformer(), oracle, name, packing=packing, options=WINDOW)
    assert np.abs(output - large.direct(ALLOWED[name](WINDOW))).max() < 1e-11
    assert oracle.ledger.rounds == 3
    expected = theorem_3_4.calls(200, 24, 4, 3, H_small, L_small, name, packing=packing, options=WINDOW)
    assert oracle.ledger.calls == expected


def test_corollary_3_2_is_one_call_per_block_and_head(large):
    oracle = Oracle(24)
    theorem_3_4.simulate(large.X, large.transformer(), oracle)
    blocks = -(-200 // 23)
    assert oracle.ledger.calls == blocks**2 * 4 * 3
    assert oracle.ledger.width == 2 * (8 // 4) + 2  # O(d/H)


def test_a_small_B_shows_and_the_printed_packing_is_wrong(large):
    direct = large.direct(ALLOWED["quadratic"](WINDOW))

    def error(packing, B=750):
        oracle = Oracle(24, 2, 2)
        return np.abs(theorem_3_4.simulate(large.X, large.transformer(), oracle, packing=packing, B=B) - direct).max()

    assert error("printed") > 0.1
    errors = [error("pass_through", B) for B in (3, 6, 9)]
    assert errors[0] > errors[1] > errors[2] > 1e-11


def logged(A, values):
    """Tokens and one head that attends to the values with the weights A."""
    X, *W = given_weights(A, values)
    return X, W


class Rational:
    """Two layers of two heads over the rationals: psi_1 squares, and sets the second layer's scores by position."""

    def __init__(self, N, seed):
        self.N = N
        self.A = [[rational_instance(N, seed=seed + 2 * level + h)[0] for h in range(2)] for level in range(2)]
        _, self.V = rational_instance(N, d_v=2, seed=seed)
        _, W = logged(self.A[0][0], self.V[:, :1])
        width = 2 * N + 1
        heads = [Head(*W, columns=slice(h * width, (h + 1) * width)) for h in range(2)]
        self.transformer = Transformer([Layer(heads, self.psi), Layer(heads)])
        self.X = self.tokens(0, self.V)

    def tokens(self, level, values):
        return np.concatenate([logged(A, values[:, h : h + 1])[0] for h, A in enumerate(self.A[level])], axis=1)

    def psi(self, y, i):
        return self.tokens(1, y * y + i.astype(object)[:, None])

    def direct(self, allowed):
        values = self.V
        for level in range(2):
            rows = [judged(A, values[:, h : h + 1], allowed) for h, A in enumerate(self.A[level])]
            values = np.concatenate([np.array(r, dtype=object) for r in rows], axis=1)
            if level == 0:
                values = values * values + np.arange(self.N).astype(object)[:, None]
        return values.tolist()


@pytest.mark.parametrize(("name", "variant"), EXACT_VARIANTS)
@settings(max_examples=30)
@given(
    N=st.integers(1, 6),
    M=st.integers(2, 6),
    r=st.integers(1, 3),
    s=st.integers(0, 2),
    shape=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    packing=st.sampled_from(["residual", "one_layer"]),
    seed=st.integers(0, 1000),
)
def test_two_layers_are_exact_over_the_rationals(name, variant, N, M, r, s, shape, packing, seed):
    entry, options = CONSTRUCTIONS[name], Options(r=r, s=s)
    assume(admits(entry, N, M, variant, options))
    case = Rational(N, seed)
    L_small, H_small = shape
    oracle = Oracle(M, L_small, H_small, entry.causal)
    output = theorem_3_4.simulate(case.X, case.transformer, oracle, name, variant, packing, options)
    assert output.tolist() == case.direct(ALLOWED[name](options))


def test_two_layers_over_a_field_at_a_thousand_tokens():
    field, N = FiniteField(), 1024
    rng = np.random.default_rng(2)

    def matrix():
        return rng.integers(0, field.order - 1, (2, 2))

    layers = [Layer([Head(matrix(), matrix(), matrix(), columns=slice(h, h + 2)) for h in (0, 2)]) for _ in range(2)]
    transformer = Transformer(layers)
    X = rng.integers(0, field.order - 1, (N, 4))
    oracle = Oracle(205, L_small=3, H_small=2, domain=field)
    output = theorem_3_4.simulate(X, transformer, oracle)
    assert (output == transformer(X, None, field)).all()
    assert oracle.ledger.calls == theorem_3_4.calls(N, 205, 2, 2, 2, 3)


def test_two_heads_of_symbols_simplify_to_attention():
    X = np.array(sympy.symbols("x:4", real=True), dtype=object).reshape(2, 2)
    one = np.array([[1]], dtype=object)
    transformer = Transformer([Layer([Head(one, one, one, columns=slice(h, h + 1)) for h in range(2)])])
    output = theorem_3_4.simulate(X, transformer, Oracle(2, 3, 2))
    for h in range(2):
        for i in range(2):
            weights = [sympy.exp(X[i, h] * X[j, h]) for j in range(2)]
            right = sum(w * x for w, x in zip(weights, X[:, h], strict=True)) / sum(weights)
            assert sympy.simplify(output[i, h] - right) == 0


@pytest.mark.parametrize("packing", RIGHT)
@pytest.mark.parametrize("name", ["quadratic", "causal", "sink"])
def test_balls_enclose_the_direct_run(name, packing):
    rng = np.random.default_rng(3)
    balls = np.vectorize(arb, otypes=[object])
    options = Options(r=2, s=1)

    def head(h):
        return Head(*(balls(rng.normal(size=(2, 2))) for _ in range(3)), columns=slice(2 * h, 2 * h + 2))

    def psi(y, i):
        return y * y + balls(i)[:, None] / 4

    transformer = Transformer([Layer([head(0), head(1)], psi) for _ in range(2)])
    X = balls(rng.normal(size=(7, 4)) / 2)
    entry = CONSTRUCTIONS[name]
    output = theorem_3_4.simulate(X, transformer, Oracle(4, 2, 2, entry.causal), name, packing=packing, options=options)
    direct = transformer(X, entry.mask(7, options), BALLS)
    assert all(a.overlaps(b) for a, b in zip(output.ravel(), direct.ravel(), strict=True))
    assert all(float(a.rad()) < 1e-6 for a in output.ravel())


def real_error(real, output):
    """Largest relative row error of any head against softmax in NumPy."""
    errors = []
    for h, own in enumerate(np.split(output, len(real.heads), axis=1)):
        Q, K, V = real.qkv(h)
        weights = np.exp(Q @ K.T - (Q @ K.T).max(axis=1, keepdims=True))
        direct = weights @ V / weights.sum(axis=1, keepdims=True)
        errors.append((np.linalg.norm(own - direct, axis=1) / np.linalg.norm(direct, axis=1)).max())
    return max(errors)


@pytest.mark.parametrize("layer", ["layer0", "layer5"])
def test_the_real_attention_with_all_twelve_heads_packed(layer):
    real = embedded_input(layer)
    oracle = Oracle(129, L_small=2, H_small=4)
    output = theorem_3_4.simulate(real.tokens[0], Transformer([Layer(real.heads)]), oracle)
    assert real_error(real, output) < 1e-12
    assert oracle.ledger.calls == theorem_3_4.calls(512, 129, 12, 1, 4, 2) == 16 * 12 // 8


@pytest.mark.parametrize(("layer", "packing", "per_call"), [("layer0", "pass_through", 6), ("layer5", "paired", 4)])
def test_the_real_attention_by_the_papers_oracle_without_residual(layer, packing, per_call):
    real = embedded_input(layer)
    X = np.hstack([part for h in range(12) for part in real.qkv(h)])  # head h reads its own q, k, v
    select = np.split(np.eye(96), 3, axis=1)
    layers = [Layer([Head(*select, columns=slice(96 * h, 96 * h + 96)) for h in range(12)])]
    oracle = Oracle(129, L_small=2, H_small=4)
    output = theorem_3_4.simulate(X, Transformer(layers), oracle, packing=packing)
    assert real_error(real, output) < 1e-12
    assert oracle.ledger.calls == 16 * 12 // per_call


SIZES = {
    "N": st.integers(1, 60),
    "M": st.integers(2, 30),
    "r": st.integers(1, 6),
    "s": st.integers(0, 4),
}


@pytest.mark.parametrize(("name", "variant"), EVERY_VARIANT)
@given(**SIZES)
def test_call_lengths_add_up_to_the_calls_and_tokens(name, variant, N, M, r, s):
    options = Options(r=r, s=s)
    assume(admits(CONSTRUCTIONS[name], N, M, variant, options))
    lengths = call_lengths(name, variant, N, M, options)
    total = counts(name, variant, N, M, HeadShape(2, 2, 2), options)
    assert sum(lengths.values()) == total.calls
    assert sum(length * calls for length, calls in lengths.items()) == total.tokens


@pytest.mark.parametrize(("name", "variant"), EVERY_VARIANT)
@settings(max_examples=30)
@given(
    **SIZES,
    heads=st.integers(1, 5),
    shape=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    packing=st.sampled_from(list(PACKINGS)),
)
def test_calls_equal_the_ledger(name, variant, N, M, r, s, heads, shape, packing):
    options, (H_small, L_small) = Options(r=r, s=s), shape
    entry = CONSTRUCTIONS[name]
    assume(admits(entry, N, M, variant, options))
    assume(packing not in ("pass_through", "paired") or H_small > 1 or L_small == 1)
    zero, one = np.zeros((1, 1)), np.ones((1, 1))
    layer = Layer([Head(zero, zero, one, columns=slice(h, h + 1)) for h in range(heads)])
    oracle = Oracle(M, L_small, H_small, entry.causal)
    with np.errstate(all="ignore"):  # what a wrong packing computes does not matter here, but that it is counted
        theorem_3_4.simulate(np.ones((N, heads)), Transformer([layer] * 2), oracle, name, variant, packing, options)
    assert oracle.ledger.calls == theorem_3_4.calls(N, M, heads, 2, H_small, L_small, name, variant, packing, options)
    assert oracle.ledger.rounds == 2
    shape_of_heads = (HeadShape(1, 1, 1), heads, 2, H_small, L_small)
    if variant in ("merged", "stable", "separate"):
        assert packed_counts(name, variant, N, M, *shape_of_heads, packing, options) == oracle.ledger
    else:
        with pytest.raises(InputError, match="calls of two shapes"):
            packed_counts(name, variant, N, M, *shape_of_heads, packing, options)


@pytest.mark.parametrize(("name", "variant"), [pair for pair in EVERY_VARIANT if pair[1] != "separate"])
@given(
    N=st.integers(2, 5000),
    M=st.integers(2, 200),
    r=st.integers(1, 6),
    s=st.integers(0, 4),
    H=st.integers(1, 40),
    L=st.integers(1, 5),
    shape=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    packing=st.sampled_from(list(PACKINGS)),
)
def test_calls_stay_within_the_constant_of_the_papers_bound(name, variant, N, M, r, s, H, L, shape, packing):
    options, (H_small, L_small) = Options(r=r, s=s), shape
    assume(M <= N)
    assume(admits(CONSTRUCTIONS[name], N, M, variant, options))
    assume(packing not in ("pass_through", "paired") or H_small > 1 or L_small == 1)
    bound = theorem_3_4.bound(N, M, H, L, H_small, L_small, name, options)
    assume(bound >= L)
    c = theorem_3_4.constant(H_small, L_small, name, variant, packing, options)
    assert theorem_3_4.calls(N, M, H, L, H_small, L_small, name, variant, packing, options) <= c * bound


def test_a_layer_takes_a_call_even_where_the_papers_bound_is_smaller():
    assert theorem_3_4.calls(10, 11, 1, 1, 10, 10) == 1
    assert theorem_3_4.bound(10, 11, 1, 1, 10, 10) == Fraction(100, 121) / 100


def test_every_sampling_head_draws_a_permutation_of_its_own():
    """Two layers of means over all four tokens 1, 1, 0, 0: every row is 1/2, and so is its estimate on the average."""
    zero, one = np.zeros((1, 1)), np.ones((1, 1))
    T = Transformer([Layer([Head(zero, zero, one)])] * 2)
    X = np.array([[1.0], [1.0], [0.0], [0.0]])

    def sampled(seed):
        return theorem_3_4.simulate(X, T, Oracle(2), "average-case", "merged", options=Options(seed=seed))[0, 0]

    def with_one_permutation(seed):
        tau = theorem_4_1.random_permutation(4, seed)
        return theorem_3_4.layer_by_layer(
            X, T, Oracle(2), lambda own, head, asked: theorem_4_1.plan(own, head, asked, tau)
        )[0, 0]

    assert np.mean([sampled(seed) for seed in range(400)]) == pytest.approx(1 / 2, abs=0.06)
    assert np.mean([with_one_permutation(seed) for seed in range(400)]) == pytest.approx(2 / 3, abs=0.06)


def test_a_single_sampling_head_keeps_the_seed():
    rng = np.random.default_rng(5)
    X, (W_Q, W_K, W_V) = rng.normal(size=(10, 2)), rng.normal(size=(3, 2, 2))
    T = Transformer([Layer([Head(W_Q, W_K, W_V)])])
    output = theorem_3_4.simulate(X, T, Oracle(4), "average-case", "merged", options=Options(seed=7))
    assert np.array_equal(output, theorem_4_1.simulate(X, W_Q, W_K, W_V, Oracle(4), seed=7))


def test_bad_input_is_refused_in_a_sentence():
    case = Random(N=5, d=4, heads=2, residual=False, seed=0)
    T = case.transformer()
    with pytest.raises(InputError, match="at least one token"):
        theorem_3_4.simulate(case.X[:0], T, Oracle(3))
    with pytest.raises(InputError, match="at least one token"):
        theorem_3_4.simulate(case.X[0], T, Oracle(3))
    for empty in (Transformer([]), Transformer([Layer([])])):
        with pytest.raises(InputError, match="nothing to attend with"):
            theorem_3_4.simulate(case.X, empty, Oracle(3))
    with pytest.raises(InputError, match="there is no construction 'nonsense'"):
        theorem_3_4.simulate(case.X, T, Oracle(3), "nonsense")
    with pytest.raises(InputError, match="has the variants"):
        theorem_3_4.simulate(case.X, T, Oracle(3), variant="nonsense")
    with pytest.raises(InputError, match="no packing"):
        theorem_3_4.calls(5, 3, 1, 1, 1, 1, packing="nonsense")
    with pytest.raises(InputError, match="without a causal mask"):
        theorem_3_4.simulate(case.X, T, Oracle(3, causal=True))
    wide = Transformer([Layer([Head(np.eye(3), np.eye(3), np.eye(3), columns=slice(2, 5))])])
    with pytest.raises(InputError, match=r"X must be \(N, d\) with d = 3"):
        theorem_3_4.simulate(case.X, wide, Oracle(3))
