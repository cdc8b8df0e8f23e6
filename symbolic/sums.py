"""When two expressions with indexed sums are equal, for every length of the sums and every summand.

Every family f over the integers is the difference S(k) - S(k-1) of another one, so that

    sum of f(j) over j = lo, ..., hi  =  S(hi) - S(lo - 1),    S(x + 1) = S(x) + f(x + 1)

wherever hi >= lo - 1, which is checked from the symbols' assumptions. Written in this form, ranges that are cut,
joined, shifted, reversed or nested in blocks agree term by term; an equation that holds with S left open
holds for all summands and all sizes. What is left is an equation of rational functions.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import cycle
from typing import Any

from sympy import (
    Add,
    Basic,
    Dummy,
    Expr,
    Function,
    Indexed,
    IndexedBase,
    Integer,
    Mul,
    Piecewise,
    Rational,
    S,
    Sum,
    Symbol,
    cancel,
    default_sort_key,
    exp,
    expand,
    fraction,
    piecewise_fold,
    srepr,
    summation,
    together,
)
from sympy.core.function import AppliedUndef
from sympy.core.relational import Le, Lt, Relational
from sympy.logic.boolalg import Boolean

__all__ = ["SumError", "is_nonnegative", "sizes_of", "small_sizes", "vanishes", "vanishes_at"]

_INDEX = Symbol("index", integer=True)  # the one name of a bound variable in a normal form


class SumError(ValueError):
    """A sum is of a kind that the normal form does not know, or may have a negative length."""


def vanishes(expression: Expr) -> bool:
    """Whether the expression is 0 for all values of its symbols, sizes included.

    True is a proof, given that no denominator is 0. False says that the normal form is not 0.

    Raises:
        SumError: a sum has no normal form.
    """
    if expression.has(Piecewise) and not expression.has(Sum):
        expression = piecewise_fold(expression)
    if isinstance(expression, Piecewise):
        return all(vanishes(branch) for branch, _ in expression.args)
    return _is_zero(_removed(expression))


def vanishes_at(expression: Expr, sizes: dict[Expr, Integer]) -> bool:
    """Whether the expression is 0 once the sizes are these numbers and the sums are written out."""
    return _is_zero(_written_out(expression.xreplace(sizes)))


def small_sizes(sizes: Iterable[Expr]) -> Iterable[dict[Expr, Integer]]:
    """Some ways of giving the sizes small values: all equal, and all different."""
    names = list(sizes)
    for choice in ((1, 1, 1), (2, 2, 2), (1, 2, 3), (2, 3, 1), (3, 1, 2)):
        values = (Integer(x if name.is_positive else x - 1) for name, x in zip(names, cycle(choice), strict=False))
        yield dict(zip(names, values, strict=True))


def sizes_of(expression: Expr) -> list[Expr]:
    """The symbols and entries that stand in the limits of sums or in conditions and are not bound."""
    sums = expression.atoms(Sum)
    bound = {limit[0] for found in sums for limit in found.limits}
    places: list[Expr] = [limit for found in sums for _, *limits in found.limits for limit in limits]
    places += [side for condition in expression.atoms(Relational) for side in condition.args]
    entries = {entry for place in places for entry in place.atoms(Indexed) if not entry.free_symbols & bound}
    symbols = {x for place in places for x in place.xreplace({e: Integer(1) for e in entries}).atoms(Symbol)}
    return sorted(entries | (symbols - bound), key=str)


def is_nonnegative(length: Expr) -> bool:
    """Whether an integer expression is never negative: positive integers are written as 1 + something >= 0."""
    entries = {x for x in length.atoms(Symbol, Indexed) if x.is_integer and x.is_positive}
    shifted = {x: 1 + Dummy(integer=True, nonnegative=True) for x in entries}
    return bool(expand(length.xreplace(shifted)).is_nonnegative)


def _removed(expression: Expr) -> Expr:
    """The expression with every sum replaced by its normal form."""
    if not isinstance(expression, Expr) or not expression.has(Sum):
        return expression
    if isinstance(expression, Sum):
        return _normal(expression)
    parts = _joined(expression.args) if isinstance(expression, Add) else expression.args
    return expression.func(*(_removed(part) for part in parts))


def _joined(terms: Iterable[Expr]) -> list[Expr]:
    """The terms, sums over the same range made one, so that what cancels between their summands does."""
    sums: dict[tuple[Any, ...], list[Expr]] = {}
    others = []
    for term in terms:
        factor, found = term.as_independent(Sum, as_Add=False)
        if isinstance(found, Sum) and not any(factor.has(limit[0]) for limit in found.limits):
            sums.setdefault(found.limits, []).append(factor * found.function)
        else:
            others.append(term)
    return [*others, *(Sum(Add(*summands), *limits) for limits, summands in sums.items())]


def _normal(found: Sum) -> Expr:
    *inner, (index, lo, hi) = found.limits
    if not index.is_integer:
        raise SumError(f"the index {index} of {found} must be an integer symbol.")
    summand = Sum(found.function, *inner) if inner else found.function
    choices = [choice for choice in summand.atoms(Piecewise) if choice.args[0][1].has(index)]
    if choices:
        return _split(summand, index, lo, hi, choices[0].args[0][1])
    _nonnegative_length(found, hi - lo + 1)
    terms = Add.make_args(_expanded(_removed(summand)))
    return Add(*(_term(term, index, lo, hi) for term in terms))


def _split(summand: Expr, index: Symbol, lo: Expr, hi: Expr, condition: Boolean) -> Expr:
    """A sum of choices by one condition: the sum of the first branches, then the sum of what is left."""
    last = _last(condition, index)
    choices = [choice for choice in summand.atoms(Piecewise) if choice.args[0][1] == condition]
    before = summand.xreplace({choice: choice.args[0][0] for choice in choices})
    after = summand.xreplace({choice: Piecewise(*choice.args[1:]) for choice in choices})
    if is_nonnegative(last - hi):
        return _normal(Sum(before, (index, lo, hi)))
    if is_nonnegative(lo - 1 - last):
        return _normal(Sum(after, (index, lo, hi)))
    return _normal(Sum(before, (index, lo, last))) + _normal(Sum(after, (index, last + 1, hi)))


def _last(condition: Boolean, index: Symbol) -> Expr:
    """The last value of the index that meets index <= bound or index < bound."""
    for one in (condition, condition.reversed) if isinstance(condition, Relational) else ():
        if one.lhs == index and not one.rhs.has(index) and isinstance(one, (Le, Lt)):
            return one.rhs - (1 if isinstance(one, Lt) else 0)
    raise SumError(f"a choice must be by {index} <= bound, not by {condition}.")


def _nonnegative_length(found: Sum, length: Expr) -> None:
    if not is_nonnegative(length):
        raise SumError(f"the sum {found} may have the negative length {expand(length)}.")


def _term(term: Expr, index: Symbol, lo: Expr, hi: Expr) -> Expr:
    outside, inside = term.as_independent(index, as_Add=False)
    if inside == 1:
        return outside * (hi - lo + 1)
    sign, offset = _shift(inside, index)
    # with index = sign (new - offset), the first entry of the summand has the plain index
    first, last = (sign * lo + offset, sign * hi + offset) if sign > 0 else (offset - hi, offset - lo)
    summand = _expanded(inside.xreplace({index: sign * (_INDEX - offset)}))
    return outside * (_antidifference(summand, last) - _antidifference(summand, first - 1))


def _shift(inside: Expr, index: Symbol) -> tuple[int, Expr]:
    """Sign and offset by which the first entry of a summand depends on the index."""
    entries = sorted((x for x in inside.atoms(Indexed, AppliedUndef) if x.has(index)), key=srepr)
    for entry in entries:
        place = next(x for x in entry.args if x.has(index))
        slope = expand(place).coeff(index)
        offset = expand(place - slope * index)
        if slope in {1, -1} and not offset.has(index):
            return int(slope), offset
        # an entry at a multiple of the index, shifted by whole steps
        steps = cancel(offset / slope) if slope != 0 else offset
        if not steps.has(index) and expand(steps).is_integer:
            return 1, expand(steps)
    return 1, S.Zero


def _antidifference(summand: Expr, place: Expr) -> Expr:
    """S(place), with the whole steps in `place` taken out by S(x + 1) = S(x) + f(x + 1).

    Places that do not depend on the index are arguments of S, as are the integer symbols that are left: summands
    that differ in these alone have one S, and an outer sum may run over them.
    """
    if not summand.atoms(Indexed, AppliedUndef, exp) and summand.is_polynomial(_INDEX):
        return summation(summand, (_INDEX, 1, place))  # a polynomial in `place`, the same for all integers
    steps, base = expand(place).as_coeff_Add()
    if not isinstance(steps, Integer):
        raise SumError(f"a sum of {summand} ends at {place}, which is not an integer.")
    ahead = [summand.xreplace({_INDEX: base + k}) for k in range(1, int(steps) + 1)]
    behind = [summand.xreplace({_INDEX: base - k}) for k in range(-int(steps))]
    places: list[Expr] = []
    pattern = _pattern(summand, places)
    symbols = sorted((x for x in pattern.atoms(Symbol) if x.is_integer and x != _INDEX), key=str)
    own = Function(f"S<{srepr(pattern)}>")
    return own(base, *places, *(x for x in symbols if x.name[0] != "#")) + Add(*ahead) - Add(*behind)


def _pattern(summand: Expr, places: list[Expr]) -> Expr:
    """The summand with #0, #1, ... for its entries' places that are free of the index, which are appended."""
    if isinstance(summand, (Indexed, AppliedUndef)):
        return summand.func(*(_pattern_place(x, places) for x in summand.args))
    if not summand.args:
        return summand
    parts = {x: _pattern(x, places) for x in sorted(summand.args, key=default_sort_key)}
    return summand.func(*(parts[x] for x in summand.args))


