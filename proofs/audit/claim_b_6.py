"""Claim B.6: all prefix sums by one causal call."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import z3

from proofs.audit.displays import PREFIX_PHI, PREFIX_V, PREFIX_W
from proofs.audit.entry import Entry, bounded_check
from proofs.audit.lemma_3_1_calls import FLAGGED, reachable
from proofs.audit.literal import EXACT, Arithmetic, NoValueError, integer_columns
from proofs.audit.reading import Affects, Reading, Slip, grid
from proofs.audit.shapes import BlockMatrix
from proofs.evidence import ExactCases
from proofs.mutation import replay_of
from proofs.obligation import Hypothesis, Kind, Mutant, Obligation

__all__ = ["ENTRIES", "PREFIX_CALL"]

_SWAPPED = BlockMatrix("W' with its zero blocks exchanged", "W[d,d] 0[d,1]; 0[1,d] 1[1,1]")


def _scores(x: Arithmetic, X: tuple[int, ...]) -> Any:
    """Q'K'^T of the construction for d = 1, W^Q = W^K = 1."""
    sizes = {"M": len(X), "d": 1}
    phi = PREFIX_PHI.build(x, sizes, X=x.array([[entry] for entry in X]))
    W = _SWAPPED.build(x, sizes, W=x.eye(1))
    return (phi @ W) @ (phi @ W).T


def _scores_printed(x: Arithmetic, X: tuple[int, ...]) -> Any:
    """First row and column 1, other entries <q_i, k_j>."""
    rows = [[1] * (len(X) + 1), *([1, *(p * q for q in X)] for p in X)]
    return x.array(rows)


def _prefix_sums(x: Arithmetic, X: tuple[int, ...], M: int) -> Any:
    """The repaired call, (x, 1, flag) with the synthetic token first, on M tokens: R/(1-R) of every data row."""
    tokens = x.array([[0, 1, 0], *([entry, 1, 1] for entry in X)])
    R = x.call(tokens[:, :2], tokens[:, :2], tokens[:, 2:], M, causal=True)[1:, 0]
    return R / (1 - R)


def _prefix_runs() -> ExactCases:
    columns = [X for M in (1, 2, 3, 4) for X in integer_columns(M)]
    failures = []
    for X in columns:
        due = [sum(Fraction(2) ** (p * q) for q in X[: i + 1]) for i, p in enumerate(X)]
        failures += [str(X)] if _prefix_sums(EXACT, X, len(X) + 1).tolist() != due else []
    return ExactCases("at most 4 tokens 0, 1, 2", "exact rationals", len(columns), tuple(failures))


PREFIX_CALL = bounded_check(
    "Claim B.6",
    "prefix-runs",
    "M <= 5, all columns of M - 1 tokens 0, 1, 2, d = 1",
    "the repaired call gives the sums over j <= i for all i <= M - 1",
    _prefix_runs,
)


def _ratio(x: Arithmetic, a: tuple[int, ...], i: int, last: int) -> Any:
    """sum_{j < i} a_j / (sum_{j <= last} a_j + exp(0)), a being row i - 1 of the weights."""
    if last > len(a):
        raise NoValueError(f"there is no a_{{{i - 1},{last}}}")
    top = x.number(sum(a[: i - 1]))
    return top / (x.number(sum(a[:last])) + 1)


def _never_equal() -> Obligation:
    P, extra, R, S = z3.Reals("P extra R S")
    return Obligation(
        item="B.6.ratio",
        name="never-equal",
        kind=Kind.RECOVERY,
        scope="all positive weights",
        hypotheses=[
            Hypothesis("weights", z3.And(P > 0, extra > 0), "P = sum_{j < i} a_{i-1,j}, extra = a_{i-1,i}"),
            Hypothesis("call", R * (P + 1) == P, "what the call returns"),
            Hypothesis("printed", S * (P + extra + 1) == P, "the right side as printed"),
        ],
        goal=R > S,
        proves="with the printed upper index i the two sides differ for all weights; with i - 1 they are the same",
        mutants=[
            Mutant(
                "no-extra-key",
                "the extra weight may be 0",
                replay_of(P + 1, P + extra),
                changed=[Hypothesis("weights", z3.And(P > 0, extra >= 0))],
            )
        ],
    )


_ROWS = [X for M in (2, 3) for X in integer_columns(M)]


def _shifted_scores() -> ExactCases:
    failures = []
    for X in _ROWS:
        due = _scores_printed(EXACT, X)
        due[1:, 1:] += 1
        failures += [str(X)] if (_scores(EXACT, X) != due).any() else []
    return ExactCases("M = 2, 3", "exact rationals", len(_ROWS), tuple(failures))


_WEIGHTS = [w for M in (1, 2, 3) for w in integer_columns(M, (1, 2))]

ENTRIES = [
    Entry(
        id="Claim B.6",
        restatement="One call of a causal oracle gives sum_{j <= i} exp(<q_i, k_j>) for all i <= M.",
        readings=[
            Reading(
                "the construction has at most M tokens",
                grid(M=range(2, 5), d=range(1, 3)),
                lambda x, M, d: PREFIX_PHI.shape({"M": M, "d": d})[0],
                lambda x, M, d: M,
                "<=",
                Slip("M data tokens and the synthetic one are M + 1.", Affects.PROOF, theorem="B_1_block_does_not_fit"),
            )
        ],
        remarks=[
            Reading(
                "without a synthetic token the call returns R = 1, whatever the input",
                grid(X=integer_columns(2)),
                lambda x, X: x.call(c := x.array([[e] for e in X]), c, x.full(len(X), 1, 1), causal=True).ravel(),
                lambda x, X: [x.number(1)] * len(X),
            )
        ],
        repair="i <= M - 1: the synthetic token first, then M - 1 data tokens.",
        evidence=[
            PREFIX_CALL,
            "Theorem 3.5/coverage-only-diagonal",
            "Theorem 3.5/coverage-once-diagonal",
            "Lemma 3.1/recovery-stable",
        ],
        survives="For i <= M - 1. Whether all M prefix sums can be had by another call is neither proved nor "
        "refuted here.",
        parts=["B.6.construction", "B.6.scores", "B.6.ratio"],
        depends=["B.6.construction"],
    ),
    Entry(
        id="B.6.construction",
        restatement="Matrices padded by a 1; tokens (0, 1), then (x_j, 1); values 0 for the first token and 1 for "
        "the others.",
        readings=[
            Reading(
                "the blocks of W^{Q'} fit, making it (d+1) x (d+1)",
                grid(d=range(1, 5)),
                lambda x, d: PREFIX_W.shape({"d": d}),
                lambda x, d: (d + 1, d + 1),
                slip=Slip(
                    "The two zero blocks are exchanged: 0_{dx1} stands right of W^Q, 0_{1xd} below it.",
                    Affects.NOTHING,
                    extraction=True,
                    theorem="B_6_W_is_no_matrix",
                ),
            ),
            Reading(
                "φ(X) and V' are (M+1) x (d+1)",
                grid(M=[1, 2, 3], d=[1, 2, 3]),
                lambda x, M, d: [m.shape({"M": M, "d": d}) for m in (PREFIX_PHI, PREFIX_V)],
                lambda x, M, d: [(M + 1, d + 1)] * 2,
            ),
            Reading(
                "some W^V gives V' from the φ that is displayed (d = 1; a column suffices)",
                grid(X=_ROWS),
                lambda x, X: reachable(x, X, first=True),
                lambda x, X: True,
                slip=Slip(
                    "The flag coordinate is missing, as in B.1.diag.",
                    Affects.PROOF,
                    theorem="B_6_construction_flag_is_missing",
                ),
            ),
        ],
        remarks=[
            Reading(
                "the first column of V', the one that B.1 uses, is 0 here",
                grid(M=[1, 2, 3], d=[1, 2, 3]),
                lambda x, M, d: sum(PREFIX_V.build(x, {"M": M, "d": d})[:, 0]),
                lambda x, M, d: x.number(0),
            )
        ],
        repair="Exchange the zero blocks; a flag coordinate.",
        evidence=[FLAGGED, PREFIX_CALL],
        survives="Yes.",
        depends=["Lemma A.1", "B.1.diag"],
    ),
    Entry(
        id="B.6.scores",
        restatement="Q'K'^T has first row and column 1 and the entries <q_i, k_j> elsewhere.",
        readings=[
            Reading(
                "the construction has these scores (d = 1, W^Q = W^K = 1)",
                grid(X=_ROWS),
                _scores_printed,
                _scores,
                slip=Slip(
                    "The other entries are <q_i, k_j> + 1, as B.6.ratio uses them; with the printed ones the call "
                    "would give A/(A + e).",
                    Affects.NOTHING,
                    theorem="B_6_scores_as_printed_give_another_ratio",
                ),
            )
        ],
        repair="<q_i, k_j> + 1; or leave out the ones, so that the synthetic key's score is 0.",
        evidence=[
            bounded_check(
                "B.6.scores",
                "shifted-scores",
                "M <= 3, tokens 0, 1, 2",
                "the construction's scores are <q_i, k_j> + 1 inside and 1 in the first row and column",
                _shifted_scores,
            )
        ],
        survives="Yes.",
        depends=["B.6.construction"],
    ),
    Entry(
        id="B.6.ratio",
        restatement="Row i of the call is the prefix sum over j <= i - 1 of row i - 1 over itself plus exp(0).",
        readings=[
            Reading(
                "both sides of the last equation agree for 2 <= i <= M (weights a_{i-1,j} given)",
                grid(lambda a, i: i <= len(a), a=_WEIGHTS, i=[2, 3]),
                lambda x, a, i: _ratio(x, a, i, i),
                lambda x, a, i: _ratio(x, a, i, i - 1),
                slip=Slip(
                    "The sum in the last denominator runs to i; it has to end at i - 1.",
                    Affects.NOTHING,
                    theorem="B_6_ratio_as_printed_is_wrong",
                ),
            ),
            Reading(
                "both sides of the last equation agree for i = M + 1",
                grid(lambda a, i: i == len(a) + 1, a=_WEIGHTS, i=[2, 3, 4]),
                lambda x, a, i: _ratio(x, a, i, i),
                lambda x, a, i: _ratio(x, a, i, i - 1),
                slip=Slip(
                    "For i = M + 1 the last term of that sum does not exist.",
                    Affects.NOTHING,
                    theorem="B_6_ratio_last_key_is_in_no_token",
                ),
            ),
        ],
        note="The j that names the column is also the summation index; column 1 of V' is 0, so j >= 2.",
        repair="Sum to i - 1 in the denominator.",
        evidence=[_never_equal(), PREFIX_CALL],
        survives="Yes.",
        depends=["B.6.construction"],
    ),
]
