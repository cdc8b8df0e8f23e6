"""Appendix A: constant blocks, sums of rows, retrieval."""

from __future__ import annotations

from typing import Any

import z3

from proofs.audit.displays import A1_U
from proofs.audit.entry import Entry
from proofs.audit.literal import Arithmetic, integer_columns, solvable
from proofs.audit.reading import Affects, Reading, Slip, grid
from proofs.audit.shapes import BlockMatrix
from proofs.mutation import replay_of
from proofs.obligation import Hypothesis, Kind, Mutant, Obligation

__all__ = ["ENTRIES"]

_U_REPAIRED = BlockMatrix("U repaired", "0[d,b] 0[d,d-b]; 1[1,b] 0[1,d-b]")


def _product(x: Arithmetic, N: int, d: int, a: int, b: int) -> Any:
    """φ(X)U with the printed φ and the repaired U."""
    phi = x.array([[*(7 * i + c for c in range(d)), int(i < a)] for i in range(N)])
    return phi @ _U_REPAIRED.build(x, {"d": d, "b": b})


def _block_of_ones(x: Arithmetic, N: int, d: int, a: int, b: int) -> Any:
    return x.array([[int(i < a and c < b) for c in range(d)] for i in range(N)])


def _averages(x: Arithmetic, X: tuple[int, ...], causal: bool) -> Any:
    """W^Q = W^K = 0 and v_i = N x_i."""
    zeros = x.full(len(X), 1, 0)
    return x.call(zeros, zeros, x.array([[len(X) * entry] for entry in X]), causal=causal).ravel()


def _swap() -> Obligation:
    w, scale, shift = z3.Reals("w scale shift")
    return Obligation(
        item="Lemma A.3",
        name="no-exact-swap",
        kind=Kind.ANALYSIS,
        scope="N = 2, d = 1, τ the swap, ρ the identity, weights that do not depend on the rows, affine MLPs",
        hypotheses=[Hypothesis("softmax", z3.And(w > 0, w < 1), "w, the weight of row 1 in output 1")],
        goal=z3.Not(z3.And(shift == 0, scale * w + shift == 0, scale * (1 - w) + shift == 1)),
        proves="softmax weights do not swap two rows exactly: (0, 0), (1, 0), (0, 1) have no common solution",
        mutants=[
            Mutant(
                "hard-attention",
                "a weight of 0 is allowed",
                replay_of(w, scale * (1 - w)),
                changed=[Hypothesis("softmax", z3.And(w >= 0, w < 1))],
            )
        ],
    )


_COLUMNS = [X for N in (1, 2, 3) for X in integer_columns(N)]
_BLOCKS = grid(lambda N, d, a, b: a <= N and b <= d, N=[1, 2, 3], d=[1, 2, 3], a=[1, 2, 3], b=[1, 2, 3])

