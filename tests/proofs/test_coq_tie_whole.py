"""The Coq model, computed on rationals, gives what Python gives: Lemma 3.3, Theorem 3.4 and Theorem 4.2.

Of these `proofs/coq` has definitions over any scalars, Transformer.v, Packing.v and Codes.v: its theorems are about
them over the reals, these tests compute them over the rationals. A change on either side is seen.
"""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from tests.coq_cases import Instances, Large, OneCall
from tests.coq_model import compiled, evaluated
from tests.false_variants import schedule_mutants
from twoheads import packings, theorem_3_5, theorem_4_2
from twoheads.attention import causal_mask
from twoheads.catalogue import CONSTRUCTIONS, Options
from twoheads.errors import UncoveredQueryError
from twoheads.scalars.rationals import DOMAIN
from twoheads.transformer import Head, Layer

pytestmark = pytest.mark.skipif(shutil.which("coqc") is None, reason="Coq is optional, and not installed here")

# Theorem 3.4

WHOLE = [
    (name, variant)
    for name, entry in CONSTRUCTIONS.items()
    for variant in entry.variants
    if variant in ("merged", "separate" if name in ("window", "sink") else "stable") and not entry.approximate
]


def whole_case(seed):
    """A random transformer, M, the window, L' and H'."""
    rng = np.random.default_rng(seed)
    widths = [(1, 2), (2,), (1, 1, 1), (2, 1)][seed % 4]
    options = Options(r=int(rng.integers(1, 3)), s=int(rng.integers(0, 2)))
    M = options.r + options.s + 2 + int(rng.integers(0, 3))
    L, L_small, H_small = (int(x) for x in rng.integers(1, 4, 3))
    return Large.random(int(rng.integers(1, 7)), widths, L, seed), M, options, L_small, H_small


CASES = [whole_case(seed) for seed in range(8)]


@pytest.mark.parametrize(("name", "variant"), WHOLE)
def test_whole_transformers(coq, name, variant):
    answers = evaluated(coq, [large.in_coq(name, variant, M, options) for large, M, options, *_ in CASES])
    for answer, (large, *how) in zip(answers, CASES, strict=True):
        assert answer == large.in_python(name, variant, *how)


@pytest.mark.parametrize("name", ["quadratic", "causal", "window", "sink"])
def test_the_large_transformers_themselves(coq, name):
    answers = evaluated(coq, [large.direct_in_coq(name, options) for large, _, options, *_ in CASES])
    for answer, (large, _, options, *_) in zip(answers, CASES, strict=True):
        assert answer == large.direct_in_python(name, options)


# Lemma 3.3

PACKED = [
    # n, w, m, H', L', causal
    (3, 2, 1, 2, 2, False),
    (3, 1, 2, 1, 3, True),
    (2, 2, 2, 3, 1, False),
    (4, 1, 1, 2, 3, True),
    (1, 2, 1, 1, 2, False),
    (3, 2, 1, 3, 2, True),
]


def test_packed_calls_layer_by_layer_and_their_instances(coq):
    asked, expected = [], []
    for seed, sizes in enumerate(PACKED):
        given = Instances.random(*sizes, seed=seed)
        asked += [f"{given.in_coq('packed_rows')} {k}%nat" for k in range(given.L_small + 1)]
        expected += given.in_python()
        mask = causal_mask(sizes[0]) if given.causal else None
        asked += [f"{given.in_coq('instance_rows')} {s}%nat" for s in range(len(given.heads))]
        expected += [given.heads[slot](given.tokens[slot], mask, DOMAIN).tolist() for slot in given.by_lane]
    for question, answer, right in zip(asked, evaluated(coq, asked), expected, strict=True):
        assert answer == right, question


# Theorem 4.2

ONE_CALL = [
    # instances, M, d, m, d_v, B
    (3, 2, 2, 2, 1, 1),
    (2, 3, 2, 1, 2, 2),
    (1, 3, 2, 2, 1, 1),
    (5, 1, 1, 1, 1, 1),
    (7, 2, 2, 1, 1, 3),
]


def test_one_call_for_many_instances(coq):
    given = [OneCall.random(*sizes, seed=seed) for seed, sizes in enumerate(ONE_CALL)]
    for answer, one in zip(evaluated(coq, [one.in_coq("one_call_outputs") for one in given]), given, strict=True):
        assert answer == one.in_python()
    for answer, one in zip(evaluated(coq, [one.in_coq("instances_alone") for one in given]), given, strict=True):
        alone = [head(X, None, DOMAIN) for X, head in zip(one.tokens, one.heads, strict=True)]
        assert answer == np.concatenate(alone).tolist()


def test_the_codes(coq):
    counts = [1, 2, 3, 6, 7, 20, 21]
    for T, table in zip(counts, evaluated(coq, [f"code_table {T}%nat 3" for T in counts]), strict=True):
        u, v = theorem_4_2.codes(T)
        # without a coordinate Coq's rows are empty, and are not printed
        assert table == (3 * np.concatenate([u, v], axis=1)).tolist() if u.size else table == []


# changes on either side


def seen_in_coq(folder, changed, unchanged, asked, expected):
    """Whether Coq, changed, computes something else."""
    return evaluated(compiled(folder, changed, unchanged), [asked]) != [expected]


LARGE = Large.random(6, (1, 2), 2, seed=5)
FEW = Instances.random(3, 2, 1, 2, 2, False, seed=6)
CALL = OneCall.random(3, 2, 2, 2, 1, 1, seed=7)
OPTIONS = Options(r=2, s=1)


