"""Formulas evaluated in exact arithmetic, so that no witness is believed because a solver gave it.

A witness gives every free constant a Fraction or a truth value. Division by zero has no value here, although
SMT-LIB gives it one: a witness that depends on it shows nothing about the paper.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import Any

import z3

from proofs.terms import Node, graph_of

__all__ = ["NotEvaluable", "Value", "Witness", "evaluate", "holds", "parse_witness", "text_of"]

Value = Fraction | bool
Witness = Mapping[str, Value]


class NotEvaluable(ValueError):  # noqa: N818 - it says what the formula is
    """The formula has no exact value at the witness; the message says why."""


class _Undefined:
    """The value of a division by zero and of what depends on it."""


_UNDEFINED = _Undefined()


def evaluate(term: Any, witness: Witness, number: Callable[[Fraction], Any] = Fraction) -> Any:
    """The term's value, exactly, or in the arithmetic that `number` leads to; every subterm is computed once.

    Raises:
        NotEvaluable: a quantifier or foreign operator occurs, a constant has no value of its sort, or the value
            depends on a division by zero.
    """
    values: dict[int, Any] = {}
    for key, node in graph_of([term]).items():
        values[key] = _value(node, [values[argument.key] for argument in node.arguments], witness, number)
    value = values[term.get_id()]
    if value is _UNDEFINED:
        raise NotEvaluable("the value depends on a division by zero.")
    return value


def holds(formula: Any, witness: Witness) -> bool:
    """Whether a Boolean formula has a value at the witness, and that value is true."""
    try:
        return evaluate(formula, witness) is True
    except NotEvaluable:
        return False


def parse_witness(model: Mapping[str, str] | None) -> dict[str, Value] | None:
    """A solver's model, given as texts, as exact values; None if there is none or a value is not rational."""
    if model is None:
        return None
    try:
        return {name: _parsed(text) for name, text in model.items()}
    except ValueError:
        return None


def text_of(witness: Witness) -> dict[str, str]:
    """The witness as texts, which `parse_witness` reads."""
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in witness.items()}


def _parsed(text: str) -> Value:
    return text == "true" if text in ("true", "false") else Fraction(text)


def _value(node: Node, arguments: list[Any], witness: Witness, number: Callable[[Fraction], Any]) -> Any:
    if node.kind is None:
        raise NotEvaluable("a quantified formula has no value that finitely many steps could compute.")
    if z3.is_int_value(node.term):
        return number(Fraction(node.term.as_long()))
    if z3.is_rational_value(node.term):
        return number(node.term.as_fraction())
    if node.is_constant:
        value = _constant(node.term, witness)
        return value if isinstance(value, bool) else number(value)
    if node.kind in _LAZY:
        return _LAZY[node.kind](arguments)
    if node.kind not in _STRICT:
        raise NotEvaluable(f"the operator {node.term.decl().name()} is not evaluated exactly.")
    return _UNDEFINED if _UNDEFINED in arguments else _STRICT[node.kind](arguments)


def _constant(term: Any, witness: Witness) -> Value:
    name = term.decl().name()
    value = witness.get(name)
    if z3.is_bool(term) != isinstance(value, bool) or not isinstance(value, bool | Fraction):
        raise NotEvaluable(f"the witness gives {name} no value of sort {term.sort()}.")
    if z3.is_int(term) and value.denominator != 1:
        raise NotEvaluable(f"the witness gives the integer {name} the value {value}.")
    return value


def _and(arguments: list[Any]) -> Any:
    return False if False in arguments else _UNDEFINED if _UNDEFINED in arguments else True


def _or(arguments: list[Any]) -> Any:
    return True if True in arguments else _UNDEFINED if _UNDEFINED in arguments else False


def _implies(arguments: list[Any]) -> Any:
    premise, conclusion = arguments
    return _or([_UNDEFINED if premise is _UNDEFINED else not premise, conclusion])


def _ite(arguments: list[Any]) -> Any:
    condition, then, otherwise = arguments
    return _UNDEFINED if condition is _UNDEFINED else then if condition else otherwise


def _div(arguments: list[Fraction]) -> Any:
    """SMT-LIB's integer division: the remainder is never negative."""
    a, b = arguments
    return _UNDEFINED if b == 0 else Fraction(a // b if b > 0 else -(a // -b))


def _mod(arguments: list[Fraction]) -> Any:
    return _UNDEFINED if arguments[1] == 0 else arguments[0] % abs(arguments[1])


def _quotient(arguments: list[Fraction]) -> Any:
    return _UNDEFINED if 0 in arguments[1:] else reduce(operator.truediv, arguments)


def _power(arguments: list[Fraction]) -> Any:
    base, exponent = arguments
    if exponent != int(exponent) or exponent < 0:
        raise NotEvaluable(f"the power {exponent} is no natural number.")
    return base ** int(exponent)


def _chain(compare: Callable[[Any, Any], bool]) -> Callable[[list[Any]], bool]:
    return lambda arguments: all(compare(a, b) for a, b in pairwise(arguments))


# these may have a value although an argument has none
_LAZY: dict[int, Callable[[list[Any]], Any]] = {
    z3.Z3_OP_AND: _and, z3.Z3_OP_OR: _or, z3.Z3_OP_IMPLIES: _implies, z3.Z3_OP_ITE: _ite,
}  # fmt: skip
_STRICT: dict[int, Callable[[list[Any]], Any]] = {
    z3.Z3_OP_TRUE: lambda _: True,
    z3.Z3_OP_FALSE: lambda _: False,
    z3.Z3_OP_NOT: lambda arguments: not arguments[0],
    z3.Z3_OP_XOR: lambda arguments: reduce(operator.xor, arguments),
    z3.Z3_OP_EQ: _chain(operator.eq),
    z3.Z3_OP_DISTINCT: lambda arguments: len(set(arguments)) == len(arguments),
    z3.Z3_OP_LE: _chain(operator.le),
    z3.Z3_OP_LT: _chain(operator.lt),
    z3.Z3_OP_GE: _chain(operator.ge),
    z3.Z3_OP_GT: _chain(operator.gt),
    z3.Z3_OP_ADD: sum,
    z3.Z3_OP_SUB: lambda arguments: reduce(operator.sub, arguments),
    z3.Z3_OP_UMINUS: lambda arguments: -arguments[0],
    z3.Z3_OP_MUL: math.prod,
    z3.Z3_OP_DIV: _quotient,
    z3.Z3_OP_IDIV: _div,
    z3.Z3_OP_MOD: _mod,
    z3.Z3_OP_POWER: _power,
    z3.Z3_OP_TO_REAL: lambda arguments: arguments[0],
    z3.Z3_OP_TO_INT: lambda arguments: Fraction(math.floor(arguments[0])),
    z3.Z3_OP_IS_INT: lambda arguments: arguments[0].denominator == 1,
}
