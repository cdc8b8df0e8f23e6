"""§2: attention, MLPs, layers, transformers and masks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from proofs.audit.entry import Entry, bounded_check
from proofs.audit.lemma_3_3 import columns_of_heads
from proofs.audit.literal import EXACT, Arithmetic, integer_columns
from proofs.audit.reading import Affects, Reading, Slip, grid
from proofs.evidence import ExactCases
from twoheads.schedules import ceil_div

__all__ = ["ENTRIES"]

Columns = tuple[int, ...]


def _by_softmax(x: Arithmetic, X: Columns, k: int) -> Any:
    """softmax(QK^T)V with W^Q = 1, W^K = k, W^V = 2 and d = 1: the softmax matrix times V."""
    c = x.array([[entry] for entry in X])
    return (x.softmax(c @ (k * c).T) @ (2 * c))[:, 0]


def _by_sums(x: Arithmetic, X: Columns, k: int) -> Any:
    """sum_j a_{i,j} v_j / sum_j a_{i,j}, term by term."""
    return [
        sum(x.weight(k * p * q) * (2 * q) for q in X) / sum((x.weight(k * p * q) for q in X), x.number(0)) for p in X
    ]


def _head(x: Arithmetic, X: Columns, key: int) -> Any:
    """One head with W^Q = W^V = 1; the scores use `key` times X."""
    c = x.array([[entry] for entry in X])
    return x.call(c, key * c, c)[:, 0]


def _kept(N: int, i: int, hidden: Callable[[int], bool]) -> set[int]:
    return {j for j in range(1, N + 1) if not hidden(j)}


def _padded_columns() -> ExactCases:
    cases, failures = grid(d=range(1, 7), H=range(1, 7)), []
    for case in cases:
        d, padded = case["d"], case["H"] * ceil_div(case["d"], case["H"])
        Q = EXACT.array([[i * c % 3 for c in range(d)] for i in range(3)])
        wide = np.concatenate([Q, EXACT.full(3, padded - d, 0)], axis=1)
        whole = columns_of_heads(padded, case["H"]) == list(range(1, padded + 1))
        failures += [] if whole and (wide @ wide.T == Q @ Q.T).all() else [str(case)]
    return ExactCases("d, H <= 6", "exact rationals", len(cases), tuple(failures))


_MASKS = grid(lambda N, i, r, s: i <= N, N=range(1, 7), i=range(1, 7), r=range(1, 8), s=range(1, 8))

ENTRIES = [
    Entry(
        id="Definition 2.1",
        restatement="Attn(X) = softmax(QK^T)V; row i is sum_j a_{i,j} v_j / sum_j a_{i,j}. There is no 1/sqrt(d).",
        readings=[
            Reading(
                "row i of softmax(QK^T)V is that quotient (d = 1, W^Q = 1, W^K = k, W^V = 2)",
                grid(X=[X for N in (1, 2, 3) for X in integer_columns(N)], k=[-1, 0, 1]),
                _by_softmax,
                _by_sums,
            )
        ],
        note="1/sqrt(d) folds into W^Q over the reals; for d = 2 it is irrational, not a number of O(log N) bits.",
    ),
    Entry(
        id="§2.1.mlp",
        restatement="MLPs are token-wise functions R^d -> R^O(d), at least as strong as the large model's, with "
        "arithmetic and padding.",
        not_checkable="a definition",
        note="R^d -> R^O(d) for the MLP of every layer would allow widths of c^L d; R^d -> R^d is meant for ψ_l. A "
        "φ that does not see the position cannot give equal tokens different flags, as Lemma A.1 needs: Definition "
        "2.2's φ(x_i), which may depend on i, is needed. A token-wise φ adds no token (B.1.diag, B.6).",
        depends=["Definition 2.2", "Lemma A.1"],
    ),
    Entry(
        id="§2.1.layer",
        restatement="A layer of H heads: head h reads the columns D_h and has square matrices; the outputs are "
        "concatenated and fed to the layer MLP.",
        readings=[
            Reading(
                "the printed head (with W^V in the score) is the attention of Definition 2.1 (W^Q = W^V = 1, W^K = 0)",
                grid(X=[X for N in (1, 2) for X in integer_columns(N)]),
                lambda x, X: _head(x, X, 1),
                lambda x, X: _head(x, X, 0),
                slip=Slip(
                    "The score has W^V where Definition 2.1 has W^K.",
                    Affects.NOTHING,
                    extraction=True,
                    theorem="layer_scores_with_W_V_are_wrong",
                ),
            ),
            Reading(
                "D_1, ..., D_H contain every column",
                grid(lambda d, H: d >= H, d=range(1, 7), H=range(1, 7)),
                lambda x, d, H: columns_of_heads(d, H),
                lambda x, d, H: list(range(1, d + 1)),
                slip=Slip(
                    "The columns D_h cover all d only if H divides d, which is not said.",
                    Affects.NOTHING,
                    theorem="layer_columns_leave_one_out",
                ),
            ),
        ],
        note="W_h is square here, while B.1.off, B.1.step2, B.3 and B.5 use rectangular matrices; columns of zeros "
        "make those square and change no score. f(X) contains ψ already, see Definition 2.2.",
        repair="W_h^K in the score; H | d, or the columns padded to H ceil(d/H).",
        evidence=[
            bounded_check(
                "§2.1.layer",
                "padded-columns",
                "d, H <= 6",
                "with d padded to H ceil(d/H) the columns D_h are a partition, and columns of 0 change no score",
                _padded_columns,
            )
        ],
        survives="Yes.",
        depends=["Definition 2.1"],
    ),
    Entry(
        id="Definition 2.2",
        restatement="T = ψ_L f_L ... ψ_1 f_1 φ, without residual connections; φ may depend on the position.",
        not_checkable="a definition",
        remarks=[
            Reading(
                "with §2.1.layer's f, which ends in ψ, two MLPs act in a layer: ψ(y) = 2y makes 4 of X = 1",
                grid(X=[1]),
                lambda x, X: 2 * (2 * x.call(x.full(1, 1, 0), x.full(1, 1, 0), x.full(1, 1, X))[0, 0]),
                lambda x, X: x.number(4),
            ),
            Reading(
                "without a residual connection W^V = 0 leaves nothing of X",
                grid(X=[(3, 5)]),
                lambda x, X: x.call(c := x.array([[e] for e in X]), c, 0 * c)[:, 0],
                lambda x, X: [x.number(0)] * len(X),
            ),
        ],
        note="Harmless, since ψ_l after ψ is one token-wise function; the same letter is used for both.",
        depends=["§2.1.layer"],
    ),
    Entry(
        id="Definition 2.3",
        restatement="Causal: scores above the diagonal are -infinity.",
        readings=[
            Reading(
                "every row keeps the keys up to its own, at least one",
                grid(lambda N, i: i <= N, N=range(1, 9), i=range(1, 9)),
                lambda x, N, i: _kept(N, i, lambda j: j > i),
                lambda x, N, i: set(range(1, i + 1)),
            )
        ],
    ),
    Entry(
        id="Definition 2.4",
        restatement="Sliding window of size r >= 1: scores with j > i or j <= i - r are -infinity.",
        readings=[
            Reading(
                "every row keeps its last min(i, r) keys, at least one",
                _MASKS,
                lambda x, N, i, r, s: _kept(N, i, lambda j: j > i or j <= i - r),
                lambda x, N, i, r, s: set(range(max(1, i - r + 1), i + 1)),
            )
        ],
        note="r = 0 would leave rows empty; r >= 1 is stated.",
    ),
    Entry(
        id="Definition 2.5",
        restatement="Attention sinks of size s >= 1: scores with j > i or s < j <= i - r are -infinity.",
        readings=[
            Reading(
                "every row keeps its window and the first min(s, i) keys, each once",
                _MASKS,
                lambda x, N, i, r, s: _kept(N, i, lambda j: j > i or s < j <= i - r),
                lambda x, N, i, r, s: set(range(max(1, i - r + 1), i + 1)) | set(range(1, min(s, i) + 1)),
            )
        ],
    ),
]