@pytest.mark.parametrize(
    "changed",
    [
        ("Transformer", "entry (X p) (first h + x)", "entry (X p) x"),
        ("Transformer", "(first h + x)) (W x c)", "(first h + x)) (W c x)"),
        ("Transformer", "(heads layer)) p (X p).", "(heads layer)) (S p) (X p)."),
        ("Schedules", "flat_map (fun u => map (PAIRS N n u) (seq 0 u)) (seq 0 T) ++\n  flat_map", "flat_map"),
    ],
)
def test_a_false_transformer_in_coq_is_seen(coq, tmp_path, changed):
    asked = LARGE.in_coq("causal", "stable", 4, OPTIONS)
    assert seen_in_coq(tmp_path, changed, coq, asked, LARGE.in_python("causal", "stable", 4, OPTIONS))


@pytest.mark.parametrize(
    "changed",
    [
        ("Packing", "if y / w =? l then", "if y / w =? 0 then"),
        ("Packing", "(cut w (s / L_small) attended) p else cut w s input", "(cut w s attended) p else cut w s input"),
        ("Packing", "if s mod L_small =? l then psi", "if s mod L_small <=? l then psi"),
    ],
)
def test_a_false_packing_in_coq_is_seen(coq, tmp_path, changed):
    assert seen_in_coq(tmp_path, changed, coq, f"{FEW.in_coq('packed_rows')} 2%nat", FEW.in_python()[2])


@pytest.mark.parametrize(
    ("changed", "function"),
    [
        (("Codes", "add B (code B zero_at p)", "B"), "one_call_outputs"),
        (("Codes", "(partner B (zero_at (j / M)))", "(partner B (zero_at (i / M)))"), "one_call_outputs"),
        (("Codes", "(fun p => v (at_place p) x) (i mod M)", "(fun p => v p x) (i mod M)"), "instances_alone"),
        (("Codes", "negb (member p", "(member p"), "code_table"),
        (("Codes", "(subsets b (seq 0 (b * 2)))", "(subsets b (rev (seq 0 (b * 2))))"), "code_table"),
    ],
)
def test_a_false_call_for_many_instances_in_coq_is_seen(coq, tmp_path, changed, function):
    table = [[*map(int, row)] for row in np.concatenate(theorem_4_2.codes(3), axis=1)]
    alone = [head(X, None, DOMAIN) for X, head in zip(CALL.tokens, CALL.heads, strict=True)]
    asked, expected = {
        "one_call_outputs": (CALL.in_coq("one_call_outputs"), CALL.in_python()),
        "instances_alone": (CALL.in_coq("instances_alone"), np.concatenate(alone).tolist()),
        "code_table": ("code_table 3%nat 1", table),
    }[function]
    assert seen_in_coq(tmp_path, changed, coq, asked, expected)


def outputs_or_none(run):
    """None where a false variant divides by zero: no answer at all."""
    with np.errstate(all="ignore"):
        try:
            return run()
        except (ZeroDivisionError, UncoveredQueryError):
            return None


def test_a_false_transformer_in_python_is_seen(coq, monkeypatch):
    [right] = evaluated(coq, [LARGE.in_coq("causal", "stable", 4, OPTIONS)])

    def simulated():
        return outputs_or_none(lambda: LARGE.in_python("causal", "stable", 4, OPTIONS, 2, 2))

    assert simulated() == right
    original = Layer.completed
    assert any(layer.residual for layer in LARGE.layers)
    with monkeypatch.context() as patch:  # a residual layer's input forgotten, then the heads in another order
        patch.setattr(Layer, "completed", lambda self, outputs, X, domain: original(self, outputs, 0 * X, domain))
        assert simulated() != right
        patch.setattr(Layer, "completed", lambda self, outputs, X, domain: original(self, outputs[::-1], X, domain))
        assert simulated() != right
    schedule, seen = theorem_3_5.schedule(6, 4), 0
    for name, false in schedule_mutants(schedule):
        if name.startswith(("skip", "keys one", "last call twice")):
            with monkeypatch.context() as patch:
                patch.setattr(theorem_3_5, "schedule", lambda N, M, false=false: false)
                assert simulated() != right, name
            seen += 1
    assert seen >= 9


def test_a_false_packing_in_python_is_seen(coq, monkeypatch):
    right = evaluated(coq, [f"{FEW.in_coq('packed_rows')} {k}%nat" for k in range(3)])
    assert FEW.in_python() == right
    layer = packings._residual_layer
    with monkeypatch.context() as patch:  # what waits is lost

        def forgetful(call, level):
            right = layer(call, level)
            mlp = right.mlp or pytest.fail("a packed layer has an MLP")
            return Layer(right.heads, lambda joined, i, X: mlp(joined, i, 0 * X), residual=True)

        patch.setattr(packings, "_residual_layer", forgetful)
        assert FEW.in_python()[1] != right[1]
    with monkeypatch.context() as patch:
        patch.setattr(packings, "_by_lane", lambda call: sorted(call.instances, key=lambda one: (one.layer, one.lane)))
        assert FEW.in_python()[0] != right[0]
    keys_as_queries = lambda one, own: Head(one.head.W_K, one.head.W_K, one.head.W_V, columns=own)  # noqa: E731
    monkeypatch.setattr(packings, "_reading", keys_as_queries)
    assert FEW.in_python()[2] != right[2]


@pytest.mark.parametrize(
    "false",
    [
        lambda u, v: (u, 0 * v),
        lambda u, v: (u[[0, 0, 1]], v[[0, 0, 1]]),
        lambda u, v: (u, np.roll(v, 1, axis=0)),
    ],
)
def test_false_codes_in_python_are_seen(coq, monkeypatch, false):
    [right] = evaluated(coq, [CALL.in_coq("one_call_outputs")])
    assert CALL.in_python() == right
    codes = theorem_4_2.codes
    monkeypatch.setattr(theorem_4_2, "codes", lambda instances: false(*codes(instances)))
    assert CALL.in_python() != right
