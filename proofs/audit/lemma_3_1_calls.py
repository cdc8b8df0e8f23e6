"""B.1.diag to B.1.step2: the calls of Lemma 3.1, their displays put together and run."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import z3

from proofs.audit.displays import (
    DIAG_PHI,
    DIAG_V,
    DIAG_W,
    OFF_K,
    OFF_K_REPAIRED,
    OFF_PHI,
    OFF_Q,
    OFF_Q_REPAIRED,
    STEP2_K,
    STEP2_Q,
)
from proofs.audit.entry import Entry, bounded_check
from proofs.audit.literal import EXACT, Arithmetic, integer_columns, solvable
from proofs.audit.reading import Affects, Reading, Slip, grid
from proofs.evidence import ExactCases
from proofs.mutation import replay_of
from proofs.obligation import Hypothesis, Kind, Mutant, Obligation

__all__ = ["ENTRIES", "FLAGGED", "reachable"]

ONE_CALL = ("Lemma 3.1/recovery-merged", "Lemma 3.1/well-defined-call")


def _sample(x: Arithmetic, height: int, width: int, seed: int) -> Any:
    """A fixed matrix of small integers."""
    numbers = [(3 * k * k + 5 * k * seed + seed) % 4 - 1 for k in range(height * width)]
    return x.array(np.reshape(numbers, (height, width)).tolist())


def _diagonal_scores(x: Arithmetic, M: int, d: int) -> Any:
    """Q'K'^T from the displays of B.1.diag."""
    sizes = {"M": M, "d": d}
    phi = DIAG_PHI.build(x, sizes, X=_sample(x, M, d, 1))
    Q, K = (phi @ DIAG_W.build(x, sizes, W=_sample(x, d, d, seed)) for seed in (2, 3))
    return Q @ K.T


def _diagonal_scores_due(x: Arithmetic, M: int, d: int) -> Any:
    """<q_i, k_j> + 1, and 1 in the last column and row."""
    X = _sample(x, M, d, 1)
    inner = X @ _sample(x, d, d, 2) @ (X @ _sample(x, d, d, 3)).T + 1
    return np.block([[inner, x.full(M, 1, 1)], [x.full(1, M + 1, 1)]])


def reachable(x: Arithmetic, X: tuple[int, ...], flag: bool = False, first: bool = False, blocks: int = 1) -> bool:
    """Whether a W^V gives a value column of 1 at data tokens X (d = 1) and 0 at the synthetic one.

    φ is the displayed one, (x, 1) and (0, 1), or has a flag coordinate more: 1 at data, 0 at the synthetic token.
    With two blocks side by side, here the same one twice, it is (x, x, 1) and (0, 0, 1).
    """
    rows = [[*[entry] * blocks, 1, *([1] if flag else [])] for entry in X]
    synthetic = [*[0] * blocks, 1, *([0] if flag else [])]
    column = [[1]] * len(X)
    if first:
        return solvable(x.array([synthetic, *rows]), x.array([[0], *column]))
    return solvable(x.array([*rows, synthetic]), x.array([*column, [0]]))


def _flagged_values() -> ExactCases:
    """With a flag coordinate the values are there for every X."""
    columns = [X for M in (1, 2, 3) for X in integer_columns(M)]
    failures = tuple(str(X) for X in columns for first in (False, True) if not reachable(EXACT, X, True, first))
    return ExactCases("M <= 3, tokens 0, 1, 2", "ranks over the rationals", 2 * len(columns), failures)


FLAGGED = bounded_check(
    "B.1.diag",
    "flagged-values",
    "all columns of at most 3 tokens 0, 1, 2, d = 1",
    "with a flag coordinate some W^V gives V', the synthetic token last or first",
    _flagged_values,
)


def _first_columns_ratio(x: Arithmetic, M: int, d: int, s: int) -> Any:
    """The output row of B.1.diag's call for the first query, V' as displayed."""
    sizes = {"M": M, "d": d}
    X, W = _sample(x, M, d, s), x.eye(d)
    phi, padded = DIAG_PHI.build(x, sizes, X=X), DIAG_W.build(x, sizes, W=W)
    return x.call(phi @ padded, phi @ padded, DIAG_V.build(x, sizes))[0, 0]


def _share(x: Arithmetic, M: int, d: int, s: int) -> Any:
    """A/(A + exp(0)) of the first query, from its weights."""
    X = _sample(x, M, d, s)
    A = sum(x.weights(X, X)[0])
    return A / (A + x.weight(0))


def _off_call(x: Arithmetic, M: int, d: int) -> Any:
    """First column of B.1.off's call on two blocks, its matrices repaired to 1_{1 x 1}."""
    sizes = {"M": M, "d": d}
    phi = OFF_PHI.build(x, sizes, X=_sample(x, M, d, 1), Y=_sample(x, M, d, 2))
    Q = phi @ OFF_Q_REPAIRED.build(x, sizes, W=_sample(x, d, d, 3))
    K = phi @ OFF_K_REPAIRED.build(x, sizes, W=_sample(x, d, d, 4))
    return x.call(Q, K, DIAG_V.build(x, sizes))[:M, 0]


