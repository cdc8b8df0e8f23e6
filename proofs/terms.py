"""Z3 terms taken apart once: what occurs in a formula, and how."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import z3

__all__ = ["SORTS", "Graph", "Node", "PortabilityError", "Term", "constants_of", "divisors_of", "graph_of", "logic_of"]

Term = Any
"""A Z3 term; the library's own types say no more."""

SORTS = {z3.Z3_BOOL_SORT: "Bool", z3.Z3_INT_SORT: "Int", z3.Z3_REAL_SORT: "Real"}

_DIVISIONS = {z3.Z3_OP_DIV, z3.Z3_OP_IDIV, z3.Z3_OP_MOD}
_SIGNS = {z3.Z3_OP_TO_REAL, z3.Z3_OP_UMINUS}


class PortabilityError(ValueError):
    """A formula lies outside the fragment that both solvers read the same way."""


@dataclass(frozen=True, eq=False, slots=True)
class Node:
    """A term, its operator and its arguments."""

    term: Term
    kind: int | None
    """The operator's number in Z3's enumeration; None for a quantifier or a bound variable."""
    arguments: tuple[Node, ...]
    key: int
    """Z3's id of the term: equal for equal terms of one context, as long as the term is kept alive."""

    @property
    def is_number(self) -> bool:
        """A literal, perhaps with a sign or as a real."""
        return self.kind == z3.Z3_OP_ANUM or (self.kind in _SIGNS and self.arguments[0].is_number)

    @property
    def is_quantifier(self) -> bool:
        """A quantifier, or a lambda term."""
        return self.kind is None and bool(z3.is_quantifier(self.term))

    @property
    def is_bound(self) -> bool:
        """A variable of a quantifier around the term."""
        return self.kind is None and bool(z3.is_var(self.term))

    @property
    def is_constant(self) -> bool:
        """A free constant or an application of an uninterpreted function."""
        return self.kind == z3.Z3_OP_UNINTERPRETED

    @property
    def sort(self) -> str:
        """The sort's name in SMT-LIB.

        Raises:
            PortabilityError: the sort is none of Bool, Int and Real.
        """
        sort = self.term.sort()
        if sort.kind() not in SORTS:
            raise PortabilityError(f"{self.term} has sort {sort}: only Bool, Int and Real are portable.")
        return SORTS[sort.kind()]


Graph = dict[int, Node]
"""Every distinct subterm by its key, arguments before what they are arguments of."""


_KNOWN: dict[int, Node] = {}
"""Nodes of Z3's main context. A node keeps its term alive, so that Z3 gives its id to no other term."""


def graph_of(terms: Iterable[Term]) -> Graph:
    """The terms and all their subterms."""
    graph: Graph = {}
    stack = [_node(term) for term in terms][::-1]
    while stack:
        node = stack[-1]
        missing = [argument for argument in node.arguments if argument.key not in graph]
        if node.key in graph or not missing:
            graph.setdefault(node.key, stack.pop())
        else:
            stack += missing[::-1]
    return graph


def _node(root: Term) -> Node:
    known = _KNOWN if root.ctx is z3.main_ctx() else {}
    stack = [root]
    children: dict[int, list[Term]] = {}
    while stack:
        term = stack[-1]
        key = term.get_id()
        if key not in known and key not in children:
            children[key] = term.children()
            stack += children[key]
            continue
        stack.pop()
        if key not in known:
            arguments = tuple(known[child.get_id()] for child in children[key])
            known[key] = Node(term, term.decl().kind() if z3.is_app(term) else None, arguments, key)
    return known[root.get_id()]


def constants_of(graph: Graph) -> dict[str, Node]:
    """The free constants by name.

    Raises:
        PortabilityError: an uninterpreted function occurs, or one name has two sorts.
    """
    found: dict[str, Node] = {}
    for node in graph.values():
        if not node.is_constant:
            continue
        name = node.term.decl().name()
        if node.arguments:
            raise PortabilityError(f"{name} is an uninterpreted function: name the values you need as constants.")
        if found.setdefault(name, node) is not node:
            raise PortabilityError(f"the name {name} is used for constants of two sorts.")
    return found


def divisors_of(graph: Graph) -> list[Term]:
    """Everything that is divided by, but for numbers and for what contains a bound variable."""
    divisors = {node.arguments[1].key: node.arguments[1] for node in graph.values() if node.kind in _DIVISIONS}
    return [
        divisor.term
        for divisor in divisors.values()
        if not divisor.is_number and not any(node.is_bound for node in graph_of([divisor.term]).values())
    ]


def logic_of(graph: Graph) -> str:
    """The smallest of SMT-LIB's arithmetic logics that holds the terms.

    Raises:
        PortabilityError: a sort is none of Bool, Int and Real.
    """
    quantified = any(node.is_quantifier for node in graph.values())
    sorts = {node.sort for node in graph.values() if not node.is_quantifier}
    numbers = ("I" if "Int" in sorts else "") + ("R" if "Real" in sorts else "")
    linear = not any(_is_nonlinear(node) for node in graph.values())
    return ("" if quantified else "QF_") + (("L" if linear else "N") + numbers + "A" if numbers else "UF")


def _is_nonlinear(node: Node) -> bool:
    if node.kind == z3.Z3_OP_MUL:
        return sum(not argument.is_number for argument in node.arguments) > 1
    if node.kind in _DIVISIONS:
        return not node.arguments[1].is_number
    return node.kind == z3.Z3_OP_POWER
