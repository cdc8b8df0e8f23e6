"""Small pieces of text."""

from __future__ import annotations

import math
import random

import pytest

from reports.wording import anchor, counted, joined, paper_order, short


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1.59e-15, "1.6e-15"),
        (9e-16, "9.0e-16"),
        (0.2449, "0.24"),
        (12.0, "12"),
        (math.nan, "not finite"),
        (None, "not finite"),
    ],
)
def test_short(value, expected):
    assert short(value) == expected


def test_joined_and_counted():
    assert [joined("a"), joined("ab"), joined("abc"), joined([])] == ["a", "a and b", "a, b and c", "none"]
    assert [counted(1, "call"), counted(0, "call")] == ["1 call", "0 calls"]


def test_items_are_sorted_as_in_the_paper():
    items = [
        "§1.1.e",
        "Definition 2.1",
        "Lemma 3.1",
        "Theorem 3.5",
        "Theorem 4.1",
        "Theorem 4.10",
        "Lemma A.1",
        "Claim B.6",
    ]
    mixed = random.Random(0).sample(items, len(items))
    assert sorted(mixed, key=paper_order) == items


def test_anchors_hold_letters_digits_and_dashes():
    assert anchor("Theorem 3.5 / B.5") == "theorem-3-5-b-5"
