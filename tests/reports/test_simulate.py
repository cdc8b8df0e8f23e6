"""`twoheads simulate` on good input: what it computes, counts and writes."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

CONTRACT = {
    "N", "M", "heads", "construction", "variant", "calls", "rounds", "closed_form", "bound",
    "max_relative_error", "max_absolute_error", "seconds",
}  # fmt: skip


def plain_attention(Q, K, V):
    """Attention of one head by Python loops and math.exp: no code of the project."""
    rows = []
    for q in Q:
        weights = [math.exp(sum(a * b for a, b in zip(q, k, strict=True))) for k in K]
        rows.append([sum(w * v[c] for w, v in zip(weights, V, strict=True)) / sum(weights) for c in range(len(V[0]))])
    return np.array(rows)


def test_own_qkv(twoheads, saved, qkv, tmp_path):
    arrays = qkv(N=10)
    out = tmp_path / "out.npz"
    ran = twoheads("simulate", saved(**arrays), "--oracle-length", 4, "--out", out, "--json")
    assert ran.code == 0
    assert ran.json.keys() >= CONTRACT
    assert (ran.json["N"], ran.json["M"], ran.json["heads"]) == (10, 4, 1)
    assert ran.json["calls"] == ran.json["closed_form"] == math.ceil(10 / 3) ** 2
    assert ran.json["max_relative_error"] < 1e-13
    with np.load(out, allow_pickle=False) as written:
        assert written["output"] == pytest.approx(plain_attention(**arrays), rel=1e-12)


def test_several_heads(twoheads, saved, qkv, tmp_path):
    arrays, out = qkv(N=7, H=3), tmp_path / "out.npz"
    ran = twoheads("simulate", saved(**arrays), "--oracle-length", 3, "--out", out, "--json")
    assert ran.code == 0
    assert ran.json["heads"] == len(ran.json["per_head"]) == 3
    with np.load(out, allow_pickle=False) as written:
        expected = [plain_attention(*(arrays[name][h] for name in "QKV")) for h in range(3)]
        assert written["output"] == pytest.approx(np.array(expected), rel=1e-12)


def test_tokens_with_projections_biases_and_heads(twoheads, saved, tmp_path):
    random = np.random.default_rng(1)
    arrays = {name: random.normal(size=(4, 4)) for name in ("W_Q", "W_K", "W_V")}
    arrays |= {name: random.normal(size=4) for name in ("b_Q", "b_K", "b_V")}
    X, out = random.normal(size=(9, 4)), tmp_path / "out.npz"
    path = saved(X=X, heads=2, **arrays)
    ran = twoheads("simulate", path, "--oracle-length", 5, "--scale", 0.5, "--out", out, "--json")
    assert ran.code == 0
    Q, K, V = (X @ arrays[f"W_{n}"] + arrays[f"b_{n}"] for n in "QKV")
    with np.load(out, allow_pickle=False) as written:
        for h, columns in enumerate((slice(0, 2), slice(2, 4))):
            expected = plain_attention(0.5 * Q[:, columns], K[:, columns], V[:, columns])
            assert written["output"][h] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("N", "M"), [(10, 4), (10, 2), (3, 8), (1, 2), (12, 4)])
@pytest.mark.parametrize("variant", ["printed", "merged", "stable"])
def test_any_lengths(twoheads, saved, qkv, N, M, variant):
    ran = twoheads("simulate", saved(**qkv(N=N)), "--oracle-length", M, "--variant", variant, "--json")
    assert ran.code == 0
    blocks = math.ceil(N / min(M - 1, N))
    assert ran.json["calls"] == blocks**2 * (2 if variant == "printed" else 1)
    assert ran.json["rounds"] == 1
    assert ran.json["max_relative_error"] < 1e-11


@pytest.mark.parametrize(
    "choice",
    [
        ["causal"],
        ["causal", "--variant", "repaired"],
        ["window", "--window", "2"],
        ["sink", "--window", "2", "--sinks", "1"],
        ["sink", "--window", "20", "--sinks", "3", "--oracle-length", "24"],
    ],
)
def test_other_constructions(twoheads, saved, qkv, choice):
    ran = twoheads("simulate", saved(**qkv(N=11)), "--oracle-length", 6, "--json", "--construction", *choice)
    assert ran.code == 0
    assert ran.json["calls"] == ran.json["closed_form"]
    assert ran.json["max_relative_error"] < 1e-11


def test_integers_are_taken_and_the_text_names_the_construction(twoheads, saved):
    ints = {name: np.arange(6).reshape(3, 2) % 3 for name in "QKV"}
    ran = twoheads("simulate", saved(**ints), "--oracle-length", 2)
    assert ran.code == 0
    assert "Lemma 3.1" in ran.out
    assert "oracle calls" in ran.out


def test_scores_beyond_float64_end_in_exit_1_and_null(twoheads, saved, qkv):
    arrays = qkv(N=6)
    arrays["Q"] = arrays["Q"] * 100
    ran = twoheads("simulate", saved(**arrays), "--oracle-length", 4, "--variant", "printed", "--json")
    assert ran.code == 1
    assert ran.json["finite"] is False
    assert ran.json["max_relative_error"] is None


def test_the_packaged_input_loses_head_2_as_printed_and_keeps_it_in_stable(twoheads):
    stable = twoheads("simulate", "minilm", "--layer", "layer0", "--oracle-length", 257, "--json")
    assert stable.code == 0
    assert stable.json["max_relative_error"] < 1e-13
    printed = twoheads(
        "simulate", "minilm", "--layer", "layer0", "--oracle-length", 257, "--variant", "printed", "--json"
    )
    assert printed.code == 1
    assert [row["head"] for row in printed.json["per_head"] if not row["finite"]] == [2]


def test_an_existing_output_is_replaced_whole(twoheads, saved, qkv, tmp_path):
    out = tmp_path / "out.npz"
    out.write_bytes(b"something else")
    assert twoheads("simulate", saved(**qkv()), "--oracle-length", 4, "--out", out).code == 0
    assert np.load(out, allow_pickle=False)["output"].shape == (10, 2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["input.npz", "out.npz"]


def test_as_a_program(saved, qkv):
    """Through the interpreter, so that exit code and streams are the real ones."""
    script = "from reports.cli import main; main()"
    arguments = ["simulate", str(saved(**qkv())), "--oracle-length", "4", "--json"]
    run = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=False)
    assert run.returncode == 0
    assert run.stderr == ""
    assert run.stdout.startswith("{")


def test_scores_out_of_exps_range_are_pointed_out_and_a_synthetic_score_mends_them(twoheads, saved):
    Q, K = np.zeros((50, 2)), np.zeros((50, 2))
    Q[:, 0], K[:, 0] = 1, 740  # the synthetic token's share, exp(-740), has few digits left
    path = saved(Q=Q, K=K, V=np.random.default_rng(0).normal(size=(50, 2)))
    off = twoheads("simulate", path, "--oracle-length", 9, "--json")
    assert off.json["max_relative_error"] > 1e-6
    assert "try --synthetic-score" in off.err
    mended = twoheads("simulate", path, "--oracle-length", 9, "--synthetic-score", 740, "--json")
    assert mended.json["max_relative_error"] < 1e-13
    assert mended.err == ""


@pytest.mark.parametrize(("size", "value", "what"), [(1e200, 1.0, "scores"), (1.0, 1e308, "sums of values")])
def test_input_that_overflows_is_refused(twoheads, saved, size, value, what):
    path = saved(Q=np.full((5, 2), size), K=np.full((5, 2), size), V=np.full((5, 2), value))
    refused = twoheads("simulate", path, "--oracle-length", 9)
    assert refused.refusal == f"twoheads: the {what} of head 0 overflow float64: scale the input down."
