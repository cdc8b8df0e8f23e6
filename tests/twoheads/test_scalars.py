"""Scalars: what each domain promises, on the same small instance, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy
import z3
from flint import arb

from twoheads.attention import attention
from twoheads.errors import InputError, MixedScalarsError
from twoheads.scalars import Log, domain_of, given_weights
from twoheads.scalars.finite_field import FiniteField
from twoheads.scalars.rationals import DOMAIN as RATIONALS


def objects(*entries):
    return np.array(entries, dtype=object)


RECOGNISED = {
    "float64": np.ones(2),
    "float32": np.ones(2, dtype=np.float32),
    "exact rationals": objects(Fraction(1, 2), 3),
    "SymPy expressions": objects(sympy.Symbol("x"), 1),
    "Z3 reals": objects(z3.Real("x"), 0),
    "Arb balls": objects(arb(1), 2),
}


@pytest.mark.parametrize("name", RECOGNISED)
def test_a_domain_is_recognised_by_its_entries(name):
    assert domain_of(RECOGNISED[name]).name == name
    assert domain_of(objects(1, 2), RECOGNISED[name], np.arange(3)).name == name


def test_formal_logs_belong_to_their_weights_domain():
    assert domain_of(objects(Log(Fraction(2)), 1)).name == "exact rationals"


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ([objects(Fraction(1), 0.5)], "a float stands in an array of exact objects"),
        ([objects(Fraction(1), np.float64(0.5))], "a float stands in an array of exact objects"),
        ([objects(Fraction(1)), np.ones(1)], "meet in one run"),
        ([np.ones(1), np.ones(1, dtype=np.float32)], "meet in one run"),
        ([objects(Fraction(1), sympy.Symbol("x"))], "meet in one array"),
        ([objects(Fraction(1)), objects(arb(1))], "meet in one run"),
    ],
)
def test_mixed_scalars_are_refused(arrays, message):
    with pytest.raises(MixedScalarsError, match=message):
        domain_of(*arrays)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        ([1.0, 2.0], "an array is needed, not list"),
        (objects("a"), "type str"),
        (objects(True), "type bool"),
        (np.ones(1, dtype=complex), "complex128"),
        (np.arange(3), "integers alone fit every domain"),
    ],
)
def test_what_is_no_scalar_is_refused(array, message):
    with pytest.raises(InputError, match=message):
        domain_of(array)


@pytest.mark.parametrize("name", [name for name in RECOGNISED if not name.startswith("float")])
def test_a_float_array_in_an_exact_run_is_refused(name):
    with pytest.raises(MixedScalarsError, match=r"W holds float64 in an exact run"):
        domain_of(RECOGNISED[name]).check(W=np.ones(2))


def test_an_exact_array_in_a_float_run_is_refused():
    with pytest.raises(MixedScalarsError, match="W holds object in a run of float64"):
        domain_of(np.ones(1)).check(W=objects(Fraction(1)))


def test_exp_is_a_homomorphism_wherever_weights_are_given():
    half, third = Log(Fraction(1, 2)), Log(Fraction(1, 3))
    exp = RATIONALS.exp
    assert exp(half + third) == exp(half) * exp(third) == Fraction(1, 6)
    assert exp(3 * half) == Fraction(1, 8)
    assert exp(-2 * third + 1) == 9 * exp(1)
    assert exp(0) == 1
    with pytest.raises(MixedScalarsError, match="no exact exponential"):
        exp(Fraction(1, 2))


@pytest.mark.parametrize("order", [7, 1048573])
def test_exp_in_a_field_is_a_homomorphism_onto_the_nonzero_elements(order):
    field = FiniteField(order)
    x = np.arange(min(order - 1, 500))[:, None]
    weights = field.weights(x, np.array([[1]]), None)[:, 0]
    shifted = field.weights(x + 5, np.array([[1]]), None)[:, 0]
    assert (shifted == weights * weights[5 % len(weights)]).all()
    assert len(set(np.asarray(weights).tolist())) == len(weights)
    assert int(weights[0]) == 1


def test_sums_over_a_field_are_exact():
    field = FiniteField()
    rng = np.random.default_rng(0)
    X, Y = rng.integers(0, field.order, (3, 4096)), rng.integers(0, field.order, (4096, 2))
    expected = [
        [sum(int(x) * int(y) for x, y in zip(row, column, strict=True)) % field.order for column in Y.T] for row in X
    ]
    assert np.asarray(field.contract(field.field(X), field.field(Y))).tolist() == expected


@pytest.mark.parametrize("order", [1, 4, 2**20 + 7, 15])
def test_what_is_no_small_prime_is_no_field(order):
    with pytest.raises(InputError, match="must be a prime"):
        FiniteField(order)


def test_a_field_refuses_other_entries():
    field = FiniteField(7)
    with pytest.raises(MixedScalarsError, match="give integers"):
        field.check(X=np.ones(1))
    with pytest.raises(InputError, match="reduce it modulo 7"):
        field.check(X=np.array([7]))


def test_given_weights_are_the_weights():
    A = objects(*[Fraction(k, 7) for k in range(1, 10)]).reshape(3, 3)
    V = objects(Fraction(1), Fraction(-2), Fraction(5)).reshape(3, 1)
    X, W_Q, W_K, W_V = given_weights(A, V)
    domain = domain_of(A)
    out = attention(domain.coordinates(X, W_Q), domain.coordinates(X, W_K), domain.values(X, W_V))
    assert out.tolist() == [[(a - 2 * b + 5 * c) / (a + b + c)] for a, b, c in A]