ENTRIES = [
    Entry(
        id="Lemma A.1",
        restatement="A fixed matrix U and an input MLP φ give φ(X)U = [1_{axb}, 0; 0, 0]: φ appends 1 to the first "
        "a tokens and 0 to the others.",
        readings=[
            Reading(
                "the blocks of U fit, making it (d+1) x d",
                grid(lambda d, b: b <= d, d=range(1, 5), b=range(1, 5)),
                lambda x, d, b: A1_U.shape({"d": d, "b": b}),
                lambda x, d, b: (d + 1, d),
                slip=Slip(
                    "The last block row is [1_{1xb}, 0_{dx(d-b)}]: its blocks are 1 and d high.",
                    Affects.NOTHING,
                    extraction=True,
                    theorem="A_1_U_is_no_matrix",
                ),
            ),
            Reading(
                "with 0_{1x(d-b)} there, φ(X)U is the block of ones",
                _BLOCKS,
                _product,
                _block_of_ones,
            ),
        ],
        remarks=[
            Reading(
                "U depends on b, and φ on a and on the position: one pair for all a and b is not what the proof gives",
                grid(d=[2, 3]),
                lambda x, d: _U_REPAIRED.build(x, {"d": d, "b": 1}),
                lambda x, d: _U_REPAIRED.build(x, {"d": d, "b": 2}),
                "!=",
            )
        ],
        note="We read 'fixed' as independent of X.",
        repair="0_{1x(d-b)}; for all a and b there are U and φ.",
        evidence=["Lemma A.1/blocks-run"],
        survives="Yes, for 0 <= a <= N and 0 <= b <= d.",
        depends=["Definition 2.2"],
    ),
    Entry(
        id="Lemma A.2",
        restatement="A transformer of one layer and one head computes the sum of all rows of X at every token.",
        readings=[
            Reading(
                "the two conditions on the key agree: k_i = 1 and k_i = N x_i (d = 1)",
                grid(X=_COLUMNS),
                lambda x, X: x.array([[len(X) * entry for entry in X]]),
                lambda x, X: x.full(1, len(X), 1),
                slip=Slip(
                    "k_i is given two values; N X[i, :] must be v_i.",
                    Affects.PROOF,
                    extraction=True,
                    theorem="A_2_k_has_two_values",
                ),
            ),
            Reading(
                "some W^Q gives X W^Q = 1_{Nxd} (d = 1)",
                grid(X=_COLUMNS),
                lambda x, X: solvable(x.array([[entry] for entry in X]), x.full(len(X), 1, 1)),
                lambda x, X: True,
                slip=Slip(
                    "X = 0 gives X W^Q = 0; without an input MLP the ones are not there.",
                    Affects.PROOF,
                    theorem="A_2_no_W_makes_ones_of_0",
                ),
            ),
            Reading(
                "with equal weights and the values N x_i every output is the sum (d = 1)",
                grid(X=_COLUMNS),
                lambda x, X: _averages(x, X, causal=False),
                lambda x, X: [x.number(sum(X))] * len(X),
            ),
        ],
        remarks=[
            Reading(
                "under a causal mask, as in Theorem 3.5, output i is N/i times the sum of the first i rows",
                grid(X=_COLUMNS),
                lambda x, X: _averages(x, X, causal=True),
                lambda x, X: [x.number(len(X) * sum(X[:i])) / i for i in range(1, len(X) + 1)],
            )
        ],
        note="N is the number of tokens of the call here, at most M.",
        repair="W^Q = W^K = 0 and W^V = N I: all weights are 1/N. A causal oracle gives the sum at the last token.",
        evidence=["Lemma A.2/values-base", "Lemma A.2/values-step", "Lemma A.2/average", "Lemma A.2/sums-run"],
        survives="Yes, for all N and d; the last token only under a causal mask.",
        depends=["Definition 2.1"],
    ),
    Entry(
        id="Lemma A.3",
        restatement="Cited from Sanford, Hsu and Telgarsky: a transformer of one layer and one head returns ρ of "
        "the row that an indexing function τ points to.",
        readings=[
            Reading(
                "every function that is used is declared",
                [{"declared": ("τ", "f"), "used": ("τ", "ρ")}],
                lambda x, declared, used: set(used) - set(declared),
                lambda x, declared, used: set(),
                slip=Slip("f is declared and ρ is used.", Affects.NOTHING, extraction=True),
            ),
            Reading(
                "ρ on R^m takes a row of X, which is in R^d",
                grid(lambda d, m: m <= d, d=[1, 2, 3], m=[1, 2, 3]),
                lambda x, d, m: m,
                lambda x, d, m: d,
                slip=Slip("The dimensions m and d are not related.", Affects.NOTHING, extraction=True),
            ),
        ],
        note="The cited proof was not at hand. A lookup by softmax is not exact (Lemma A.3/no-exact-swap); it needs "
        "a stated precision, or rounding in ρ, and coordinates for the positions beside the d of the tokens. A τ "
        "that does not depend on the data needs no call: arranging rows is allowed (§1.1.c).",
        repair="ρ: R^d -> R^d with a stated error: the row is within 2 S max_j ||x_j|| with S <= (N-1) e^(-B), in "
        "embedding dimension d + 4; exact after rounding where entries are multiples of a known step.",
        evidence=[
            "Lemma A.3/leak",
            "Lemma A.3/gap",
            "Lemma A.3/score",
            "Lemma A.3/retrieval-run",
            _swap(),
        ],
        survives="With that error or with rounding; not exactly (ε = 0) as a softmax.",
        depends=["§1.1.c", "§1.1.d"],
    ),
]
