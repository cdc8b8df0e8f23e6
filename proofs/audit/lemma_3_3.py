"""Corollary 3.2 / B.2 and Lemma 3.3 / B.3: many heads and layers, and independent instances in one call."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from proofs.audit.displays import PACKED_X
from proofs.audit.entry import Entry, bounded_check
from proofs.audit.lemma_3_1 import NO_TOKEN_WISE_CALL
from proofs.audit.literal import EXACT, Arithmetic
from proofs.audit.reading import Affects, Reading, Slip, grid
from proofs.evidence import ExactCases
from proofs.obligation import Check, Kind

__all__ = ["ENTRIES", "columns_of_heads"]

Columns = tuple[int, ...]


def _column(x: Arithmetic, X: Columns) -> Any:
    return x.array([[entry] for entry in X])


def _attention(x: Arithmetic, X: Columns, W: int) -> Any:
    """An instance of one column with W^Q = W, W^K = W^V = 1."""
    column = _column(x, X)
    return x.call(W * column, column, column)


def _heads_side_by_side(x: Arithmetic, X: tuple[Columns, ...]) -> list[Any]:
    """One call of one layer on all instances' columns; head h reads its own by selecting matrices."""
    tokens = np.concatenate([_column(x, one) for one in X], axis=1)
    select = [x.array([[int(row == h)] for row in range(len(X))]) for h in range(len(X))]
    return [x.call(tokens @ ((h + 1) * W), tokens @ W, tokens @ W) for h, W in enumerate(select)]


def _second_of_two(x: Arithmetic, first: Columns, second: Columns) -> Any:
    """Instance 2 of a call of two layers and one head, passed through layer 1 by identity value weights.

    Instance 1 has W^Q = 0, instance 2 W^Q = 1; the sketch's value weights leave the second column as it is.
    """
    both = np.concatenate([_column(x, first), _column(x, second)], axis=1)
    zeros = x.full(len(first), 1, 0)
    after = x.call(zeros, zeros, both @ x.eye(2))
    waiting = after[:, 1:]
    return x.call(waiting, waiting, waiting)


def _layer_1(x: Arithmetic, M: int, m: int, Ls: int, waiting: int) -> Any:
    """Layer 1 of B.3.construction, W^Q = W^K = W^V = I in the display; the waiting instances hold `waiting`."""
    W = PACKED_X.build(x, {"m": m, "Ls": Ls}, W=x.eye(m))
    first = x.array([[k + c for c in range(m)] for k in range(M)])
    X = np.concatenate([first, x.full(M, m * (Ls - 1), waiting)], axis=1)
    return x.call(X @ W, X @ W, X @ W)


def _residual_call(x: Arithmetic, instances: tuple[Columns, ...]) -> list[Any]:
    """A residual oracle with a column and an output slot for every instance; layer l computes instance l."""
    count = len(instances)
    state = np.concatenate([*(_column(x, X) for X in instances), x.full(len(instances[0]), count, 0)], axis=1)
    for layer in range(count):
        own = state[:, layer : layer + 1]
        slot = x.array([[int(c == count + layer) for c in range(2 * count)]])
        state = state + x.call((layer + 1) * own, own, own) @ slot
    return [state[:, count + k : count + k + 1] for k in range(count)]


def _residual_runs() -> ExactCases:
    cases = grid(instances=[((0, 1), (1, 2)), ((1, 1), (0, 2)), ((0, 1, 2), (2, 0, 1), (1, 1, 0))])
    failures = []
    for case in cases:
        found = _residual_call(EXACT, **case)
        due = [_attention(EXACT, X, k + 1) for k, X in enumerate(case["instances"])]
        failures += [str(case)] if any((a != b).any() for a, b in zip(found, due)) else []
    return ExactCases("two and three instances, M <= 3", "exact rationals", len(cases), tuple(failures))


RESIDUAL = Check(
    "B.3.construction",
    "residual-runs",
    Kind.BOUNDED,
    "two and three instances of one column, M <= 3",
    "with a residual connection and output slots every instance of a call is exact",
    _residual_runs,
)
"""Further evidence: `PACKED` shows it for all L'."""

PACKED = ("Lemma 3.3/slots", "Lemma 3.3/waiting-base", "Lemma 3.3/waiting-step")


