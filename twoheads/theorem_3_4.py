"""Theorem 3.4 / B.4: a transformer of L layers and H heads by calls to one of L' layers and H' heads.

Layer by layer: the heads of a layer run side by side, each by the construction of its mask (Lemma 3.1, Theorem 3.5
or Theorem 5.1), so that all their calls make one round, and Lemma 3.3 packs that round. Corollary 3.2 is the case
L' = H' = 1. L, H, L', H' need not divide one another.

Rounds: L in all (section 1.1.f). Outside the oracle, per layer: padding and arranging tokens, the sums over blocks and
the division of N rows per head, and psi_l on N tokens. B.1.wlog has the oracle compute psi_l too, with O(N/M) calls
used as MLPs. Without a residual connection a layer's output averages its tokens with positive weights, so a call on M
tokens returns psi_l(x_i) only up to an error, by a passing head of Lemma 3.3; sequences of a single token are exact,
N calls and one more round per layer. Here psi_l is applied outside, where it may use the position in the large
sequence.

The bound O((N/M)^2 HL/(H'L')) needs H'L' <= H (N/M)^2: a layer takes a call, however large the oracle.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import count

import numpy as np

from twoheads import catalogue, packings
from twoheads.call_lengths import call_lengths
from twoheads.catalogue import DEFAULTS, Options
from twoheads.errors import InputError
from twoheads.lemma_3_3 import B_DEFAULT, PackedOracle
from twoheads.oracle import Oracle
from twoheads.plans import Asked, Plan, run
from twoheads.scalars import Array
from twoheads.schedules import ceil_div
from twoheads.transformer import Head, Transformer

__all__ = ["HeadPlan", "bound", "calls", "constant", "layer_by_layer", "simulate"]

HeadPlan = Callable[[Array, Head, Asked], Plan]
"""One head on tokens (N, d), as a plan."""


def simulate(
    X: Array,
    transformer: Transformer,
    oracle: Oracle,
    construction: str = "quadratic",
    variant: str = "stable",
    packing: str = "residual",
    options: Options = DEFAULTS,
    B: int = B_DEFAULT,
) -> Array:
    """T(X), its attention masked as the construction says, by calls to the oracle.

    Args:
        X: tokens (N, d).
        transformer: the large one, with input and layer MLPs, with or without residual layers.
        oracle: of any L', H', causal if the construction asks for it; any scalars.
        construction, variant: how a head is simulated, of `twoheads.catalogue.CONSTRUCTIONS`.
        packing: how calls are packed, of `twoheads.packings.PACKINGS`.
        options: r and s where the construction has a window; the seed where it samples, of which every head of every
            layer gets a seed of its own.
        B: factor of the position codes, for the passing packings.

    Returns:
        T(X), (N, d').

    Raises:
        InputError: shapes do not fit, or construction, variant, packing and oracle do not go together.
        MixedScalarsError: the arrays do not share one kind of scalar.
    """
    entry = catalogue.construction(construction)
    entry.checked(variant)
    number = count()
    return layer_by_layer(
        X,
        transformer,
        PackedOracle(oracle, packing, B),
        lambda own, head, asked: entry.plan(own, head, asked, variant, options.of_head(next(number))),
    )


def layer_by_layer(X: Array, transformer: Transformer, oracle: Asked, plan: HeadPlan) -> Array:
    """T(X) (N, d'), every head of a layer by its own plan, and the plans' rounds shared.

    Raises:
        InputError: X is not (N, d) with N >= 1, or a head does not fit what it reads, or there is no head.
    """
    if X.ndim != 2 or X.shape[0] < 1:
        raise InputError(f"X must be (N, d) with at least one token, not {tuple(X.shape)}.")
    if not transformer.layers or not all(layer.heads for layer in transformer.layers):
        raise InputError("the transformer has nothing to attend with: give it a layer, and every layer a head.")
    first = transformer.layers[0].heads[0]
    domain = oracle.domain_for(X, first.W_Q, first.W_K, first.W_V)
    if transformer.input_mlp is not None:
        X = transformer.input_mlp(X, np.arange(X.shape[0]))
    for layer in transformer.layers:
        X = domain.tokens(X)
        # without its columns the head reads all of what it is given
        plans = [plan(head.own(X), Head(head.W_Q, head.W_K, head.W_V), oracle) for head in layer.heads]
        X = layer.completed(run(plans, oracle), X, domain)
    return X


def calls(
    N: int,
    M: int,
    H: int,
    L: int,
    H_small: int,
    L_small: int,
    construction: str = "quadratic",
    variant: str = "stable",
    packing: str = "residual",
    options: Options = DEFAULTS,
) -> int:
    """The number of oracle calls: per layer, the calls of all H heads of each length over the packing's capacity.

    Raises:
        InputError: the construction, variant or packing does not take these parameters.
    """
    capacity = packings.packing(packing).capacity(H_small, L_small)
    return L * sum(ceil_div(H * C, capacity) for C in call_lengths(construction, variant, N, M, options).values())


def bound(
    N: int,
    M: int,
    H: int,
    L: int,
    H_small: int,
    L_small: int,
    construction: str = "quadratic",
    options: Options = DEFAULTS,
) -> Fraction:
    """What the paper bounds the calls by, up to a constant: one head's bound times HL/(H'L')."""
    return catalogue.construction(construction).bound(N, M, options) * Fraction(H * L, H_small * L_small)


def constant(
    H_small: int,
    L_small: int,
    construction: str = "quadratic",
    variant: str = "stable",
    packing: str = "residual",
    options: Options = DEFAULTS,
) -> Fraction:
    """c with calls <= c * bound wherever the bound allows one call per layer, bound >= L.

    Rounding up costs at most one call for each of at most four lengths; a packing that leaves room in a call costs the
    ratio of H'L' to its capacity.
    """
    room = Fraction(H_small * L_small, packings.packing(packing).capacity(H_small, L_small))
    return catalogue.construction(construction).constant(variant, options) * room + 4
