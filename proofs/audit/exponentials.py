"""exp of rational numbers, enclosed by rational numbers.

The tail bounds of Appendix C hold for e and for no other base, so that they cannot be run with a stand-in for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import count
from typing import Any

from proofs.audit.literal import Arithmetic

__all__ = ["exp_above", "exp_below"]

_BITS = 16  # of a bound: few enough to be read


def exp_below(x: Arithmetic, y: Any) -> Any:
    """At most exp(y), and at least (1 - 2^-13) exp(y); in floats exp(y) as the library has it."""
    return math.exp(y) if x.number is float else _enclosed(Fraction(y))[0]


def exp_above(x: Arithmetic, y: Any) -> Any:
    """At least exp(y), and at most (1 + 2^-13) exp(y); in floats exp(y) as the library has it."""
    return math.exp(y) if x.number is float else _enclosed(Fraction(y))[1]


def _enclosed(y: Fraction) -> tuple[Fraction, Fraction]:
    """The series up to y^n/n!; what is left is at most its next term times 1/(1 - y/(n+2)) once n+2 > y."""
    if y < 0:
        low, high = _enclosed(-y)
        return _rounded(1 / high, math.floor), _rounded(1 / low, math.ceil)
    total, term = Fraction(1), Fraction(1)
    for n in count(1):  # ends, since the terms go to 0
        term *= y / n
        if n + 1 > y and (rest := term / (1 - y / (n + 1))) <= total / 4**_BITS:
            break
        total += term
    return _rounded(total, math.floor), _rounded(total + rest, math.ceil)


def _rounded(value: Fraction, towards: Callable[[Fraction], int]) -> Fraction:
    """To a significand of at least 16 bits, up or down."""
    scale = Fraction(2) ** (_BITS + value.denominator.bit_length() - value.numerator.bit_length())
    return towards(value * scale) / scale
