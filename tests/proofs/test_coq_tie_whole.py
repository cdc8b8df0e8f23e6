"""The Coq model, computed on rationals, gives what Python gives: Lemma 3.3, Theorem 3.4 and Theorem 4.2.

The exponential of a rational is 2^s on whole scores s, on both sides. So queries and keys are whole numbers, which the
MLPs between layers see to; values are any rationals, and after the last layer all of their digits are compared.
"""

from __future__ import annotations

import math
import shutil
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from tests.coq_model import compiled, evaluated, in_coq, listed
from tests.false_variants import schedule_mutants
from twoheads import lemma_3_1, packings, theorem_3_4, theorem_3_5, theorem_4_2
from twoheads.attention import attention, causal_mask
from twoheads.catalogue import CONSTRUCTIONS, Options
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
            heads = [Head(whole(rng, w, m), whole(rng, w, m), rational(rng, w, w), columns=c)
                     for w, c in zip(widths, columns, strict=True)]
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
