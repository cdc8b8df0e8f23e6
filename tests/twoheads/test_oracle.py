"""The oracle: its limit, its ledger, and that it runs what it is given."""

from __future__ import annotations

import numpy as np
import pytest

from twoheads.errors import InputError, OracleLengthError
from twoheads.oracle import Batch, Oracle
from twoheads.plans import run
from twoheads.transformer import Head, Layer, Transformer, single_head

ONE = np.eye(2)
PLAIN = single_head(ONE, ONE, ONE)


def ask(oracle, *shape, parameters=PLAIN):
    return oracle.round([Batch(np.ones(shape), parameters)])[0]


def test_it_reads_M_tokens_and_refuses_one_more():
    assert ask(Oracle(3), 1, 3, 2).shape == (1, 3, 2)
    with pytest.raises(OracleLengthError, match=r"4 tokens was put to an oracle that reads M = 3"):
        ask(Oracle(3), 1, 4, 2)


def test_an_empty_sequence_is_refused():
    with pytest.raises(InputError, match="empty sequence"):
        ask(Oracle(3), 1, 0, 2)


def test_it_refuses_more_layers_or_heads_than_it_has():
    layer = Layer([Head(ONE, ONE, ONE), Head(ONE, ONE, ONE)])
    with pytest.raises(InputError, match="1 layers and 2 heads do not fit"):
        ask(Oracle(3), 1, 2, 2, parameters=Transformer([layer]))
    deep = Transformer([Layer([Head(ONE, ONE, ONE)])] * 2)
    with pytest.raises(InputError, match="2 layers and 1 heads do not fit"):
        ask(Oracle(3), 1, 2, 2, parameters=deep)
    assert ask(Oracle(3, L_small=2, H_small=2), 1, 2, 2, parameters=deep).shape == (1, 2, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"M": 1}, "at least 2"), ({"M": 2, "L_small": 0}, "one layer"), ({"M": 2, "H_small": 0}, "one head")],
)
def test_an_impossible_oracle_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        Oracle(**arguments)


def test_the_ledger_counts_calls_rounds_tokens_width_and_parameters():
    oracle = Oracle(5)
    oracle.round([Batch(np.ones((4, 5, 2)), PLAIN), Batch(np.ones((1, 3, 2)), PLAIN)])
    oracle.round([Batch(np.ones((2, 2, 2)), PLAIN)])
    assert oracle.ledger.as_dict() == {"calls": 7, "rounds": 2, "tokens": 27, "width": 2, "parameters": 12}


def test_plans_share_their_rounds():
    def two_rounds(value):
        first = yield [Batch(np.full((1, 1, 2), value), PLAIN)]
        second = yield [Batch(np.full((1, 1, 2), 10 * value), PLAIN), Batch(np.ones((1, 1, 2)), PLAIN)]
        return first[0][0, 0, 0], second[0][0, 0, 0], len(second)

    def no_round():
        yield from ()
        return "nothing"

    oracle = Oracle(2)
    assert run([two_rounds(1.0), no_round(), two_rounds(2.0)], oracle) == [(1, 10, 2), "nothing", (2, 20, 2)]
    assert (oracle.ledger.rounds, oracle.ledger.calls) == (2, 6)


def test_a_causal_oracle_masks_and_layers_are_run_in_turn():
    double = Layer([Head(0 * ONE, 0 * ONE, ONE)], mlp=lambda x, positions: 2 * x)
    shifted = Transformer([double, double], input_mlp=lambda x, positions: x + positions[:, None])
    tokens = np.zeros((1, 3, 2))
    plain = Oracle(3, L_small=2).round([Batch(tokens, shifted)])[0]
    causal = Oracle(3, L_small=2, causal=True).round([Batch(tokens, shifted)])[0]
    # means of 0, 1, 2 doubled twice; causal: running means of running means
    np.testing.assert_allclose(plain[0, :, 0], [4, 4, 4])
    np.testing.assert_allclose(causal[0, :, 0], [0, 1, 2])


def test_a_residual_layer_sees_its_input():
    layer = Layer([Head(0 * ONE, 0 * ONE, ONE)], mlp=lambda y, positions, x: y + x, residual=True)
    out = Oracle(2).round([Batch(np.array([[[1.0, 0], [3.0, 0]]]), Transformer([layer]))])[0]
    np.testing.assert_allclose(out[0, :, 0], [3, 5])


def test_matrices_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match=r"W_Q and W_K must be \(d, m\)"):
        single_head(np.eye(2), np.eye(3), np.eye(2))
