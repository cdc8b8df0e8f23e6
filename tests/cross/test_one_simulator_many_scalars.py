"""The same simulator under every scalar gives the same answer; exact rationals are the judge.

The instance has integer scores. The rationals' exponential is n -> 2^n, so every other scalar is fed scores
times log 2 and must meet the very same numbers.
"""

from __future__ import annotations

from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy
import z3
from flint import arb, ctx

from tests.judge import ALLOWED, EXACT_VARIANTS, judged
from twoheads.attention import attention
from twoheads.catalogue import CONSTRUCTIONS, Options
from twoheads.oracle import Oracle
from twoheads.plans import run
from twoheads.scalars import given_weights
from twoheads.scalars.finite_field import FiniteField
from twoheads.transformer import Head

jax.config.update("jax_enable_x64", True)

N, M, OPTIONS = 7, 6, Options(r=2, s=2)
RNG = np.random.default_rng(7)
X = RNG.integers(-1, 2, (N, 3))
W_Q, W_K, W_V = (RNG.integers(-1, 2, shape) for shape in [(3, 2), (3, 2), (3, 2)])


def simulated(name, variant, X, head, M=M, options=OPTIONS, domain=None):
    entry = CONSTRUCTIONS[name]
    oracle = Oracle(M, causal=entry.causal, domain=domain)
    return run([entry.plan(X, head, oracle, variant, options)], oracle)[0]


def direct(name):
    scores = (X @ W_Q) @ (X @ W_K).T
    A = np.array([[Fraction(2) ** int(x) for x in row] for row in scores], dtype=object)
    return np.array(judged(A, (X @ W_V).astype(object), ALLOWED[name](OPTIONS)), dtype=object)


def converted(kind, log_two):
    """X, W_Q log 2, W_K, W_V as arrays of objects of one kind."""

    def to(array):
        return np.vectorize(lambda x: kind(int(x)), otypes=[object])(array)

    return to(X), Head(to(W_Q) * log_two, to(W_K), to(W_V))


@pytest.mark.parametrize(("name", "variant"), EXACT_VARIANTS)
class TestEveryScalarMeetsTheRationals:
    def test_rationals(self, name, variant):
        one = np.array([[Fraction(1)]], dtype=object)
        head = Head(W_Q.astype(object), W_K.astype(object), W_V.astype(object) * one)
        assert simulated(name, variant, X.astype(object), head).tolist() == direct(name).tolist()

    def test_float64(self, name, variant):
        head = Head(W_Q * np.log(2), 1.0 * W_K, 1.0 * W_V)
        output = simulated(name, variant, 1.0 * X, head)
        np.testing.assert_allclose(output, direct(name).astype(float), rtol=1e-12, atol=1e-13)

    def test_float32(self, name, variant):
        narrow = [np.asarray(x, dtype=np.float32) for x in (X, W_Q * np.log(2), W_K, W_V)]
        output = simulated(name, variant, narrow[0], Head(*narrow[1:]))
        assert output.dtype == np.float32
        np.testing.assert_allclose(output, direct(name).astype(float), rtol=2e-4, atol=2e-5)

    def test_jax(self, name, variant):
        head = Head(*(jnp.asarray(1.0 * W) for W in (W_Q * np.log(2), W_K, W_V)))
        output = simulated(name, variant, jnp.asarray(1.0 * X), head)
        assert isinstance(output, jax.Array)
        np.testing.assert_allclose(output, direct(name).astype(float), rtol=1e-12, atol=1e-13)

    def test_sympy(self, name, variant):
        output = simulated(name, variant, *converted(sympy.Integer, sympy.log(2)))
        difference = [
            sympy.nsimplify(sympy.simplify(x)) - y for x, y in zip(output.ravel(), direct(name).ravel(), strict=True)
        ]
        assert set(difference) == {0}

    def test_z3(self, name, variant):
        A = np.array(
            [[z3.RealVal(Fraction(2) ** int(x)) for x in row] for row in (X @ W_Q) @ (X @ W_K).T], dtype=object
        )
        V = np.vectorize(lambda x: z3.RealVal(int(x)), otypes=[object])(X @ W_V)
        tokens, *W = given_weights(A, V)
        output = simulated(name, variant, tokens, Head(*W))
        assert [z3.simplify(x).as_fraction() for x in output.ravel()] == direct(name).ravel().tolist()

    def test_balls(self, name, variant):
        ctx.prec = 400
        output = simulated(name, variant, *converted(arb, arb(2).log()))
        for ball, fraction in zip(output.ravel(), direct(name).ravel(), strict=True):
            assert ball.rad() < arb(2) ** -350
            assert (ball - arb(fraction.numerator) / fraction.denominator).contains(0)


