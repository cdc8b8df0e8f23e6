"""Z3 real terms, with the weights given as formal logs: the construction run on them is the formula to prove."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import z3

from twoheads.scalars.domain import Array
from twoheads.scalars.objects import Objects

__all__ = ["DOMAIN", "Z3Reals"]


class Z3Reals(Objects):
    """Z3 terms of sort Real. The weight of score 1 is the constant 2; any positive number serves."""

    name = "Z3 reals"
    e: ClassVar[Any] = z3.RealVal(2)

    def _scaled(self, weight: Any, shift: int) -> Any:
        scaled = weight if shift == 0 else super()._scaled(weight, shift)
        return z3.RealVal(scaled) if isinstance(scaled, int) else scaled

    def number(self, values: Any) -> Array:
        return np.vectorize(z3.RealVal, otypes=[object])(np.asarray(values).astype(object))


DOMAIN = Z3Reals()
