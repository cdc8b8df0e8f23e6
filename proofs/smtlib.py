"""SMT-LIB 2 text: the one canonical form of a formula, which both solvers read and the report ships.

Z3's Python terms are only a way to write formulas down. They are printed here by a table of the operators that
the SMT-LIB standard defines, so that no extension of one solver can slip into the text; the same formula
always gives the same text, whatever was built before it, and its SHA-256 is the formula's address.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import z3

__all__ = ["PortabilityError", "constants_of", "digest_of", "divisors_of", "logic_of", "numeral", "script", "terms_of"]

Term = Any
"""A Z3 term; the library ships no types."""

_OPERATORS: dict[int, str] = {
    z3.Z3_OP_TRUE: "true", z3.Z3_OP_FALSE: "false", z3.Z3_OP_EQ: "=", z3.Z3_OP_DISTINCT: "distinct",
    z3.Z3_OP_ITE: "ite", z3.Z3_OP_AND: "and", z3.Z3_OP_OR: "or", z3.Z3_OP_XOR: "xor", z3.Z3_OP_NOT: "not",
    z3.Z3_OP_IMPLIES: "=>", z3.Z3_OP_LE: "<=", z3.Z3_OP_GE: ">=", z3.Z3_OP_LT: "<", z3.Z3_OP_GT: ">",
    z3.Z3_OP_ADD: "+", z3.Z3_OP_SUB: "-", z3.Z3_OP_UMINUS: "-", z3.Z3_OP_MUL: "*", z3.Z3_OP_DIV: "/",
    z3.Z3_OP_IDIV: "div", z3.Z3_OP_MOD: "mod", z3.Z3_OP_TO_REAL: "to_real", z3.Z3_OP_TO_INT: "to_int",
    z3.Z3_OP_IS_INT: "is_int",
}  # fmt: skip
_SORTS = {z3.Z3_BOOL_SORT: "Bool", z3.Z3_INT_SORT: "Int", z3.Z3_REAL_SORT: "Real"}
_SYMBOL = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_SHARED = "shared!"


class PortabilityError(ValueError):
    """A formula lies outside the fragment that both solvers read the same way."""


def script(assertions: Mapping[str, Term], logic: str | None = None, comment: str = "") -> str:
    """The text that asks whether the named assertions can hold together.

    Args:
        assertions: Boolean terms by a name made of letters, digits, `_` and `-`.
        logic: an SMT-LIB logic; the smallest that fits, if not given.
        comment: lines put on top. They are no part of the formula, but are of the text.

    Raises:
        PortabilityError: a term, sort or name is outside the fragment.
    """
    terms = list(assertions.values())
    declared = sorted(constants_of(terms).items())
    names, definitions = _shared(terms)
    lines = [f"; {line}".rstrip() for line in comment.splitlines()]
    lines.append(f"(set-logic {logic or logic_of(terms)})")
    lines += [f"(declare-const {_symbol(name)} {_sort(term)})" for name, term in declared]
    lines += definitions
    lines += [f"(assert (! {_text(term, names)} :named {_label(name)}))" for name, term in assertions.items()]
    return "\n".join([*lines, "(check-sat)", ""])


def digest_of(text: str) -> str:
    """The text's address: its SHA-256 in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def terms_of(terms: Iterable[Term]) -> Iterator[Term]:
    """Every distinct subterm once, arguments before what they are arguments of."""
    done: set[int] = set()
    stack = [(term, False) for term in reversed(list(terms))]
    while stack:
        term, ready = stack.pop()
        if term.get_id() in done:
            continue
        if ready:
            done.add(term.get_id())
            yield term
            continue
        stack.append((term, True))
        stack += [(child, False) for child in reversed(term.children())]


def constants_of(terms: Iterable[Term]) -> dict[str, Term]:
    """The free constants by name.

    Raises:
        PortabilityError: an uninterpreted function occurs, or one name has two sorts.
    """
    found: dict[str, Term] = {}
    for term in terms_of(terms):
        if not z3.is_app(term) or term.decl().kind() != z3.Z3_OP_UNINTERPRETED:
            continue
        name = term.decl().name()
        if term.num_args():
            raise PortabilityError(f"{name} is an uninterpreted function: name the values you need as constants.")
        if not term.eq(found.setdefault(name, term)):
            raise PortabilityError(f"the name {name} is used for constants of two sorts.")
    return found


def divisors_of(terms: Iterable[Term]) -> list[Term]:
    """Everything that is divided by, but for numbers and for what contains a bound variable."""
    found: dict[int, Term] = {}
    for term in terms_of(terms):
        if z3.is_app(term) and term.decl().kind() in (z3.Z3_OP_DIV, z3.Z3_OP_IDIV, z3.Z3_OP_MOD):
            divisor = term.arg(1)
            if not _is_number(divisor) and not any(z3.is_var(sub) for sub in terms_of([divisor])):
                found.setdefault(divisor.get_id(), divisor)
    return list(found.values())