def _off_due(x: Arithmetic, M: int, d: int) -> Any:
    """A/(A+1) for the queries of Y and the keys of X."""
    q, k = _sample(x, M, d, 2) @ _sample(x, d, d, 3), _sample(x, M, d, 1) @ _sample(x, d, d, 4)
    A = x.weights(q, k).sum(axis=1)
    return A / (A + 1)


def _off_repaired() -> ExactCases:
    cases = grid(M=[1, 2, 3], d=[1, 2, 3])
    failures = [str(case) for case in cases if (_off_call(EXACT, **case) != _off_due(EXACT, **case)).any()]
    return ExactCases("M, d <= 3", "exact rationals", len(cases), tuple(failures))


def _step2(x: Arithmetic, M: int, d: int) -> Any:
    """B/A from the displays of B.1.step2."""
    sizes = {"d": d}
    both = np.concatenate([_sample(x, M, d, 1), _sample(x, M, d, 2)], axis=1)
    W_Q = STEP2_Q.build(x, sizes, W=_sample(x, d, d, 3))
    W_K, W_V = (STEP2_K.build(x, sizes, W=_sample(x, d, d, seed)) for seed in (4, 5))
    return x.call(both @ W_Q, both @ W_K, both @ W_V, M)


def _step2_due(x: Arithmetic, M: int, d: int) -> Any:
    X, Y = _sample(x, M, d, 1), _sample(x, M, d, 2)
    a = x.weights(Y @ _sample(x, d, d, 3), X @ _sample(x, d, d, 4))
    return (a @ (X @ _sample(x, d, d, 5))) / a.sum(axis=1)[:, None]


def _offset_cancels() -> Obligation:
    A, e, R, S = z3.Reals("A e R S")
    return Obligation(
        item="B.1.ratio",
        name="offset-cancels",
        kind=Kind.RECOVERY,
        scope="any number of keys, any e > 0 for exp(1)",
        hypotheses=[
            Hypothesis("weights", z3.And(A > 0, e > 0)),
            Hypothesis("call", R * (e * A + e) == e * A, "R, what the call with the scores <q, k> + 1 returns"),
            Hypothesis("ratio", S * (A + 1) == A, "S = A/(A + exp(0))"),
        ],
        goal=R == S,
        proves="sum exp(s_j + 1) / (sum exp(s_j + 1) + exp(1)) = A/(A + exp(0))",
        mutants=[
            Mutant(
                "offset-forgotten",
                "the synthetic token's score is 0, the data's are shifted",
                replay_of(S, R),
                changed=[Hypothesis("call", R * (e * A + 1) == e * A)],
            )
        ],
    )


_SMALL = grid(M=[2, 3, 4], d=[1, 2, 3])

