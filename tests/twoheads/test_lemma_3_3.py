"""Lemma 3.3: packed instances against each of them alone, by plain loops; what the printed packing computes instead."""

from __future__ import annotations

import math
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy
import z3
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from tests.judge import judged, rational_instance
from twoheads.attention import attention
from twoheads.errors import InputError, OracleLengthError
from twoheads.lemma_3_3 import PackedOracle, error_factor, least_B, packings
from twoheads.oracle import Batch, Oracle
from twoheads.packings import PACKINGS
from twoheads.scalars import given_weights
from twoheads.scalars.finite_field import FiniteField
from twoheads.transformer import Head, Layer, Transformer, single_head

RIGHT = [name for name in PACKINGS if name != "printed"]
EXACT = [name for name, entry in PACKINGS.items() if entry.exact]
PASSING = ["pass_through", "paired"]


def plain_attention(X, head, causal):
    """One instance by NumPy alone."""
    scores = (X @ head.W_Q) @ (X @ head.W_K).T
    if causal:
        scores = np.where(np.tri(len(X), dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights @ (X @ head.W_V) / weights.sum(axis=1, keepdims=True)


def random_batch(rng, C, n, w, m=2, v=2):
    head = Head(*(rng.normal(size=shape) for shape in ((w, m), (w, m), (w, v))))
    return rng.normal(size=(C, n, w)), head


def as_batches(pairs):
    return [Batch(tokens, single_head(head.W_Q, head.W_K, head.W_V)) for tokens, head in pairs]


def one_by_one(pairs):
    """Every call as a batch of its own: so that calls mix instances of different parameters."""
    return [(tokens[k : k + 1], head) for tokens, head in pairs for k in range(len(tokens))]


class Recording(Oracle):
    """An oracle that remembers the shapes of what it was given."""

    def __post_init__(self):
        super().__post_init__()
        self.shapes = []

    def _answer(self, batch):
        self.shapes += [(batch.parameters.L, batch.parameters.H)] * len(batch.tokens)
        return super()._answer(batch)


def exact_instances(count, n, seed):
    """Instances over the rationals, of different parameters and widths, with their right answers."""
    batches: list[Batch] = []
    right: dict[bool, list] = {True: [], False: []}
    for k in range(count):
        A, V = rational_instance(n, d_v=1 + k % 3, seed=seed + k)
        X, W_Q, W_K, W_V = given_weights(A, V)
        scaled = np.array([[Fraction(k + 1, 3) if x == 1 else 0 for x in row] for row in W_V], dtype=object)
        batches.append(Batch(X[None], single_head(W_Q, W_K, scaled)))
        for causal, answers in right.items():
            rows = judged(A, V, (lambda i, j: j <= i) if causal else lambda i, j: True)
            answers.append([[x * Fraction(k + 1, 3) for x in row] for row in rows])
    return batches, right


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("packing", EXACT)
@pytest.mark.parametrize(("L_small", "H_small"), [(1, 1), (1, 3), (2, 1), (2, 2), (3, 2)])
def test_exact_packings_are_exact_over_the_rationals(packing, L_small, H_small, causal):
    for count, n in [(1, 3), (H_small * L_small, 3), (7, 2), (7, 1)]:
        batches, right = exact_instances(count, n, seed=10 * count)
        oracle = Oracle(4, L_small, H_small, causal)
        answers = PackedOracle(oracle, packing).round(batches)
        assert [y[0].tolist() for y in answers] == right[causal]
        assert oracle.ledger.calls == -(-count // PACKINGS[packing].capacity(H_small, L_small))


@pytest.mark.parametrize("packing", RIGHT)
@given(
    shape=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    batches=st.lists(st.tuples(st.integers(1, 23), st.integers(1, 5), st.integers(1, 4)), min_size=1, max_size=6),
    causal=st.booleans(),
    seed=st.integers(0, 2**32),
)
def test_every_instance_gets_its_own_answer_and_calls_are_as_few_as_they_fill(packing, shape, batches, causal, seed):
    H_small, L_small = shape
    if packing in PASSING and H_small == 1:
        L_small = 1
    rng = np.random.default_rng(seed)
    pairs = [random_batch(rng, C, n, w) for C, n, w in batches]
    oracle = Recording(5, L_small, H_small, causal)
    answers = PackedOracle(oracle, packing).round(as_batches(pairs))
    for (tokens, head), answer in zip(pairs, answers, strict=True):
        right = [plain_attention(X, head, causal) for X in tokens]
        assert np.abs(answer - right).max() < 1e-9
    capacity = PACKINGS[packing].capacity(H_small, L_small)
    by_length = {n: sum(C for C, length, _ in batches if length == n) for _, n, _ in batches}
    assert oracle.ledger.calls == len(oracle.shapes) == sum(-(-C // capacity) for C in by_length.values())
    assert oracle.ledger.rounds == 1


@pytest.mark.parametrize("packing", PACKINGS)
def test_a_full_call_uses_the_layers_and_heads_that_it_claims(packing):
    rng = np.random.default_rng(0)
    oracle = Recording(6, L_small=3, H_small=4)
    packed = PackedOracle(oracle, packing)
    packed.round(as_batches([random_batch(rng, packed.capacity, 6, 5)]))
    assert oracle.shapes == [(1 if packing == "one_layer" else 3, 4)]


@pytest.mark.parametrize("H_small", [1, 2, 3, 4])
@pytest.mark.parametrize("L_small", [1, 2, 3])
def test_the_table_of_packings_says_what_the_ledger_shows(L_small, H_small):
    w, n = 5, 6
    for row in packings(w, n, H_small, L_small):
        if row.instances is None:
            assert H_small == 1
            assert row.name in PASSING
            continue
        rng = np.random.default_rng(0)
        oracle = Oracle(n, L_small, H_small)
        packed = PackedOracle(oracle, row.name)
        packed.round(as_batches([random_batch(rng, row.instances, n, w)]))
        assert oracle.ledger.calls == 1
        assert row.equal_heads is not None
        assert oracle.ledger.width == row.embedding_dimension
        assert row.equal_heads >= oracle.ledger.width
        packed.round(as_batches([random_batch(rng, row.instances + 1, n, w)]))
        assert oracle.ledger.calls == 3
        code = H_small * 3
        if row.name != "pass_through":
            assert row.equal_heads <= H_small * L_small * w + code, "the statement's embedding dimension"


@pytest.mark.parametrize("H_small", [1, 2])
def test_as_printed_the_second_layer_reads_averages_and_averages_the_first_ones_answer(H_small):
    rng = np.random.default_rng(1)
    pairs = [random_batch(rng, 1, 4, w, v=3) for w in (3, 2, 4, 5)[: 2 * H_small]]
    answers = PackedOracle(Oracle(4, L_small=2, H_small=H_small), "printed").round(as_batches(pairs))
    for lane in range(H_small):
        (first, one), (second, two) = pairs[lane], pairs[H_small + lane]
        P = mixing(first[0], one)
        Q = mixing(P @ second[0], two)
        expected = (Q @ P @ first[0] @ one.W_V, Q @ P @ second[0] @ two.W_V)
        for slot, right in zip((lane, H_small + lane), expected, strict=True):
            assert np.allclose(answers[slot][0], right, atol=1e-12)
            assert np.abs(right - plain_attention(pairs[slot][0][0], pairs[slot][1], causal=False)).max() > 0.1


def mixing(X, head):
    """The head's attention matrix."""
    below = np.zeros((len(X), head.W_Q.shape[1]))
    select = np.eye(X.shape[1] + len(X))[:, X.shape[1] :]
    beside = Head(np.vstack([head.W_Q, below]), np.vstack([head.W_K, below]), select)
    return plain_attention(np.hstack([X, np.eye(len(X))]), beside, causal=False)


def test_as_printed_it_is_wrong_in_exact_arithmetic_on_two_tokens():
    # instance 1 has weights A, instance 2 attends uniformly to the values 0 and 1
    A = np.array([[1, 1], [1, 3]], dtype=object) * Fraction(1)
    X, *W = given_weights(A, np.array([[4], [0]], dtype=object) * Fraction(1))
    zero, one = np.array([[0]], dtype=object), np.array([[1]], dtype=object)
    values = np.array([[[0], [1]]], dtype=object) * Fraction(1)
    batches = [Batch(X[None], single_head(*W)), Batch(values, single_head(zero, zero, one))]

    def outputs(packing, causal):
        answers = PackedOracle(Oracle(2, L_small=2, causal=causal), packing).round(batches)
        return [y[0, :, 0].tolist() for y in answers]

    half = Fraction(1, 2)
    assert outputs("residual", causal=False) == [[2, 1], [half, half]]
    assert outputs("printed", causal=False) == [[3 * half, 3 * half], [Fraction(5, 8), Fraction(5, 8)]]
    assert outputs("residual", causal=True) == [[4, 1], [0, half]]
    assert outputs("printed", causal=True) == [[4, 5 * half], [0, Fraction(3, 8)]]


@pytest.mark.parametrize("causal", [False, True])
def test_as_printed_one_layer_is_right(causal):
    batches, right = exact_instances(4, 3, seed=0)
    fine = PackedOracle(Oracle(3, 1, 4, causal), "printed").round(batches)
    assert [y[0].tolist() for y in fine] == right[causal]


@pytest.mark.parametrize("packing", PASSING)
@given(
    B=st.integers(1, 14),
    n=st.integers(2, 9),
    L_small=st.integers(2, 4),
    H_small=st.integers(2, 4),
    causal=st.booleans(),
    size=st.floats(0.05, 2),
    seed=st.integers(0, 2**32),
)
def test_passing_heads_keep_their_error_bound(packing, B, n, L_small, H_small, causal, size, seed):
    rng = np.random.default_rng(seed)
    packed = PackedOracle(Oracle(n, L_small, H_small, causal), packing, B)
    pairs = one_by_one([(size * tokens, head) for tokens, head in [random_batch(rng, packed.capacity, n, 3)]])
    answers = packed.round(as_batches(pairs))
    for slot, ((tokens, head), answer) in enumerate(zip(pairs, answers, strict=True)):
        X, layer = tokens[0], slot // packed.lanes
        error = np.linalg.norm(answer[0] - plain_attention(X, head, causal), axis=1).max()
        largest, scores = np.linalg.norm(X, axis=1).max(), np.linalg.norm(head.W_Q @ head.W_K.T, 2)
        if 8 * layer * scores * largest**2 * (n - 1) * math.exp(-2 * B) <= 1:
            assert error <= error_factor(X, head, layer, L_small) * math.exp(-2 * B) + 1e-12


@pytest.mark.parametrize("packing", PASSING)
@pytest.mark.parametrize("wanted", [1e-2, 1e-4, 1e-6])
def test_the_least_B_of_the_bound_is_enough_and_a_small_B_is_not(packing, wanted):
    rng = np.random.default_rng(3)
    pairs = one_by_one([random_batch(rng, 4, 8, 3)])

    def worst(B):
        answers = PackedOracle(Oracle(8, 4, 2), packing, B).round(as_batches(pairs))
        return max(
            np.linalg.norm(answer[0] - plain_attention(tokens[0], head, causal=False), axis=1).max()
            for (tokens, head), answer in zip(pairs, answers, strict=True)
        )

    B = max(least_B(tokens[0], head, 4, wanted) for tokens, head in pairs)
    assert worst(B) <= wanted
    assert worst(1) > wanted  # otherwise the line above says nothing


@pytest.mark.parametrize("causal", [False, True])
def test_balls_enclose_the_passing_heads_error_where_floats_see_none(causal):
    rng = np.random.default_rng(4)
    (tokens, head) = random_batch(rng, 2, 3, 2)
    exact = np.vectorize(arb, otypes=[object])
    ball_head = Head(*(exact(W) for W in (head.W_Q, head.W_K, head.W_V)))
    batch = as_batches([(exact(tokens), ball_head)])
    old, ctx.prec = ctx.prec, 3000
    try:
        (packed,) = PackedOracle(Oracle(3, 2, 2, causal), "pass_through").round(batch)
        (alone,) = Oracle(3, causal=causal).round(batch)
        for layer in range(2):
            difference = packed[layer] - alone[layer]
            squares = [sum((x**2 for x in row), arb(0)) for row in difference]
            bound = arb(error_factor(tokens[layer], head, layer, 2) * (1 + 1e-9)) * arb(-1500).exp()
            assert all(square < bound**2 for square in squares)
            assert any(square > (bound / 10**6) ** 2 for square in squares)
    finally:
        ctx.prec = old


@pytest.mark.parametrize("causal", [False, True])
def test_residual_packing_over_a_field_at_a_thousand_tokens(causal):
    field, n = FiniteField(), 1024
    rng = np.random.default_rng(5)
    tokens = rng.integers(0, field.order - 1, (3, n, 4))
    W = [rng.integers(0, field.order - 1, (4, 2)) for _ in range(3)]
    oracle = Oracle(n, 2, 1, causal, domain=field)
    (packed,) = PackedOracle(oracle).round([Batch(tokens, single_head(*W), field)])
    mask = np.tri(n, dtype=bool) if causal else None
    for X, answer in zip(tokens, packed, strict=True):
        Q, K = field.coordinates(X, W[0]), field.coordinates(X, W[1])
        assert (answer == attention(Q, K, field.values(X, W[2]), mask, field)).all()
    assert oracle.ledger.calls == 2


@pytest.mark.parametrize("packing", EXACT)
def test_packing_of_symbols_simplifies_to_the_instances(packing):
    x = np.array(sympy.symbols("x:8", real=True), dtype=object).reshape(4, 2, 1)
    W = np.array([[1]], dtype=object)
    (packed,) = PackedOracle(Oracle(2, 2, 2), packing).round([Batch(x, single_head(W, W, W))])
    for X, answer in zip(x[..., 0], packed[..., 0], strict=True):
        for q, y in zip(X, answer, strict=True):
            assert sympy.simplify(y - sum(sympy.exp(q * k) * k for k in X) / sum(sympy.exp(q * k) for k in X)) == 0


def test_packing_of_z3_reals_is_equal_to_the_instances():
    batches, right = [], []
    weights = []
    for k in range(3):
        A = np.array(z3.Reals(f"a{k}_0 a{k}_1 a{k}_2 a{k}_3"), dtype=object).reshape(2, 2)
        V = np.array(z3.Reals(f"v{k}_0 v{k}_1"), dtype=object).reshape(2, 1)
        X, *W = given_weights(A, V)
        batches.append(Batch(X[None], single_head(*W)))
        right += [(a @ V)[0] / a.sum() for a in A]
        weights += list(A.ravel())
    answers = PackedOracle(Oracle(2, 3, 1)).round(batches)
    solver = z3.Solver()
    solver.add([a > 0 for a in weights])
    assert solver.check() == z3.sat
    solver.add(z3.Or([y != x for y, x in zip(np.concatenate([y.ravel() for y in answers]), right, strict=True)]))
    assert solver.check() == z3.unsat


@pytest.mark.parametrize("packing", RIGHT)
def test_gradients_pass_through_the_packing(packing):
    jax.config.update("jax_enable_x64", True)
    rng = np.random.default_rng(7)
    tokens, W = jnp.asarray(rng.normal(size=(5, 3, 2))), [jnp.asarray(rng.normal(size=(2, 2))) for _ in range(3)]

    def total(oracle):
        return lambda x, w: jnp.sum(oracle.round([Batch(x, single_head(*w))])[0] ** 2)

    packed = jax.grad(total(PackedOracle(Oracle(3, 2, 2), packing)), argnums=(0, 1))(tokens, W)
    alone = jax.grad(total(Oracle(3)), argnums=(0, 1))(tokens, W)
    for mine, its in zip(jax.tree.leaves(packed), jax.tree.leaves(alone), strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-10, atol=1e-12)


ONE = np.eye(2)
FINE = Batch(np.ones((1, 3, 2)), single_head(ONE, ONE, ONE))


def test_what_cannot_be_packed_is_refused_in_a_sentence():
    oracle = Oracle(3, 2, 2)
    with pytest.raises(InputError, match="no packing 'nonsense'"):
        PackedOracle(oracle, "nonsense")
    with pytest.raises(InputError, match="positive integer"):
        PackedOracle(oracle, B=0)
    for name in PASSING:
        with pytest.raises(InputError, match="needs H' >= 2"):
            PackedOracle(Oracle(3, 2, 1), name)
        with pytest.raises(InputError, match="not exact over"):
            PackedOracle(oracle, name).round(exact_instances(4, 2, 0)[0])
    head = Head(ONE, ONE, ONE)
    for parameters in (
        Transformer([Layer([head, head])]),
        Transformer([Layer([head])] * 2),
        Transformer([Layer([head], lambda y, positions: y)]),
        Transformer([Layer([head])], lambda x, positions: x),
    ):
        with pytest.raises(InputError, match="only instances of one layer and one head"):
            PackedOracle(oracle).round([Batch(FINE.tokens, parameters)])
    with pytest.raises(InputError, match="without calls"):
        PackedOracle(oracle).round([Batch(np.ones((0, 3, 2)), FINE.parameters)])
    with pytest.raises(OracleLengthError, match="4 tokens"):
        PackedOracle(oracle).round([Batch(np.ones((1, 4, 2)), FINE.parameters)])
    with pytest.raises(InputError, match="at least 1"):
        packings(0, 3, 2, 2)


def test_a_round_without_batches_is_a_round_without_calls():
    oracle = Oracle(3, 2, 2)
    assert PackedOracle(oracle).round([]) == []
    assert oracle.ledger.calls == 0


def test_a_head_reads_its_own_columns_only():
    rng = np.random.default_rng(6)
    tokens, head = random_batch(rng, 5, 3, 2)
    padded = np.concatenate([rng.normal(size=(5, 3, 4)), tokens], axis=-1)
    parameters = Transformer([Layer([Head(head.W_Q, head.W_K, head.W_V, columns=slice(4, 6))])])
    (answer,) = PackedOracle(Oracle(3, 2, 2)).round([Batch(padded, parameters)])
    assert np.allclose(answer, [plain_attention(X, head, causal=False) for X in tokens], atol=1e-12)