@pytest.mark.parametrize(("name", "variant"), EXACT_VARIANTS)
def test_exactly_equal_over_a_field_at_a_thousand_tokens(name, variant):
    field = FiniteField()
    N, M, options = 1027, 33, Options(r=5, s=3)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        tokens = rng.integers(0, field.order, (N, 8))
        tokens[:, 0] = 1  # with it every row's weights are independent and uniform
        select = np.eye(8, dtype=np.int64)
        head = Head(select[:, :3], select[:, 3:6], select[:, 6:])
        mask = CONSTRUCTIONS[name].mask(N, options)
        try:
            expected = attention(
                field.coordinates(tokens, head.W_Q),
                field.coordinates(tokens, head.W_K),
                field.values(tokens, head.W_V),
                mask,
                field,
            )
            output = simulated(name, variant, tokens, head, M, options, field)
        except ZeroDivisionError:  # a denominator hit zero: draw again
            continue
        assert (output == expected).all()
        return
    raise AssertionError("every draw hit a zero denominator")


@pytest.mark.parametrize("name", ["window", "sink"])
def test_a_coded_window_over_balls_encloses_attention(name):
    ctx.prec = 400
    tokens, head = converted(arb, arb(2).log())
    output = simulated(name, "stable", tokens, head, M=9)
    for ball, fraction in zip(output.ravel(), direct(name).ravel(), strict=True):
        # the codes let other groups in with weight e^-1500, below the radius asked for here
        assert abs(ball - arb(fraction.numerator) / fraction.denominator) < arb(2) ** -350


@pytest.mark.parametrize(("name", "variant"), EXACT_VARIANTS)
def test_a_traced_array_has_no_device_and_needs_none(name, variant):
    head = Head(*(jnp.asarray(1.0 * W) for W in (W_Q * np.log(2), W_K, W_V)))
    output = jax.jit(lambda tokens: simulated(name, variant, tokens, head))(jnp.asarray(1.0 * X))
    np.testing.assert_allclose(output, direct(name).astype(float), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    ("name", "variant"),
    [(name, variant) for name, entry in CONSTRUCTIONS.items() for variant in entry.variants if variant == "stable"],
)
def test_the_gradient_is_direct_attentions(name, variant):
    rng = np.random.default_rng(3)
    tokens = jnp.asarray(rng.normal(size=(30, 4)))
    W = [jnp.asarray(rng.normal(size=(4, 3))) for _ in range(3)]
    probe = jnp.asarray(rng.normal(size=(30, 3)))
    mask = CONSTRUCTIONS[name].mask(30, OPTIONS)

    def through_oracles(tokens, W):
        return jnp.sum(probe * simulated(name, variant, tokens, Head(*W), M=9))

    def directly(tokens, W):
        Q, K, V = (tokens @ matrix for matrix in W)
        return jnp.sum(probe * attention(Q, K, V, mask))

    for mine, its in zip(
        jax.tree.leaves(jax.grad(through_oracles, argnums=(0, 1))(tokens, W)),
        jax.tree.leaves(jax.grad(directly, argnums=(0, 1))(tokens, W)),
        strict=True,
    ):
        np.testing.assert_allclose(mine, its, rtol=1e-9, atol=1e-11)
