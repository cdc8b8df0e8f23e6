"""What a failure's reason rests on: the sums of the calls, counted again here by plain loops."""

from __future__ import annotations

import math

import numpy as np
import pytest

from reports.diagnosis import equals_attention_exactly, sums_of_calls
from twoheads.catalogue import CONSTRUCTIONS, Options

N = 20


def inputs(scale):
    random = np.random.default_rng(3)
    return scale * random.normal(size=(N, 2)), random.normal(size=(N, 2))


def blocks(n):
    return [range(start, min(start + n, N)) for start in range(0, N, n)]


@pytest.mark.parametrize("scale", [1, 8, 30])
def test_the_block_sums_of_the_quadratic_construction(scale):
    M = 6
    Q, K = inputs(scale)
    # query i and block t: the sum of the weights; short blocks are filled up with synthetic tokens
    sums = [
        (math.fsum(math.exp(Q[i] @ K[j]) for j in block), M - len(block)) for i in range(N) for block in blocks(M - 1)
    ]
    found = sums_of_calls(Q, K, M, CONSTRUCTIONS["quadratic"], "printed", Options())
    assert found is not None
    assert found.rows == len(sums)
    assert found.largest == pytest.approx(max(math.log2(A / s) for A, s in sums))
    assert found.rounded == sum(A / s >= 2**53 for A, s in sums)
    assert found.outweighed == 0


def test_float64_loses_1_minus_R_where_the_sums_say_so():
    """R as any oracle would return it in float64, from the same sums."""
    M = 6
    Q, K = inputs(30)
    lost = 0
    for i in range(N):
        for block in blocks(M - 1):
            A = np.exp([Q[i] @ K[j] for j in block]).sum()
            lost += 1 - A / (A + (M - len(block))) == 0
    found = sums_of_calls(Q, K, M, CONSTRUCTIONS["quadratic"], "printed", Options())
    assert found is not None
    assert 0 < found.rounded < found.rows
    assert abs(found.rounded - lost) <= 1  # the last binary place of A may fall either way


@pytest.mark.parametrize(("name", "s"), [("window", 0), ("sink", 2)])
def test_what_a_difference_of_sums_loses(name, s):
    M, r = 9, 3
    Q, K = inputs(1)
    weights = np.exp(Q @ K.T)
    chunk = M - 1 - s - r
    worst = 0.0
    for i in range(s, N):
        start = max(s + (i - s) // chunk * chunk - r, s)  # of the keys that LEAD sums up to i
        lead = weights[i, start : i + 1].sum() + weights[i, :s].sum()
        lag = weights[i, start : max(i - r + 1, start)].sum()
        worst = max(worst, math.log2(lead / (lead - lag)))
    found = sums_of_calls(Q, K, M, CONSTRUCTIONS[name], "merged", Options(r=r, s=s))
    assert found is not None
    assert found.outweighed == pytest.approx(worst)


@pytest.mark.parametrize(
    ("name", "variant", "expected"),
    [
        ("quadratic", "printed", True),
        ("causal", "printed", False),
        ("causal", "repaired", True),
        ("window", "merged", True),
        ("window", "stable", None),
        ("average-case", "merged", None),
    ],
)
def test_the_exact_comparison(name, variant, expected):
    assert equals_attention_exactly(name, variant) is expected
