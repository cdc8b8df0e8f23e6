"""SMT-LIB 2 text: the one canonical form of a formula, which both solvers read and the report ships.

Z3's Python terms are only a way to write formulas down. They are printed here by a table of the operators that
the SMT-LIB standard defines, so that no extension of one solver can slip into the text; the same formula
always gives the same text, whatever was built before it, and its SHA-256 is the formula's address.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

import z3

from proofs.terms import SORTS, Graph, Node, PortabilityError, Term, constants_of, graph_of, logic_of

__all__ = ["digest_of", "numeral", "script"]

_OPERATORS: dict[int, str] = {
    z3.Z3_OP_TRUE: "true", z3.Z3_OP_FALSE: "false", z3.Z3_OP_EQ: "=", z3.Z3_OP_DISTINCT: "distinct",
    z3.Z3_OP_ITE: "ite", z3.Z3_OP_AND: "and", z3.Z3_OP_OR: "or", z3.Z3_OP_XOR: "xor", z3.Z3_OP_NOT: "not",
    z3.Z3_OP_IMPLIES: "=>", z3.Z3_OP_LE: "<=", z3.Z3_OP_GE: ">=", z3.Z3_OP_LT: "<", z3.Z3_OP_GT: ">",
    z3.Z3_OP_ADD: "+", z3.Z3_OP_SUB: "-", z3.Z3_OP_UMINUS: "-", z3.Z3_OP_MUL: "*", z3.Z3_OP_DIV: "/",
    z3.Z3_OP_IDIV: "div", z3.Z3_OP_MOD: "mod", z3.Z3_OP_TO_REAL: "to_real", z3.Z3_OP_TO_INT: "to_int",
    z3.Z3_OP_IS_INT: "is_int",
}  # fmt: skip
_SYMBOL = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_LABEL = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


def script(assertions: Mapping[str, Term], logic: str | None = None, comment: str = "") -> str:
    """The text that asks whether the named assertions can hold together.

    Args:
        assertions: Boolean terms by a name made of letters, digits, `_` and `-`.
        logic: an SMT-LIB logic; the smallest that fits, if not given.
        comment: lines put on top. They are no part of the formula, but are of the text.

    Raises:
        PortabilityError: a term, sort or name is outside the fragment.
    """
    graph = graph_of(assertions.values())
    names, definitions = _shared(graph)
    lines = [f"; {line}".rstrip() for line in comment.splitlines()]
    lines.append(f"(set-logic {logic or logic_of(graph)})")
    lines += [f"(declare-const {_symbol(name)} {node.sort})" for name, node in sorted(constants_of(graph).items())]
    lines += definitions
    for name, term in assertions.items():
        lines.append(f"(assert (! {_text(graph[term.get_id()], names)} :named {_label(name)}))")
    return "\n".join([*lines, "(check-sat)", ""])


def digest_of(text: str) -> str:
    """The text's address: its SHA-256 in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def numeral(value: Fraction, sort: str = "Real") -> str:
    """An exact number as SMT-LIB writes it: no sign and no fraction inside a literal."""
    point = ".0" if sort == "Real" else ""
    size = f"{abs(value.numerator)}{point}"
    if value.denominator != 1:
        size = f"(/ {size} {value.denominator}{point})"
    return f"(- {size})" if value < 0 else size


def _shared(graph: Graph) -> tuple[dict[int, str], list[str]]:
    """Names for subterms that occur more than once, and their definitions; none where there is a quantifier."""
    if any(node.is_quantifier for node in graph.values()):
        return {}, []
    uses = Counter(argument.key for node in graph.values() for argument in node.arguments)
    names: dict[int, str] = {}
    definitions: list[str] = []
    for key, node in graph.items():
        if uses[key] > 1 and node.arguments:
            body = _text(node, names)
            names[key] = f"shared!{len(names) + 1}"
            definitions.append(f"(define-fun {names[key]} () {node.sort} {body})")
    return names, definitions


def _text(node: Node, names: Mapping[int, str], bound: tuple[str, ...] = ()) -> str:
    if node.key in names:
        return names[node.key]
    if node.is_quantifier:
        return _quantified(node, bound)
    if node.is_bound:
        return bound[-1 - z3.get_var_index(node.term)]
    if node.is_constant:
        return _symbol(node.term.decl().name())
    if node.kind == z3.Z3_OP_ANUM:
        return _literal(node)
    kind, arguments = (z3.Z3_OP_MUL, _factors(node)) if node.kind == z3.Z3_OP_POWER else (node.kind, node.arguments)
    if kind not in _OPERATORS:
        name = node.term.decl().name()
        raise PortabilityError(f"the operator {name} is not one that both solvers read the same way.")
    words = [_OPERATORS[kind], *(_text(argument, names, bound) for argument in arguments)]
    return f"({' '.join(words)})" if len(words) > 1 else words[0]


def _literal(node: Node) -> str:
    if z3.is_int_value(node.term):
        return numeral(Fraction(node.term.as_long()), "Int")
    if z3.is_rational_value(node.term):
        return numeral(node.term.as_fraction())
    raise PortabilityError(f"{node.term} is no rational number.")


def _factors(power: Node) -> tuple[Node, ...]:
    base, exponent = power.arguments
    value = str(z3.simplify(exponent.term))
    times = int(value) if re.fullmatch(r"[0-9]+", value) else 0
    if times < 2:
        raise PortabilityError(f"{power.term}: only literal powers of at least 2 are portable; write the product out.")
    return (base,) * times


def _quantified(node: Node, bound: tuple[str, ...]) -> str:
    term = node.term
    if term.is_lambda():
        raise PortabilityError("a lambda term is not portable.")
    own = tuple(f"bound!{len(bound) + k + 1}" for k in range(term.num_vars()))
    variables = " ".join(f"({name} {SORTS[term.var_sort(k).kind()]})" for k, name in enumerate(own))
    quantifier = "forall" if term.is_forall() else "exists"
    return f"({quantifier} ({variables}) {_text(node.arguments[0], {}, bound + own)})"


def _symbol(name: str) -> str:
    if not _SYMBOL.fullmatch(name):
        raise PortabilityError(f"{name!r} cannot name a constant: use letters, digits, '_' and '.'.")
    return name


def _label(name: str) -> str:
    if not _LABEL.fullmatch(name):
        raise PortabilityError(f"{name!r} cannot name an assertion: use letters, digits, '_' and '-'.")
    return name