def _pattern_place(place: Basic, places: list[Expr]) -> Basic:
    if isinstance(place, IndexedBase) or not isinstance(place, Expr) or place.has(_INDEX):
        return place
    places.append(place)
    return Symbol(f"#{len(places) - 1}", integer=True)


def _expanded(expression: Expr) -> Expr:
    """A sum of products, a quotient by a single term pulled apart."""
    top, bottom = (expand(part) for part in fraction(together(_places_expanded(expression))))
    return _cancelled(top, bottom) if isinstance(bottom, Add) else expand(top / bottom)


def _cancelled(top: Expr, bottom: Expr) -> Expr:
    """top/bottom in lowest terms, multiplied out if a single term is left below."""
    stand_in: dict[Expr, Symbol] = {}
    quotient = (_atoms_replaced(top, stand_in) / _atoms_replaced(bottom, stand_in)).cancel()
    back = {symbol: entry for entry, symbol in stand_in.items()}
    return expand(quotient).xreplace(back)


def _written_out(expression: Expr) -> Expr:
    """Every sum as its terms, the outermost first, since its index may stand in the limits of the inner ones."""
    if not expression.has(Sum):
        return expression
    if not isinstance(expression, Sum):
        return expression.func(*(_written_out(part) for part in expression.args))
    *inner, (index, lo, hi) = expression.limits
    if not (lo.is_Integer and hi.is_Integer):
        raise SumError(f"the sum {expression} has a length that is not a number.")
    summand = Sum(expression.function, *inner) if inner else expression.function
    return Add(*(_written_out(summand.subs(index, k)) for k in range(int(lo), int(hi) + 1)))


