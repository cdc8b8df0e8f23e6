"""Arb balls (`python-flint`): the construction run on them returns an enclosure of the real result."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from flint import arb

from twoheads.scalars.domain import Array
from twoheads.scalars.objects import Objects

__all__ = ["DOMAIN", "Balls"]


class Balls(Objects):
    """Real balls at the precision of `flint.ctx.prec`; equality of balls means nothing, so not `exact`."""

    name = "Arb balls"
    exact: ClassVar[bool] = False
    e: ClassVar[Any] = None

    def exp(self, score: Any) -> Any:
        return arb(score).exp() if isinstance(score, arb | int) else super().exp(score)

    def number(self, values: Any) -> Array:
        return np.vectorize(arb, otypes=[object])(np.asarray(values).astype(object))


DOMAIN = Balls()
