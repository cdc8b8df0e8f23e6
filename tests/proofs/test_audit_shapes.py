"""The shape checker against NumPy's own way of putting blocks together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofs.audit import displays
from proofs.audit.literal import EXACT, integer_columns, solvable
from proofs.audit.shapes import BlockMatrix, ShapeError, size

SIZES = {"M": 3, "d": 2, "b": 1, "m": 2, "Ls": 3}


@given(
    st.lists(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=3), min_size=1, max_size=3)
)
def test_blocks_fit_exactly_if_numpy_can_put_them_together(shapes):
    display = "; ".join(" ".join(f"1[{h},{w}]" for h, w in row) for row in shapes)
    try:
        due = np.block([[np.ones(shape) for shape in row] for row in shapes]).shape
    except ValueError:
        with pytest.raises(ShapeError):
            BlockMatrix("a", display).shape({})
    else:
        assert BlockMatrix("a", display).shape({}) == due
        assert BlockMatrix("a", display).build(EXACT, {}).shape == due


def test_named_blocks_stand_where_the_display_says():
    X = EXACT.array([[1, 2], [3, 4]])
    built = BlockMatrix("a", "X[d,d] 0[d,1]; 0[1,d] 1[1,1]").build(EXACT, {"d": 2}, X=X)
    assert built.tolist() == [[1, 2, 0], [3, 4, 0], [0, 0, 1]]
    with pytest.raises(ShapeError, match=r"X in a is \(2, 2\)"):
        BlockMatrix("a", "X[d,1]").build(EXACT, {"d": 2}, X=X)


def test_blocks_without_entries_are_not_there():
    assert BlockMatrix("a", "1[1,b] 0[d,d-b]").shape({"d": 2, "b": 2}) == (1, 2)


@pytest.mark.parametrize(
    ("text", "value"), [("2*d+1", 5), ("m*Ls-m", 4), ("M+1", 4), ("d-b", 1), ("M//d", 1), ("1", 1)]
)
def test_dimensions(text, value):
    assert size(text, SIZES) == value


@pytest.mark.parametrize("text", ["n", "d-M", "d**2", "f(d)", "'d'"])
def test_what_is_no_dimension_is_refused(text):
    with pytest.raises(ShapeError):
        size(text, SIZES)


@pytest.mark.parametrize("display", ["", "X", "X[d]", "X[d,d] ; ", "1[1,1] 0"])
def test_what_is_no_display_is_refused(display):
    with pytest.raises(ShapeError):
        BlockMatrix("a", display).shape(SIZES)


@pytest.mark.parametrize(
    ("name", "fits"),
    [(name, name not in {"A1_U", "OFF_Q", "OFF_K", "PREFIX_W"}) for name in displays.__all__],
)
def test_which_printed_displays_fit(name, fits):
    matrix = getattr(displays, name)
    if fits:
        matrix.shape(SIZES)
    else:
        with pytest.raises(ShapeError):
            matrix.shape(SIZES)


@given(st.integers(1, 3), st.data())
def test_solvable_is_what_elimination_says(n, data):
    A = EXACT.array(data.draw(st.lists(st.lists(st.integers(-2, 2), min_size=n, max_size=n), min_size=1, max_size=3)))
    W = EXACT.array([[k] for k in range(n)])
    assert solvable(A, A @ W)
    outside = A @ W
    doubled = np.concatenate([A, A]), np.concatenate([outside, outside + 1])
    assert not solvable(*doubled)


def test_integer_columns_are_all_of_them_smallest_first():
    columns = integer_columns(3, (0, 1))
    assert len(set(columns)) == 8
    assert [sum(column) for column in columns] == sorted(sum(column) for column in columns)
