"""The normal form of sums, against sums written out by plain loops, and its refusals."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Function, IndexedBase, Integer, Piecewise, Sum, Symbol, exp, symbols

from symbolic.sums import SumError, is_nonnegative, sizes_of, small_sizes, vanishes, vanishes_at

n, T, r, p = symbols("n T r p", integer=True, positive=True)
h = Symbol("h", integer=True, nonnegative=True)
i, j, k, t = symbols("i j k t", integer=True, positive=True)
a, b = IndexedBase("a"), IndexedBase("b")


def total(summand, lo, hi, index=j):
    return Sum(summand, (index, lo, hi))


TRUE = {
    "cut": total(a[j], 1, n + r) - total(a[j], 1, n) - total(a[j], n + 1, n + r),
    "shift": total(a[j], 1, n) - total(a[j - p], 1 + p, n + p),
    "reversal": total(a[j], 1, n) - total(a[n + 1 - j], 1, n),
    "telescope": total(total(a[j], (t - 1) * n + 1, t * n), 1, T, t) - total(a[j], 1, T * n),
    "linear": total(2 * a[j] + p * b[j], 1, n) - 2 * total(a[j], 1, n) - p * total(b[j], 1, n),
    "constant": total(p, 1, n) - n * p,
    "polynomial": total(j**2, 1, n) - n * (n + 1) * (2 * n + 1) / 6,
    "last term": total(a[j], 1, n + 1) - total(a[j], 1, n) - a[n + 1],
    "choice": total(Piecewise((a[j], j <= n), (b[j], True)), 1, n + r) - total(a[j], 1, n) - total(b[j], n + 1, n + r),
    "nested choice": total(Piecewise((1, j <= h), (2, j <= h + n), (3, True)), 1, h + n + r) - h - 2 * n - 3 * r,
    "outer index inside": total(total(a[t] * b[j], 1, n), 1, T, t) - total(a[j], 1, T) * total(b[j], 1, n),
    "parameter": total(total(a[t + 1, j], 1, n), 1, T, t) - total(total(a[t, j], 1, n), 2, T + 1, t),
    "exponential": total(exp(a[j] + b[j]), 1, n) - total(exp(a[j]) * exp(b[j]), 1, n),
    "joined": total(a[j] / (1 + a[j]), 1, n) + total(1 / (1 + a[j]), 1, n) - n,
    "empty": total(a[j], n + 1, n),
}
FALSE = {
    "cut": total(a[j], 1, n + r) - total(a[j], 1, n) - total(a[j], n, n + r),
    "shift": total(a[j], 1, n) - total(a[j - p], 1, n),
    "reversal": total(a[j], 1, n) - total(a[n - j], 1, n),
    "telescope": total(total(a[j], (t - 1) * n + 1, t * n), 1, T, t) - total(a[j], 1, T * n + 1),
    "other summand": total(a[j], 1, n) - total(b[j], 1, n),
    "other parameter": total(a[1, j], 1, n) - total(a[2, j], 1, n),
    "product": total(a[j] * b[j], 1, n) - total(a[j], 1, n) * total(b[j], 1, n),
    "outer index inside": total(total(a[t, j], 1, n), 1, T, t) - T * total(a[1, j], 1, n),
    "choice": total(Piecewise((a[j], j < n), (b[j], True)), 1, n + r) - total(a[j], 1, n) - total(b[j], n + 1, n + r),
}


def loop(expression):
    """The value of an expression whose sums have numbers as limits, by loops; entries have fixed rational values."""
    if isinstance(expression, Sum):
        *inner, (index, lo, hi) = expression.limits
        summand = Sum(expression.function, *inner) if inner else expression.function
        return sum((loop(summand.subs(index, x)) for x in range(int(lo), int(hi) + 1)), Integer(0))
    entries = {x: value_of(x) for x in expression.atoms(type(a[1])) if not expression.has(Sum)}
    if expression.has(Sum):
        return expression.func(*(loop(part) for part in expression.args))
    return expression.xreplace(entries)


def value_of(entry):
    places = [int(x) for x in entry.indices]
    seed = sum((k + 2) * x for k, x in enumerate(places)) + len(str(entry.base))
    x = Fraction(3 * seed + 1 + 5 * (str(entry.base.label) == "b"), 7 + seed % 5)
    return Integer(x.numerator) / x.denominator


@pytest.mark.parametrize("name", TRUE)
def test_true_identities_vanish_and_agree_with_loops(name):
    assert vanishes(TRUE[name])
    for sizes in small_sizes(sizes_of(TRUE[name])):
        assert vanishes_at(TRUE[name], sizes)
        rest = {x: Integer(2) for x in (n, T, r, p, h)}
        assert loop(TRUE[name].xreplace({**rest, **sizes})).simplify() == 0


@pytest.mark.parametrize("name", FALSE)
def test_false_identities_do_not(name):
    assert not vanishes(FALSE[name])
    assert any(not vanishes_at(FALSE[name], sizes) for sizes in small_sizes(sizes_of(FALSE[name])))


@settings(max_examples=30)
@given(st.lists(st.integers(0, 4), min_size=4, max_size=4), st.integers(-2, 2), st.booleans())
def test_random_cuts_and_shifts(lengths, shift, backwards):
    """Sums over neighbouring ranges of numeric lengths, one shifted, perhaps one reversed, make the whole sum."""
    ends = [n * x for x in (sum(lengths[:k]) for k in range(len(lengths) + 1))]
    parts = [total(a[j], lo + 1, hi) for lo, hi in pairwise(ends)]
    parts[0] = total(a[j - shift], 1 + shift, ends[1] + shift)
    if backwards:
        parts[1] = total(a[ends[1] + ends[2] + 1 - j], ends[1] + 1, ends[2])
    whole = total(a[j], 1, ends[-1])
    assert vanishes(whole - sum(parts))
    assert not vanishes(whole - sum(parts) + a[1])


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (total(a[j], 1, n - r), "may have the negative length"),
        (total(a[j], n, p), "may have the negative length"),
        (total(Piecewise((1, j > n), (2, True)), 1, n + r), "a choice must be by j <= bound"),
        (Sum(a[Symbol("x")], (Symbol("x"), 1, n)), "must be an integer symbol"),
        (Piecewise((1, p < 3), (2, True)) * total(a[j], 1, n), "depends on no running index"),
    ],
)
def test_refusals(expression, message):
    with pytest.raises(SumError, match=message):
        vanishes(expression)


def test_a_length_that_is_no_number_is_refused():
    with pytest.raises(SumError, match="a length that is not a number"):
        vanishes_at(total(a[j], 1, n), {})


def test_functions_of_the_index_are_entries_like_others():
    f = Function("f")
    assert vanishes(total(f(j), 1, n) - total(f(n + 1 - j), 1, n))


def test_nonnegative_lengths():
    assert is_nonnegative(n - 1)
    assert is_nonnegative(T * n - n)
    assert not is_nonnegative(n - 2)
    assert not is_nonnegative(n - r)


def test_sizes_are_those_of_limits_and_conditions():
    assert sizes_of(TRUE["telescope"]) == [T, n]
    assert sizes_of(TRUE["nested choice"]) == [h, n, r]
    assert sizes_of(total(a[j], 1, b[i])) == [b[i]]
