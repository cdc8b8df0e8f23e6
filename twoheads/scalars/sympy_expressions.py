"""SymPy expressions: the construction run on symbols is its own derivation."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import sympy

from twoheads.scalars.domain import Array
from twoheads.scalars.objects import Objects

__all__ = ["DOMAIN", "Expressions"]


class Expressions(Objects):
    """SymPy expressions; a score is an expression, whose weight is `sympy.exp`, or a formal log."""

    name = "SymPy expressions"
    e: ClassVar[Any] = sympy.E

    def exp(self, score: Any) -> Any:
        return sympy.exp(score) if isinstance(score, sympy.Expr) else super().exp(score)

    def number(self, values: Any) -> Array:
        return np.vectorize(sympy.Integer, otypes=[object])(np.asarray(values).astype(object))


DOMAIN = Expressions()
