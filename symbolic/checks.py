"""The ways in which a step may follow from earlier ones. Each raises `StepError` where it does not.

`Named` introduces a symbol; `Assumed` states a hypothesis or a cited result; everything else is proved:
`Follows` equations, `Positive` and `AtMost` inequalities, `Simulated` the agreement of a run on symbols.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sympy import Basic, Dummy, Eq, Expr, Gt, Indexed, Integer, Le, Sum, Symbol, combsimp, simplify
from sympy.core.function import AppliedUndef

from symbolic.derivation import Step, StepError
from symbolic.sums import SumError, is_nonnegative, sizes_of, small_sizes, vanishes, vanishes_at
from symbolic.symbols import INDICES, size

__all__ = ["Assumed", "AtMost", "BinomialsAgree", "Follows", "Named", "Positive", "define", "follow", "unfolded"]

Before = Mapping[str, Basic]


@dataclass(frozen=True)
class Named:
    """A definition: the left-hand side is new, and has the right-hand side's indices and no sign that it lacks."""

    @property
    def how(self) -> str:
        return "definition of a new symbol"

    def __call__(self, expression: Basic, before: Before) -> None:
        if not isinstance(expression, Eq):
            raise StepError(f"a definition is an equation, not {expression}.")
        new, meaning = expression.args
        head = _head(new)
        if any(head in _heads(earlier) for earlier in (meaning, *before.values())):
            raise StepError(f"{head} has been used before.")
        free = (meaning.free_symbols - _bound(meaning)) & INDICES - new.free_symbols
        if free:
            raise StepError(f"the right-hand side also depends on {', '.join(sorted(map(str, free)))}.")
        if new.is_integer and not meaning.is_integer:
            raise StepError(f"{new} is taken for an integer, which {meaning} is not seen to be.")
        if (new.is_positive and not _is_positive(meaning)) or (new.is_nonnegative and not _is_nonnegative(meaning)):
            raise StepError(f"{new} has a sign that {meaning} is not seen to have.")


@dataclass(frozen=True)
class Assumed:
    """A hypothesis of the statement, or a result that is cited and not derived here."""

    source: str

    @property
    def how(self) -> str:
        return f"not derived: {self.source}"

    def __call__(self, expression: Basic, before: Before) -> None:
        if not getattr(expression, "is_Relational", False):
            raise StepError(f"an assumption is a relation, not {expression}.")


class Follows:
    """An equation that holds once the named earlier equations are put in, for all sizes and all values.

    Sums are compared by `symbolic.sums`; where there are any, the equation is also written out at small sizes.
    """

    def __init__(self, *using: str) -> None:
        self.using = using

    @property
    def how(self) -> str:
        return f"put in {', '.join(self.using)}; then both sides agree" if self.using else "both sides agree"

    def __call__(self, expression: Basic, before: Before) -> None:
        if not isinstance(expression, Eq):
            raise StepError(f"an equation is needed, not {expression}.")
        left, right = (unfolded(side, before, self.using) for side in expression.args)
        _agree(left - right)


class Positive:
    """x > 0, from the signs of the symbols in it once the named earlier equations are put in."""

    def __init__(self, *using: str) -> None:
        self.using = using

    @property
    def how(self) -> str:
        return "by the signs of its parts" + (f", after putting in {', '.join(self.using)}" if self.using else "")

    def __call__(self, expression: Basic, before: Before) -> None:
        if not isinstance(expression, Gt) or expression.args[1] != 0:
            raise StepError(f"an inequality x > 0 is needed, not {expression}.")
        left = unfolded(expression.args[0], before, self.using)
        if not _is_positive(left):
            raise StepError(f"{left} is not seen to be positive.")


class AtMost:
    """x <= y, because y - x equals a sum of terms none of which is negative by the signs of their parts."""

    def __init__(self, slack: Expr, *using: str) -> None:
        self.slack = slack
        self.using = using

    @property
    def how(self) -> str:
        return "the difference, written as a sum of terms, is not negative by the signs of its parts"

    def __call__(self, expression: Basic, before: Before) -> None:
        if not isinstance(expression, Le):
            raise StepError(f"an inequality x <= y is needed, not {expression}.")
        slack = unfolded(self.slack, before, self.using)
        if not _is_nonnegative(slack):
            raise StepError(f"{slack} is not seen to be at least 0.")
        left, right = (unfolded(side, before, self.using) for side in expression.args)
        _agree(right - left - slack)