def _reads_all(d: int) -> bool:
    """Whether max(0, x_1 + ... + x_d - d + 1) needs all its arguments: no fewer of them determine it."""
    ones = (1,) * d
    for seen in combinations(range(d), d - 1):
        other = tuple(int(k in seen) for k in range(d))
        if max(0, sum(ones) - d + 1) == max(0, sum(other) - d + 1):
            return False
    return True


def _and_reads_all() -> ExactCases:
    failures = tuple(f"d = {d}" for d in range(1, 13) if not _reads_all(d))
    return ExactCases("d <= 12", "two inputs that agree on d - 1 coordinates", 12, failures)


def columns_of_heads(d: int, H: int) -> list[int]:
    """The integers in D_1, ..., D_H of §2.1.layer, as printed."""
    ends = [(Fraction((h - 1) * d, H) + 1, Fraction(h * d, H)) for h in range(1, H + 1)]
    return sorted(j for low, high in ends for j in range(1, d + 1) if low <= j <= high)


ENTRIES = [
    Entry(
        id="Corollary 3.2 / B.2",
        restatement="With L' = H' = 1: O((N/M)^2 HL) calls and embedding dimension O(d/H), layer by layer, head by "
        "head.",
        readings=[
            Reading(
                "a token of embedding dimension c d/H holds the d numbers that a layer MLP may depend on (c <= 4)",
                grid(lambda c, d, H: d % H == 0, c=range(1, 5), d=range(1, 17), H=range(1, 17)),
                lambda x, c, d, H: c * d // H,
                lambda x, c, d, H: d,
                ">=",
                Slip(
                    "A call that is used as the layer MLP (B.1.wlog) has to read all d coordinates of a token, but "
                    "a token of the oracle holds O(d/H); for H growing that is too few.",
                    Affects.STATEMENT,
                    theorem="B_2_token_is_too_narrow",
                ),
            )
        ],
        remarks=[
            Reading(
                "the MLPs' calls do not change the count: L N/M <= (N/M)^2 HL",
                grid(lambda N, M, H, L: M <= N, N=[8, 64], M=[2, 8], H=[1, 4], L=[1, 3]),
                lambda x, N, M, H, L: L * N // M,
                lambda x, N, M, H, L: (N // M) ** 2 * H * L,
                "<=",
            ),
            Reading(
                "the columns D_h leave none out only if H divides d: for d = 3, H = 2 column 2 is in no head",
                grid(d=[3], H=[2]),
                lambda x, d, H: columns_of_heads(d, H),
                lambda x, d, H: [1, 3],
            ),
        ],
        note="§2.1.mlp may also be read as letting the oracle's input MLP take all of R^d, whatever the embedding "
        "dimension; the finding then falls away.",
        repair="Embedding dimension O(d) for the calls that compute MLPs, or MLPs outside the oracle, or H = O(1).",
        evidence=[
            bounded_check(
                "Corollary 3.2",
                "and-reads-all",
                "d <= 12",
                "max(0, x_1 + ... + x_d - d + 1), one ReLU, depends on all of its d arguments",
                _and_reads_all,
            ),
            "Theorem 3.4/layers-step",
            "Theorem 3.4/count-constant",
        ],
        survives="The call count does; the embedding dimension is O(d/H) for attention and O(d) for the MLPs.",
        depends=["B.1.wlog", "§2.1.mlp", "Lemma 3.1 / B.1"],
    ),
    Entry(
        id="Lemma 3.3 / B.3",
        restatement="One transformer of L' layers and H' heads on M tokens, of embedding dimension O(dH'L'/H), "
        "simulates H'L' independent instances of one layer and one head.",
        readings=[
            Reading(
                "for L' = 1 every head computes its own instance",
                grid(X=[((0, 1), (1, 2)), ((1, 0, 1), (2, 1, 0), (0, 0, 1))]),
                _heads_side_by_side,
                lambda x, X: [_attention(x, one, k + 1) for k, one in enumerate(X)],
            ),
            Reading(
                "for L' = 2, H' = 1 the second instance is computed by layer 2 (W^Q = 0 in the first one)",
                grid(first=[(0, 0)], second=[(0, 0), (0, 1), (1, 0)]),
                _second_of_two,
                lambda x, first, second: _attention(x, second, 1),
                slip=Slip(
                    "Definition 2.2 has no residual connection, and a head mixes all its value columns with one "
                    "attention matrix: what waits for layer 2 leaves layer 1 averaged over the tokens.",
                    Affects.PROOF,
                    theorem="printed_packing_fails",
                ),
            ),
        ],
        repair="An oracle with residual connections: exact, H'L' instances per call, embedding dimension O(dH'L'/H). "
        "Without them, heads that pass waiting instances on by position codes have an error of O(n e^(-2B)), not 0.",
        note="The bound of that error is the obligation Lemma 3.3/error-without-residual, which `twoheads verify` "
        "checks and this audit does not. Only instances with equally many tokens can share a call, so that calls on "
        "a last, shorter block are packed apart.",
        evidence=[*PACKED, RESIDUAL],
        survives="For L' = 1, and for all L' with residual connections. Without them, for L' >= 2, exact simulation is "
        "neither proved nor refuted here; an approximation is in the note.",
        parts=["3.3.sketch", "B.3.construction"],
        depends=["Definition 2.2"],
    ),
    Entry(
        id="3.3.sketch",
        restatement="Layer l works on its own coordinates; the value weights let the other parts pass through "
        "unchanged.",
        readings=[
            Reading(
                "identity value weights leave a waiting column unchanged (the layer's own scores are 0)",
                grid(X=[(0, 0), (0, 1), (1, 0)]),
                lambda x, X: x.call(x.full(len(X), 1, 0), x.full(len(X), 1, 0), _column(x, X)),
                _column,
                slip=Slip(
                    "All value columns of a head are mixed by the same positive attention matrix; no value weights and "
                    "affine MLP undo that (B.1.wlog/no-token-wise-call).",
                    Affects.PROOF,
                    theorem="B_3_waiting_coordinates_are_lost",
                ),
            )
        ],
        repair="Residual connections, or heads that pass waiting instances on by position codes, as for Lemma 3.3.",
        evidence=[NO_TOKEN_WISE_CALL, *PACKED],
        survives="See Lemma 3.3.",
        depends=["Definition 2.2"],
    ),
    Entry(
        id="B.3.construction",
        restatement="The instances' columns in order of heads, then layers; the matrices of head h in layer 1 are W "
        "above zeros; the outputs are stored at predefined places; repeat.",
        readings=[
            Reading(
                "the stacked matrices are (dL'/H) x (d/H)",
                grid(m=[1, 2, 3], Ls=[1, 2, 3]),
                lambda x, m, Ls: PACKED_X.shape({"m": m, "Ls": Ls}),
                lambda x, m, Ls: (m * Ls, m),
            ),
            Reading(
                "layer 1 returns what layer 2 reads: d L'/H columns for each head",
                grid(M=[2], m=[1, 2], Ls=[1, 2, 3]),
                lambda x, M, m, Ls: _layer_1(x, M, m, Ls, 1).shape,
                lambda x, M, m, Ls: (M, m * Ls),
                slip=Slip(
                    "W^{V'} = [W^V; 0; ...; 0] has d/H columns: layer 1 returns the first instance only, and there "
                    "is no place in the call where the others are stored.",
                    Affects.PROOF,
                    theorem="B_3_one_layer_returns_one_instance",
                ),
            ),
            Reading(
                "the output of layer 1 still depends on the waiting instances",
                grid(M=[2], m=[1], Ls=[2, 3]),
                lambda x, M, m, Ls: _layer_1(x, M, m, Ls, 5),
                lambda x, M, m, Ls: _layer_1(x, M, m, Ls, -3),
                "!=",
                Slip(
                    "The zeros of W^{V'} multiply every waiting instance by 0.",
                    Affects.PROOF,
                    theorem="B_3_layer_1_ignores_what_waits",
                ),
            ),
        ],
        note="Layer l's MLP acts on all H' heads' columns: it is that of the instances (h, l), h = 1, ..., H', side "
        "by side, not (h, 1)'s alone.",
        repair="Value weights that write into the instance's own output columns, and a residual connection for the "
        "rest.",
        evidence=[RESIDUAL, *PACKED],
        survives="See Lemma 3.3.",
        depends=["3.3.sketch", "§2.1.layer"],
    ),
]