def logic_of(terms: Iterable[Term]) -> str:
    """The smallest of SMT-LIB's arithmetic logics that holds the terms."""
    found = list(terms_of(terms))
    sorts = {_sort(term) for term in found if z3.is_expr(term) and not z3.is_quantifier(term)}
    linear = not any(_nonlinear(term) for term in found if z3.is_app(term))
    reals = ("I" if "Int" in sorts else "") + ("R" if "Real" in sorts else "")
    quantified = any(z3.is_quantifier(term) for term in found)
    return ("" if quantified else "QF_") + (("L" if linear else "N") + reals + "A" if reals else "UF")


def numeral(value: Fraction, sort: str = "Real") -> str:
    """An exact number as SMT-LIB writes it: no sign and no fraction inside a literal."""
    point = ".0" if sort == "Real" else ""
    size = f"{abs(value.numerator)}{point}"
    if value.denominator != 1:
        size = f"(/ {size} {value.denominator}{point})"
    return f"(- {size})" if value < 0 else size


def _nonlinear(term: Term) -> bool:
    kind, arguments = term.decl().kind(), term.children()
    if kind == z3.Z3_OP_MUL:
        return sum(not _is_number(argument) for argument in arguments) > 1
    return kind in (z3.Z3_OP_DIV, z3.Z3_OP_IDIV, z3.Z3_OP_MOD, z3.Z3_OP_POWER) and not all(
        _is_number(argument) for argument in arguments[1:]
    )


def _is_number(term: Term) -> bool:
    return (
        z3.is_int_value(term)
        or z3.is_rational_value(term)
        or (z3.is_app(term) and term.decl().kind() in (z3.Z3_OP_TO_REAL, z3.Z3_OP_UMINUS) and _is_number(term.arg(0)))
    )


def _shared(terms: list[Term]) -> tuple[dict[int, str], list[str]]:
    """Names for subterms that occur more than once, and their definitions; none below a quantifier."""
    found = list(terms_of(terms))
    if any(z3.is_quantifier(term) for term in found):
        return {}, []
    uses = Counter(child.get_id() for term in found for child in term.children())
    names: dict[int, str] = {}
    definitions: list[str] = []
    for term in found:
        if uses[term.get_id()] > 1 and term.num_args():
            body = _text(term, names)
            names[term.get_id()] = f"{_SHARED}{len(names) + 1}"
            definitions.append(f"(define-fun {names[term.get_id()]} () {_sort(term)} {body})")
    return names, definitions


def _text(term: Term, names: Mapping[int, str], bound: tuple[str, ...] = ()) -> str:
    if term.get_id() in names:
        return names[term.get_id()]
    if z3.is_quantifier(term):
        return _quantified(term, bound)
    if z3.is_var(term):
        return bound[-1 - z3.get_var_index(term)]
    if z3.is_int_value(term):
        return numeral(Fraction(term.as_long()), "Int")
    if z3.is_rational_value(term):
        return numeral(term.as_fraction())
    kind = term.decl().kind()
    if kind == z3.Z3_OP_UNINTERPRETED:
        return _symbol(term.decl().name())
    arguments = term.children()
    if kind == z3.Z3_OP_POWER:
        arguments = _factors(term)
        kind = z3.Z3_OP_MUL
    if kind not in _OPERATORS:
        raise PortabilityError(f"the operator {term.decl().name()} is not one that both solvers read the same way.")
    words = [_OPERATORS[kind], *(_text(argument, names, bound) for argument in arguments)]
    return f"({' '.join(words)})" if len(words) > 1 else words[0]


def _factors(power: Term) -> list[Term]:
    base, exponent = power.children()
    value = z3.simplify(exponent)
    times = int(str(value)) if re.fullmatch(r"[0-9]+", str(value)) else 0
    if times < 2:
        raise PortabilityError(f"{power}: only literal powers of at least 2 are portable; write the product out.")
    return [base] * times


def _quantified(term: Term, bound: tuple[str, ...]) -> str:
    if term.is_lambda():
        raise PortabilityError("a lambda term is not portable.")
    own = tuple(f"bound!{len(bound) + k + 1}" for k in range(term.num_vars()))
    variables = " ".join(f"({name} {_SORTS[term.var_sort(k).kind()]})" for k, name in enumerate(own))
    quantifier = "forall" if term.is_forall() else "exists"
    return f"({quantifier} ({variables}) {_text(term.body(), {}, bound + own)})"


def _sort(term: Term) -> str:
    kind = term.sort().kind()
    if kind not in _SORTS:
        raise PortabilityError(f"{term} has sort {term.sort()}: only Bool, Int and Real are portable.")
    return _SORTS[kind]


def _symbol(name: str) -> str:
    if not _SYMBOL.fullmatch(name):
        raise PortabilityError(f"{name!r} cannot name a constant: use letters, digits, '_' and '.'.")
    return name


def _label(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name):
        raise PortabilityError(f"{name!r} cannot name an assertion: use letters, digits, '_' and '-'.")
    return name