class BinomialsAgree:
    """An equation of quotients of binomial coefficients: simplified for all sizes, and computed at small ones."""

    @property
    def how(self) -> str:
        return "the binomials simplify to the right-hand side, and do so at small sizes"

    def __call__(self, expression: Basic, before: Before) -> None:
        if not isinstance(expression, Eq):
            raise StepError(f"an equation is needed, not {expression}.")
        left, right = expression.args
        if simplify(combsimp(left) - right) != 0:
            raise StepError("the two sides differ.")
        top, bottom = (size("N"), size("n"))
        cases = [{top: Integer(x), bottom: Integer(y)} for x in range(1, 8) for y in range(1, x + 1)]
        if any(left.xreplace(case) != right.xreplace(case) for case in cases):
            raise StepError("the two sides differ at small sizes.")


def define(name: str, new: Expr, meaning: Expr, item: str, reason: str) -> Step:
    """The step that names `meaning` by the new symbol, entry or function value."""
    return Step(name, Eq(new, meaning, evaluate=False), reason, item, Named())


def follow(name: str, left: Expr, right: Expr, item: str, reason: str, *using: str) -> Step:
    """The step left = right, which follows once the named earlier equations are put in."""
    return Step(name, Eq(left, right, evaluate=False), reason, item, Follows(*using))


def unfolded(expression: Any, before: Before, using: tuple[str, ...]) -> Any:
    """The expression with the named equations put in, left-hand side by right-hand side, in that order.

    An index of a left-hand side stands for all its values: A_{i,t} = ... is put in for A_{i,t+1}, too.
    """
    for name in using:
        equation = before.get(name)
        if not isinstance(equation, Eq):
            raise StepError(f"there is no earlier equation named {name!r}.")
        expression = _put_in(expression, *equation.args)
    return expression


def _put_in(expression: Any, old: Any, new: Any) -> Any:
    indices = [x for x in old.args if x in INDICES] if isinstance(old, (Indexed, AppliedUndef)) else []
    if not indices:
        return expression.xreplace({old: new})
    found = {}
    for entry in expression.atoms(type(old)):
        given = _matched(entry, old)
        if given is not None:
            found[entry] = _instance(new, given)
    return expression.xreplace(found)


def _matched(entry: Any, pattern: Any) -> dict[Symbol, Any] | None:
    """The values of the pattern's indices that make it the entry, or None."""
    given: dict[Symbol, Any] = {}
    if len(entry.args) != len(pattern.args):
        return None
    for mine, its in zip(entry.args, pattern.args, strict=True):
        if (given.setdefault(its, mine) if its in INDICES else its) != mine:
            return None
    return given


def _instance(new: Any, given: dict[Symbol, Any]) -> Any:
    entering = set().union(*(value.free_symbols for value in given.values()))
    if entering & _bound(new):
        raise StepError(f"an index that is put in is also the running index of a sum in {new}.")
    return new.xreplace(given)


def _agree(difference: Any) -> None:
    """Both ways, or `StepError`: for all sizes by the normal form, and written out at small sizes."""
    try:
        if not vanishes(difference):
            raise StepError("the two sides differ.")
        if difference.has(Sum):
            sizes = sizes_of(difference)
            if not all(vanishes_at(difference, chosen) for chosen in small_sizes(sizes)):
                raise StepError("the two sides differ, written out at small sizes.")
    except SumError as error:
        raise StepError(str(error)) from error


def _is_positive(expression: Any) -> bool:
    """By the signs of its parts."""
    signed = _signed(expression)
    return bool(signed.is_positive) or is_nonnegative(signed - 1)


def _is_nonnegative(expression: Any) -> bool:
    signed = _signed(expression)
    return bool(signed.is_nonnegative) or is_nonnegative(signed)


def _signed(expression: Any) -> Any:
    """Every sum as one symbol: positive if its terms are and there is one, not negative if they are not."""
    if not expression.has(Sum):
        return expression
    if not isinstance(expression, Sum):
        return expression.func(*(_signed(part) for part in expression.args))
    term = _signed(expression.function)
    if term.is_positive and all(is_nonnegative(hi - lo) for _, lo, hi in expression.limits):
        return Dummy(positive=True)
    if term.is_nonnegative and all(is_nonnegative(hi - lo + 1) for _, lo, hi in expression.limits):
        return Dummy(nonnegative=True)
    return Dummy(real=term.is_real)


def _bound(expression: Any) -> set[Symbol]:
    return {limit[0] for found in expression.atoms(Sum) for limit in found.limits}


def _head(new: Any) -> Any:
    if isinstance(new, Indexed):
        return new.base
    if isinstance(new, AppliedUndef):
        return new.func
    if isinstance(new, Symbol):
        return new
    raise StepError(f"{new} is no name.")


def _heads(expression: Any) -> set[Any]:
    labels = {x.base.label for x in expression.atoms(Indexed)}
    return (
        {x.base for x in expression.atoms(Indexed)}
        | {x.func for x in expression.atoms(AppliedUndef)}
        | (expression.atoms(Symbol) - labels)
    )
