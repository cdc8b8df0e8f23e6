"""Exact rationals (`fractions.Fraction`), with the weights given as formal logs: the judge of all others."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from twoheads.scalars.domain import Array
from twoheads.scalars.objects import Objects

__all__ = ["DOMAIN", "Rationals"]


class Rationals(Objects):
    """Fractions. The weight of score 1 is 2; any positive number serves, since it cancels."""

    name = "exact rationals"
    e: ClassVar[Any] = Fraction(2)

    def number(self, values: Any) -> Array:
        # Fractions, so that a quotient of two counts stays exact
        return np.vectorize(Fraction, otypes=[object])(np.asarray(values).astype(object))


DOMAIN = Rationals()