ENTRIES = [
    Entry(
        id="B.1.diag",
        restatement="For a query of block t itself: tokens (x_j, 1) and one synthetic token (0, 1), matrices padded "
        "by a 1, values 1 for data tokens and 0 for the synthetic one.",
        readings=[
            Reading(
                "W', φ(X) and V' have the shapes that are printed",
                _SMALL,
                lambda x, M, d: [m.shape({"M": M, "d": d}) for m in (DIAG_W, DIAG_PHI, DIAG_V)],
                lambda x, M, d: [(d + 1, d + 1), (M + 1, d + 1), (M + 1, d + 1)],
            ),
            Reading(
                "Q'K'^T has the entries <q_i, k_j> + 1, and 1 in its last row and column",
                _SMALL,
                _diagonal_scores,
                _diagonal_scores_due,
            ),
            Reading(
                "the call has at most M tokens",
                _SMALL,
                lambda x, M, d: DIAG_PHI.shape({"M": M, "d": d})[0],
                lambda x, M, d: M,
                "<=",
                Slip(
                    "M data tokens and the synthetic one are M + 1 tokens.",
                    Affects.PROOF,
                    theorem="B_1_block_does_not_fit",
                ),
            ),
            Reading(
                "some W^V gives V' = φ(X) W^V with the φ that is displayed (d = 1; a column suffices)",
                grid(X=[X for M in (2, 3) for X in integer_columns(M)]),
                reachable,
                lambda x, X: True,
                slip=Slip(
                    "The displayed φ has the coordinates (x, 1), all of them used; the flag by which Lemma A.1 "
                    "tells data from synthetic tokens is a coordinate more.",
                    Affects.PROOF,
                    theorem="B_1_diag_flag_is_missing",
                ),
            ),
        ],
        note="φ adds a token, which a token-wise MLP cannot: the d zeros of the synthetic token are padded by "
        "Processing, the 1 by φ.",
        repair="One coordinate more (1 at data, 0 at the synthetic token), embedding dimension d + 2, and M - 1 "
        "data tokens.",
        evidence=[FLAGGED, *ONE_CALL],
        survives="Yes.",
        depends=["Lemma A.1", "§1.1.b", "§1.1.c"],
    ),
    Entry(
        id="B.1.ratio",
        restatement="The call returns sum exp(s_j + 1)/(sum exp(s_j + 1) + exp(1)) = A/(A + exp(0)).",
        readings=[
            Reading(
                "the displayed call returns A/(A + exp(0)) in its first column",
                grid(M=[1, 2, 3], d=[1, 2], s=[1, 2, 3]),
                _first_columns_ratio,
                _share,
            )
        ],
        note="The offset cancels and is not needed: a synthetic key of score 0 gives exp(0) at once.",
        evidence=[_offset_cancels()],
        depends=["B.1.diag"],
    ),
    Entry(
        id="B.1.recover",
        restatement="A = exp(0) R/(1 - R), computed in the layer MLP.",
        readings=[
            Reading(
                "R/(1 - R) is A for R = A/(A + 1), A = 0 included",
                grid(A=[Fraction(n, 7) for n in range(60)]),
                lambda x, A: (R := x.number(A) / (x.number(A) + 1)) / (1 - R),
                lambda x, A: x.number(A),
            )
        ],
        remarks=[
            Reading(
                "in float64 R is 1 at a score of 40, and 1 - R has no digits left",
                grid(score=[40]),
                lambda x, score: 1.0 - math.exp(score) / (math.exp(score) + 1.0),
                lambda x, score: 0.0,
            ),
            Reading(
                "with the synthetic token's own share w = 1/(A+1), R/w is within 1e-15 of A even at a score of 300",
                grid(score=[30, 40, 300]),
                lambda x, score: abs((A := math.exp(score)) / (A + 1.0) / (1.0 / (A + 1.0)) / A - 1.0),
                lambda x, score: 1e-15,
                "<=",
            ),
        ],
        evidence=["Lemma 3.1/recovery-printed", "Lemma 3.1/well-defined-call"],
        survives="Over the reals; with O(log N) bits see §1.1.d.",
        depends=["B.1.ratio", "§1.1.d"],
    ),
    Entry(
        id="B.1.off",
        restatement="For a query of another block t': both blocks side by side, W^Q reading the second, W^K the first.",
        readings=[
            Reading(
                "the block rows of W^Q'' and W^K'' fit, making them (2d+1) x (d+1)",
                grid(d=range(1, 5)),
                lambda x, d: [m.shape({"d": d}) for m in (OFF_Q, OFF_K)],
                lambda x, d: [(2 * d + 1, d + 1)] * 2,
                slip=Slip(
                    "The last block row [0_{1xd}, 1_{1xd}] is 2d wide, the others are d + 1.",
                    Affects.NOTHING,
                    extraction=True,
                    theorem="B_1_off_W_is_no_matrix",
                ),
            ),
            Reading(
                "φ is (M+1) x (2d+1)",
                _SMALL,
                lambda x, M, d: OFF_PHI.shape({"M": M, "d": d}),
                lambda x, M, d: (M + 1, 2 * d + 1),
            ),
            Reading(
                "the call has at most M tokens",
                _SMALL,
                lambda x, M, d: OFF_PHI.shape({"M": M, "d": d})[0],
                lambda x, M, d: M,
                "<=",
                Slip("M + 1 tokens, as in B.1.diag.", Affects.PROOF, theorem="B_1_block_does_not_fit"),
            ),
            Reading(
                "some W^V gives V'' from the φ that is displayed (d = 1, both blocks alike)",
                grid(X=[X for M in (2, 3) for X in integer_columns(M)]),
                lambda x, X: reachable(x, X, blocks=2),
                lambda x, X: True,
                slip=Slip(
                    "The flag coordinate is missing, as in B.1.diag.", Affects.PROOF, theorem="B_1_off_flag_is_missing"
                ),
            ),
        ],
        remarks=[
            Reading(
                "with 1_{1x1} in the last block row the call returns A/(A+1) for the queries of one block and the "
                "keys of the other",
                _SMALL,
                _off_call,
                _off_due,
            )
        ],
        note="With t' = t the same call covers B.1.diag, so that no case distinction is needed.",
        repair="1_{1x1} in place of 1_{1xd}; a flag coordinate; M - 1 data tokens; zero columns where W has to be "
        "square.",
        evidence=[
            bounded_check(
                "B.1.off",
                "repaired-run",
                "M, d <= 3",
                "the repaired display returns A/(A+1)",
                _off_repaired,
            ),
            FLAGGED,
            *ONE_CALL,
        ],
        survives="Yes.",
        depends=["B.1.diag", "§2.1.layer"],
    ),
    Entry(
        id="B.1.step2",
        restatement="B/A by a call without the synthetic token, on one block or on two side by side; N/M calls in "
        "total.",
        readings=[
            Reading(
                "W^Q''', W^K''' and W^V''' are 2d x d",
                grid(d=range(1, 5)),
                lambda x, d: [m.shape({"d": d}) for m in (STEP2_Q, STEP2_K)],
                lambda x, d: [(2 * d, d)] * 2,
            ),
            Reading("the call of M tokens returns B/A", _SMALL, _step2, _step2_due),
            Reading(
                "N/M calls reach all N^2 pairs of query and key, at most M^2 in a call",
                grid(lambda N, M: N % M == 0, N=range(2, 13), M=range(2, 13)),
                lambda x, N, M: (N // M) * M * M,
                lambda x, N, M: N * N,
                ">=",
                Slip(
                    "The total is (N/M)^2 calls, as B.1.steps says; N/M calls reach N M pairs.",
                    Affects.NOTHING,
                    theorem="B_1_step2_total_is_too_small",
                ),
            ),
        ],
        remarks=[
            Reading(
                "blocks of M in step 2 and of M - 1 in the repaired step 1 do not correspond",
                grid(lambda N, M: N % M == 0 and N % (M - 1) == 0, N=range(4, 25), M=range(3, 7)),
                lambda x, N, M: N // M,
                lambda x, N, M: N // (M - 1),
                "<",
            )
        ],
        repair="(N/M)^2, over the blocks of step 1; merged with step 1 it takes no call at all.",
        evidence=["Lemma 3.1/recovery-merged", "Lemma 3.1/count-bound"],
        survives="Yes.",
        depends=["B.1.steps"],
    ),
]
