"""The Coq model, computed on rationals, gives what Python gives: Lemma 3.3, Theorem 3.4 and Theorem 4.2.

The exponential of a rational is 2^s on whole scores s, on both sides. So queries and keys are whole numbers, which the
MLPs between layers see to; values are any rationals, and after the last layer all of their digits are compared.
"""

from __future__ import annotations

import math
import shutil
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from tests.coq_model import compiled, evaluated, in_coq, listed
from tests.false_variants import schedule_mutants
from twoheads import packings, theorem_3_4, theorem_3_5, theorem_4_2
from twoheads.attention import causal_mask
from twoheads.catalogue import CONSTRUCTIONS, Options
from twoheads.errors import UncoveredQueryError
from twoheads.lemma_3_3 import PackedOracle
from twoheads.oracle import Batch, Oracle
from twoheads.scalars.rationals import DOMAIN
from twoheads.transformer import Head, Layer, Transformer, single_head

pytestmark = pytest.mark.skipif(shutil.which("coqc") is None, reason="Coq is optional, and not installed here")


def whole(rng, *shape):
    """Whole numbers -1, 0, 1 as Python's own."""
    return rng.integers(-1, 2, shape).astype(object)


def rational(rng, *shape):
    """Fractions, few of them whole."""
    return np.vectorize(Fraction, otypes=[object])(rng.integers(-9, 10, shape), rng.integers(1, 7, shape))


def head_in_coq(head):
    first = head.columns.start if head.columns else 0
    matrices = " ".join(in_coq(W) for W in (head.W_Q, head.W_K, head.W_V))
    return f"(columns {first}%nat {head.W_Q.shape[1]}%nat {matrices})"


# Theorem 3.4


def position_mlp(X, positions):
    return X + (positions % 3).astype(object)[:, None]


def with_input(attended, positions, X):
    return attended + positions.astype(object)[:, None] + (0 if X is None else X)


def keeping(attended, positions, X=None):
    return with_input(attended, positions, X)


@np.vectorize
def _rounded(y):
    return math.floor(8 * y) % 5 - 2


def rounding(attended, positions, X=None):
    return _rounded(with_input(attended, positions, X)).astype(object)


@dataclass(frozen=True)
class Large:
    """A random large transformer and its tokens: heads of different widths, layers with residual connection or not."""

    X: np.ndarray
    layers: tuple[Layer, ...]

    @classmethod
    def random(cls, N, widths, L, seed):
        rng = np.random.default_rng(seed)
        columns = packings.slices(widths)
        layers = []
        for level in range(L):
            m = int(rng.integers(1, 3))
            heads = [
                Head(whole(rng, w, m), whole(rng, w, m), rational(rng, w, w), columns=c)
                for w, c in zip(widths, columns, strict=True)
            ]
            layers.append(Layer(heads, keeping if level == L - 1 else rounding, residual=bool(rng.integers(2))))
        return cls(whole(rng, N, sum(widths)), tuple(layers))

    def in_coq(self, name, variant, M, options):
        def layer(one):
            mlp = "keeping" if one.mlp is keeping else "rounding"
            heads = listed(head_in_coq(head) for head in one.heads)
            return f"{{| heads := {heads}; mlp := {mlp} {str(one.residual).lower()} |}}"

        function = {"quadratic": "quadratic", "causal": "causal"}.get(name) or (
            "suffix_prefix" if variant == "separate" else "difference"
        )
        length = "" if function == "suffix_prefix" else f" {M}%nat"
        window = f" {options.r}%nat {options.s if name == 'sink' else 0}%nat" if name in ("window", "sink") else ""
        one_call = "Merged" if variant == "merged" else "Stable"
        layers = listed(layer(one) for one in self.layers)
        return f"{function}_transformer {one_call} {layers} {in_coq(self.X)}{length}{window}"

    def in_python(self, name, variant, M, options, L_small=1, H_small=1):
        oracle = Oracle(M, L_small, H_small, causal=CONSTRUCTIONS[name].causal)
        large = Transformer(self.layers, position_mlp)
        return theorem_3_4.simulate(self.X, large, oracle, name, variant, options=options).tolist()


WHOLE = [
    (name, variant)
    for name, entry in CONSTRUCTIONS.items()
    for variant in entry.variants
    if variant in ("merged", "separate" if name in ("window", "sink") else "stable") and not entry.approximate
]


