"""`twoheads count` and `twoheads bench`."""

from __future__ import annotations

import numpy as np
import pytest

from numeric.reference import direct_attention
from reports.benchmark import banded_attention
from twoheads.attention import sink_mask
from twoheads.catalogue import CONSTRUCTIONS


def test_count_lists_every_construction_and_variant(twoheads):
    rows = twoheads("count", "--tokens", 512, "--oracle-length", 65, "--json").json
    listed = [(row["construction"], row["variant"]) for row in rows]
    assert listed == [(c.name, variant) for c in CONSTRUCTIONS.values() for variant in c.variants]


def test_count_of_the_quadratic_construction_by_hand(twoheads):
    rows = twoheads(
        "count",
        "--tokens",
        100,
        "--oracle-length",
        11,
        "--layers",
        3,
        "--heads",
        2,
        "--construction",
        "quadratic",
        "--json",
    ).json
    # ten blocks of ten positions: 100 pairs of blocks, 6 heads in all; (N/M)^2 = (100/11)^2
    assert {row["variant"]: row["calls"] for row in rows} == {"printed": 1200, "merged": 600, "stable": 600}
    for row in rows:
        assert row["bound"] == pytest.approx(6 * (100 / 11) ** 2)
        assert row["rounds"] == 3
        assert row["calls"] <= row["constant"] * row["bound"]


def test_count_of_packed_calls_by_hand(twoheads):
    sizes = ["--tokens", 100, "--oracle-length", 11, "--heads", 3, "--layers", 2, "--construction", "quadratic"]
    rows = twoheads("count", *sizes, "--oracle-layers", 2, "--oracle-heads", 2, "--json").json
    # per layer 3 heads of 100 calls, packed four to a call; 2 layers
    assert {row["variant"]: row["calls"] for row in rows if row["variant"] != "printed"} == {
        "merged": 150,
        "stable": 150,
    }
    for row in rows:
        assert row["bound"] == pytest.approx(6 / 4 * (100 / 11) ** 2)
        # 6 heads of 100 * 100 pairs; a call has 4 times 11 * 11
        assert row["lower_bound"] == -(-6 * 100 * 100 // (4 * 11 * 11))
        assert row["lower_bound"] <= row["calls"] <= row["constant"] * row["bound"]


def test_a_small_oracle_layer_packs_no_more_than_its_heads(twoheads):
    sizes = ["--tokens", 100, "--oracle-length", 11, "--heads", 2, "--oracle-layers", 3, "--oracle-heads", 2]
    rows = twoheads("count", *sizes, "--packing", "one_layer", "--construction", "quadratic", "--json").json
    assert {row["variant"]: row["calls"] for row in rows}["stable"] == 100
    assert "choose one of" in twoheads("count", *sizes, "--packing", "tight").refusal


def test_count_says_why_a_construction_does_not_take_the_sizes(twoheads):
    ran = twoheads("count", "--tokens", 50, "--oracle-length", 8, "--window", 7, "--json")
    rows = {(row["construction"], row["variant"]): row for row in ran.json}
    assert ran.code == 0
    assert rows["window", "stable"]["calls"] is not None
    assert rows["window", "printed"]["calls"] is None
    assert "does not fit" in rows["window", "printed"]["refused"]
    text = twoheads("count", "--tokens", 50, "--oracle-length", 8, "--window", 7).out
    assert "window printed: not counted" in text


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--tokens", 5],
        ["--tokens", 0, "--oracle-length", 4],
        ["--tokens", 5, "--oracle-length", 1],
        ["--tokens", 5, "--oracle-length", 4, "--heads", 0],
        ["--tokens", 5, "--oracle-length", 4, "--oracle-heads", 0],
        ["--tokens", 5, "--oracle-length", 4, "--oracle-layers", 2, "--packing", "pass_through"],
        ["--tokens", 5, "--oracle-length", 4, "--construction", "cubic"],
        ["--tokens", "many", "--oracle-length", 4],
    ],
)
def test_count_refuses_bad_sizes(twoheads, options):
    assert twoheads("count", *options).refusal


def test_bench_reports_ratios_and_growth(twoheads):
    ran = twoheads("bench", "--tokens", 40, "--oracle-length", 24, "--repeats", 1, "--json")
    assert ran.code == 0
    document = ran.json
    assert {row["construction"] for row in document["timings"]} >= {"quadratic", "causal", "window", "sink"}
    for row in document["timings"]:
        assert row["ratio"] == pytest.approx(row["seconds"] / row["baseline_seconds"])
    assert all(row["calls"] == row["closed_form"] for row in document["growth"])
    assert "NumPy" in document["baseline"]
    assert document["environment"]["libraries"]["numpy"] == np.__version__


def test_bench_prints_tables(twoheads):
    ran = twoheads("bench", "--tokens", 30, "--oracle-length", 24, "--repeats", 1)
    assert ran.code == 0
    assert "ratio" in ran.out
    assert "calls/bound" in ran.out


def test_bench_refuses_sizes_that_a_construction_does_not_take(twoheads):
    assert "does not fit" in twoheads("bench", "--tokens", 30, "--oracle-length", 8, "--repeats", 1).refusal


@pytest.mark.parametrize(("N", "r", "s"), [(12, 3, 2), (5, 9, 0), (9, 1, 4), (6, 2, 6), (1, 1, 0), (7, 3, 1)])
def test_the_banded_baseline_is_attention(N, r, s):
    random = np.random.default_rng(2)
    Q, K, V = (random.normal(size=(N, 3)) for _ in range(3))
    scores = np.where(sink_mask(N, r, s), Q @ K.T, -np.inf)
    weights = np.exp(scores)
    expected = (weights @ V) / weights.sum(axis=1, keepdims=True)
    assert banded_attention(Q, K, V, r, s) == pytest.approx(expected)
    assert direct_attention(Q, K, V, r=r, s=s) == pytest.approx(expected)
