"""Lower bounds: counts by enumeration, the covering bound against exhaustive search, the conditional one by hand."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judge import ALLOWED, EVERY_VARIANT, admits
from twoheads import theorem_4_1
from twoheads.catalogue import CONSTRUCTIONS, Options
from twoheads.errors import InputError
from twoheads.lower_bounds import allowed_pairs, conditional_bound, covering_bound, gap, pairs_per_call

MASKS = {
    "quadratic": lambda r, s: {},
    "causal": lambda r, s: {"causal": True},
    "window": lambda r, s: {"r": r},
    "sink": lambda r, s: {"r": r, "s": s},
}


@pytest.mark.parametrize("name", MASKS)
@given(N=st.integers(1, 30), r=st.integers(1, 35), s=st.integers(0, 35))
def test_allowed_pairs_are_what_enumeration_counts(name, N, r, s):
    allowed = ALLOWED[name](Options(r=r, s=s))
    enumerated = sum(allowed(i, j) for i in range(N) for j in range(N))
    assert allowed_pairs(N, **MASKS[name](r, s)) == enumerated


@pytest.mark.parametrize("causal", [False, True])
@given(M=st.integers(1, 12), most=st.none() | st.integers(1, 15))
def test_pairs_per_call_are_what_enumeration_counts(causal, M, most):
    seen = [p + 1 if causal else M for p in range(M)]
    assert pairs_per_call(M, causal, most) == sum(min(k, most or k) for k in seen)


def fewest_calls(N, M, allowed, causal):
    """By breadth-first search over the sets of pairs that have met; sets of pairs are bit masks."""
    wanted = sum(1 << (i * N + j) for i in range(N) for j in range(N) if allowed(i, j))
    calls = set()
    for queries in itertools.permutations(range(N), min(M, N)):
        for keys in itertools.permutations(range(N), min(M, N)):
            met = sum(
                1 << (i * N + j) for p, i in enumerate(queries) for q, j in enumerate(keys) if q <= p or not causal
            )
            calls.add(met & wanted)
    reached, count = {0}, 0
    while wanted not in reached:
        reached, count = {have | call for have in reached for call in calls}, count + 1
    return count


@pytest.mark.parametrize(
    ("name", "N", "M", "r", "s", "fewest"),
    [
        ("quadratic", 3, 2, 1, 0, 3),
        ("quadratic", 4, 2, 1, 0, 4),
        ("quadratic", 3, 3, 1, 0, 1),
        ("causal", 3, 2, 1, 0, 2),  # queries 0, 2 with keys 0, 2 and queries 2, 1 with keys 1, 0
        ("causal", 3, 3, 1, 0, 1),
        ("window", 4, 2, 2, 0, 3),
        ("sink", 4, 3, 1, 1, 2),
    ],
)
def test_no_schedule_at_all_beats_the_bound(name, N, M, r, s, fewest):
    entry = CONSTRUCTIONS[name]
    searched = fewest_calls(N, M, ALLOWED[name](Options(r=r, s=s)), entry.causal)
    assert searched == fewest
    assert covering_bound(N, M, **MASKS[name](r, s)) <= searched


PAIRING = [(name, variant) for name, variant in EVERY_VARIANT if name in MASKS]


def test_only_what_approximates_may_skip_pairs():
    assert {name for name, entry in CONSTRUCTIONS.items() if not entry.approximate} == set(MASKS)
    assert theorem_4_1.calls(64, 8) < covering_bound(64, 8)


@pytest.mark.parametrize(("name", "variant"), PAIRING)
def test_no_construction_beats_the_bound(name, variant):
    entry, gaps = CONSTRUCTIONS[name], []
    for N, M, r, s in itertools.product([1, 2, 5, 16, 64, 200], [2, 3, 8, 17, 40], [1, 2, 6], [0, 1, 5]):
        options = Options(r=r, s=s)
        if admits(entry, N, M, variant, options):
            bound = covering_bound(N, M, **MASKS[name](r, s))
            gaps.append(gap(entry.calls(N, M, variant, options), bound))
    assert len(gaps) > 30
    assert min(gaps) >= 1


def test_known_values():
    assert covering_bound(64, 8) == 64
    assert covering_bound(64, 8, causal=True) == math.ceil(Fraction(64 * 65, 8 * 9))
    # a window: about N/M, where counting all M (M+1)/2 pairs of a call would give 2 r N / M^2
    assert covering_bound(10_000, 100, r=5) == math.ceil(Fraction(5 * 10_000 - 10, 5 * 100 - 10))
    assert covering_bound(64, 8, heads=12, packed=6) == 128
    assert covering_bound(5, 100, r=1) == 1
    assert covering_bound(64, 8, causal=True, causal_oracle=False) == math.ceil(Fraction(64 * 65, 2 * 64))
    assert gap(6, 4) == Fraction(3, 2)


@given(N=st.integers(1, 200), M=st.integers(1, 50), heads=st.integers(1, 12), packed=st.integers(1, 12))
def test_more_heads_never_need_fewer_calls(N, M, heads, packed):
    assert covering_bound(N, M, heads=heads + 1, packed=packed) >= covering_bound(N, M, heads=heads, packed=packed)
    assert covering_bound(N, M, heads=heads, packed=packed + 1) <= covering_bound(N, M, heads=heads, packed=packed)


def test_the_conditional_bound_compares_two_running_times():
    bound = conditional_bound(2**20, 2**10, d=20, q=0.25)
    assert bound.calls == pytest.approx((2**20) ** 1.75 / (2**20 * 20))
    assert (2.0**20) ** bound.exponent == pytest.approx(bound.calls)
    assert bound.assumption.startswith("SETH")
    scaled = conditional_bound(2**20, 2**10, d=20, q=0.25, seconds_per_step=4, attention_constant=2)
    assert scaled.calls == pytest.approx(bound.calls / 2)
    assert math.isnan(conditional_bound(8, 8, d=1, q=0.1).exponent)


def test_the_conditional_exponent_tends_to_1_at_a_root_and_not_at_a_logarithm():
    roots = [conditional_bound(2**k, 2 ** (k // 2), d=k, q=10 / k).exponent for k in (40, 100, 400, 1000)]
    assert roots == sorted(roots)
    assert roots[-1] > 0.97
    near = [conditional_bound(2**k, 2**k // k, d=k, q=0.1) for k in (100, 400, 1000)]
    assert all(bound.calls < 1 and bound.exponent < 0 for bound in near)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: allowed_pairs(0), "N >= 1"),
        (lambda: allowed_pairs(3, r=0), "r >= 1"),
        (lambda: allowed_pairs(3, r=1, s=-1), "s >= 0"),
        (lambda: allowed_pairs(3, s=2), "need a window"),
        (lambda: pairs_per_call(0, True), "M >= 1"),
        (lambda: pairs_per_call(3, True, 0), "at least one key"),
        (lambda: covering_bound(3, 0), "at least 1"),
        (lambda: covering_bound(3, 2, heads=0), "at least 1"),
        (lambda: gap(0, 1), "at least one call"),
        (lambda: conditional_bound(4, 5, 1, 0.1), "1 <= M <= N"),
        (lambda: conditional_bound(4, 2, 0, 0.1), "d >= 1"),
        (lambda: conditional_bound(4, 2, 1, 0), "0 < q < 2"),
        (lambda: conditional_bound(4, 2, 1, 0.1, seconds_per_step=0), "positive constants"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_closed_forms_stay_exact_for_huge_sizes():
    N = 10**30
    assert allowed_pairs(N, causal=True) == N * (N + 1) // 2
    assert covering_bound(N, 10**15) == N
    assert isinstance(allowed_pairs(int(np.int64(5))), int)
