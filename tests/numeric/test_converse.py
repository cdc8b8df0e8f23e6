"""Theorem 4.2's measured error: below its bound while the bound is above rounding, and rounding after that."""

from __future__ import annotations

import pytest

from numeric.converse import measure
from twoheads.errors import InputError
from twoheads.theorem_4_2 import width


@pytest.mark.parametrize("variant", ["printed", "tight"])
@pytest.mark.parametrize("error", [1e-2, 1e-6, 1e-12, 1e-200])
def test_the_error_is_what_was_wanted(variant, error):
    run = measure(96, 8, 4, error, variant, seed=5)
    assert run.bound <= error
    assert run.error <= error + 1e-12
    assert (run.calls, run.products, run.width) == (1, 36, width(96, 8, 4, 4))


def test_the_tight_bound_takes_a_smaller_B():
    assert measure(64, 4, 3, 1e-12, "tight").B < measure(64, 4, 3, 1e-12, "printed").B


def test_without_codes_the_instances_mix():
    # B = 1 is all that a huge error asks for
    assert measure(64, 4, 3, 1e9).B == 1
    assert measure(64, 4, 3, 1e9).error > 0.05


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="N a multiple of M"):
        measure(10, 4, 3, 1e-3)
    with pytest.raises(InputError, match="must be a positive number"):
        measure(8, 4, 3, 0)
