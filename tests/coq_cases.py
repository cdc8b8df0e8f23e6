"""Random small cases of whole transformers, packed calls and instances, for Coq and for Python.

The exponential of a rational is 2^s on whole scores s, on both sides. So queries and keys are whole numbers, which the
MLPs between layers see to; values are any rationals, and after the last layer all of their digits are compared.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tests.coq_model import in_coq, listed
from twoheads import packings, theorem_3_4, theorem_4_2
from twoheads.attention import causal_mask
from twoheads.catalogue import CONSTRUCTIONS
from twoheads.lemma_3_3 import PackedOracle
from twoheads.oracle import Batch, Oracle
from twoheads.scalars.rationals import DOMAIN
from twoheads.transformer import Head, Layer, Transformer, single_head


class Recording(Oracle):
    """An oracle that keeps what it was last asked, and what it answered."""

    def round(self, batches):
        self.asked = list(batches)
        self.answers = super().round(self.asked)
        return self.answers


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

    @property
    def layers_in_coq(self):
        def layer(one):
            mlp = "keeping" if one.mlp is keeping else "rounding"
            heads = listed(head_in_coq(head) for head in one.heads)
            return f"{{| heads := {heads}; mlp := {mlp} {str(one.residual).lower()} |}}"

        return listed(layer(one) for one in self.layers)

    def in_coq(self, name, variant, M, options):
        """The transformer by calls, a head by those of the construction."""
        function = {"quadratic": "quadratic", "causal": "causal"}.get(name) or (
            "suffix_prefix" if variant == "separate" else "difference"
        )
        length = "" if function == "suffix_prefix" else f" {M}%nat"
        window = f" {options.r}%nat {options.s if name == 'sink' else 0}%nat" if name in ("window", "sink") else ""
        one_call = "Merged" if variant == "merged" else "Stable"
        return f"{function}_transformer {one_call} {self.layers_in_coq} {in_coq(self.X)}{length}{window}"

    def in_python(self, name, variant, M, options, L_small=1, H_small=1):
        oracle = Oracle(M, L_small, H_small, causal=CONSTRUCTIONS[name].causal)
        large = Transformer(self.layers, position_mlp)
        return theorem_3_4.simulate(self.X, large, oracle, name, variant, options=options).tolist()

    def direct_in_coq(self, name, options):
        """The transformer itself, masked as the construction is."""
        mask = {"quadratic": "full", "causal": "causal", "window": f"(window_mask {options.r}%nat)"}
        sink = f"(sink_mask {options.r}%nat {options.s}%nat)"
        return f"direct_transformer {self.layers_in_coq} {in_coq(self.X)} {mask.get(name, sink)}"

    def direct_in_python(self, name, options):
        mask = CONSTRUCTIONS[name].mask(len(self.X), options)
        return Transformer(self.layers, position_mlp)(self.X, mask, DOMAIN).tolist()


# Lemma 3.3


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