def _is_zero(expression: Expr) -> bool:
    if expression.has(Piecewise):
        raise SumError(f"a choice in {expression} depends on no running index.")
    stand_in: dict[Expr, Symbol] = {}
    top, _ = fraction(together(_atoms_replaced(_places_expanded(expression), stand_in)))
    return bool(expand(top) == 0)


def _places_expanded(expression: Expr) -> Expr:
    """Entries and values at one place have one form: a_{(t-1)n+1} becomes a_{tn-n+1}."""
    entries = expression.atoms(Indexed, AppliedUndef)
    return expression.xreplace({x: x.func(*(expand(y) if isinstance(y, Expr) else y for y in x.args)) for x in entries})


def _atoms_replaced(expression: Expr, stand_in: dict[Expr, Symbol]) -> Expr:
    """A rational expression of plain symbols: every entry, function value and exponential is one of its own."""
    if isinstance(expression, (Indexed, AppliedUndef)):
        return stand_in.setdefault(expression, Dummy())
    if isinstance(expression, exp):
        score = _atoms_replaced(expression.args[0], stand_in).cancel()
        return Mul(*(_exponential(term, stand_in) for term in Add.make_args(expand(score))))
    if not expression.args:
        return expression
    return expression.func(*(_atoms_replaced(part, stand_in) for part in expression.args))


def _exponential(term: Expr, stand_in: dict[Expr, Symbol]) -> Expr:
    """exp(c x) as the c-th power of one symbol for exp(x/q), c = p/q rational."""
    number, rest = term.as_coeff_Mul()
    if not isinstance(number, Rational) or rest == 1:
        return stand_in.setdefault(exp(term), Dummy())
    return stand_in.setdefault(exp(rest / number.q), Dummy()) ** number.p
