"""SymPy's printers with two habits changed, so that formulas can be misread less.

Sums come last in a sum of terms: 1 + Σ x_j and not Σ x_j + 1. Entries of a family are printed with the family's
letter, Greek ones included.
"""

from __future__ import annotations

from typing import Any

from sympy import Basic, Sum
from sympy.printing.latex import LatexPrinter
from sympy.printing.pretty.pretty import PrettyPrinter
from sympy.printing.pretty.pretty_symbology import pretty_symbol
from sympy.printing.pretty.stringpict import prettyForm

__all__ = ["as_latex", "as_text"]


def as_text(expression: Basic) -> str:
    """In the letters of a terminal, on one or several lines."""
    settings = {"use_unicode": True, "wrap_line": False}
    shown: str = _Text(settings).doprint(expression)
    return shown


def as_latex(expression: Basic) -> str:
    """In LaTeX, without delimiters."""
    shown: str = _Latex().doprint(expression)
    return shown


def _sums_last(terms: list[Any]) -> list[Any]:
    return sorted(terms, key=lambda term: term.has(Sum))  # stable: the others keep SymPy's order


class _Text(PrettyPrinter):
    def _as_ordered_terms(self, expr: Any, order: Any = None) -> list[Any]:
        return _sums_last(super()._as_ordered_terms(expr, order=order))

    def _print_Indexed(self, expr: Any) -> Any:
        places = ", ".join(self.doprint(place) for place in expr.indices)
        return prettyForm(f"{pretty_symbol(str(expr.base.label))}[{places}]", binding=prettyForm.FUNC)


class _Latex(LatexPrinter):
    def _as_ordered_terms(self, expr: Any, order: Any = None) -> list[Any]:
        return _sums_last(super()._as_ordered_terms(expr, order=order))