@pytest.mark.parametrize(("name", "variant"), WHOLE)
def test_whole_transformers(coq, name, variant):
    cases = [
        # N, widths of the heads, L, M, options, L', H'
        (5, (1, 2), 2, 6, Options(r=2, s=1), 2, 2),
        (6, (2,), 2, 5, Options(r=2, s=1), 3, 1),
        (4, (1, 1, 1), 3, 4, Options(r=1, s=1), 1, 2),
        (1, (2, 1), 1, 4, Options(r=1, s=1), 1, 1),
    ]
    larges = [Large.random(N, widths, L, seed) for seed, (N, widths, L, *_) in enumerate(cases)]
    asked = [large.in_coq(name, variant, M, o) for large, (*_, M, o, _, _) in zip(larges, cases, strict=True)]
    for answer, large, (*_, M, o, L_small, H_small) in zip(evaluated(coq, asked), larges, cases, strict=True):
        assert answer == large.in_python(name, variant, M, o, L_small, H_small)


# Lemma 3.3


class Recording(Oracle):
    """An oracle that keeps what it was last asked."""

    def round(self, batches):
        self.asked = list(batches)
        return super().round(self.asked)


@dataclass(frozen=True)
class Instances:
    """Random instances for one full call: tokens (n, w) and matrices by Python's slots, layer by layer."""

    H_small: int
    L_small: int
    causal: bool
    tokens: tuple[np.ndarray, ...]
    heads: tuple[Head, ...]

    @classmethod
    def random(cls, n, w, m, H_small, L_small, causal, seed):
        rng = np.random.default_rng(seed)
        count = H_small * L_small
        heads = tuple(Head(whole(rng, w, m), whole(rng, w, m), rational(rng, w, w)) for _ in range(count))
        return cls(H_small, L_small, causal, tuple(whole(rng, n, w) for _ in range(count)), heads)

    @property
    def by_lane(self):
        """Python's slot for each of Coq's, which go lane by lane as B.3.construction does."""
        return [layer * self.H_small + lane for lane in range(self.H_small) for layer in range(self.L_small)]

    def in_coq(self, function):
        """The question `function`, and the number of layers or of the instance after it."""
        order = self.by_lane
        tables = [listed(in_coq(getattr(self.heads[k], W)) for k in order) for W in ("W_Q", "W_K", "W_V")]
        tokens = listed(in_coq(self.tokens[k]) for k in order)
        w, m = self.heads[0].W_Q.shape
        sizes = f"{w}%nat {m}%nat " + (f"{self.H_small}%nat {self.L_small}%nat " if function == "packed_rows" else "")
        return f"{function} {sizes}{'causal' if self.causal else 'full'} {' '.join(tables)} {tokens}"

    def in_python(self):
        """What the one packed call holds before every layer and after the last, in Coq's order."""
        n = len(self.tokens[0])
        oracle = Recording(max(n, 2), self.L_small, self.H_small, self.causal)
        batches = [
            Batch(X[None], single_head(head.W_Q, head.W_K, head.W_V), DOMAIN)
            for X, head in zip(self.tokens, self.heads, strict=True)
        ]
        answers = PackedOracle(oracle).round(batches)
        [call] = oracle.asked
        mask = causal_mask(n) if self.causal else None
        held = [
            Transformer(call.parameters.layers[:k])(call.tokens[0], mask, DOMAIN) if k else call.tokens[0]
            for k in range(self.L_small)
        ]
        held.append(np.concatenate([answers[k][0] for k in self.by_lane], axis=1))
        return [rows.tolist() for rows in held]


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


@dataclass(frozen=True)
class OneCall:
    """Random instances of Theorem 4.2 and the size B of their codes."""

    B: int
    tokens: tuple[np.ndarray, ...]
    heads: tuple[Head, ...]

    @classmethod
    def random(cls, T, M, d, m, d_v, B, seed):
        rng = np.random.default_rng(seed)
        heads = tuple(Head(whole(rng, d, m), whole(rng, d, m), rational(rng, d, d_v)) for _ in range(T))
        return cls(B, tuple(whole(rng, M, d) for _ in range(T)), heads)

    def in_coq(self, function):
        M, (m, d_v) = len(self.tokens[0]), (self.heads[0].W_Q.shape[1], self.heads[0].W_V.shape[1])
        sizes = f"{M}%nat {m}%nat {d_v}%nat" + (f" {self.B}" if function == "one_call_outputs" else "")
        heads = listed(head_in_coq(head) for head in self.heads)
        return f"{function} {sizes} {heads} {in_coq(np.concatenate(self.tokens))}"

    def in_python(self):
        N = sum(map(len, self.tokens))
        found = theorem_4_2.simulate(self.tokens, self.heads, Oracle(max(N, 2)), self.B)
        return np.concatenate(list(found.outputs)).tolist()


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
