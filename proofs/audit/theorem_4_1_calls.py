"""C.1.permute to C.1.step2: the calls of Theorem 4.1, their displays put together and run."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np

from proofs.audit.displays import OFF_K_REPAIRED, OFF_PHI, OFF_Q_REPAIRED, SECOND_K, SECOND_Q
from proofs.audit.entry import Entry, bounded_check
from proofs.audit.lemma_3_1_calls import FLAGGED, reachable
from proofs.audit.literal import EXACT, Arithmetic, integer_columns
from proofs.audit.reading import Affects, Reading, Slip, grid
from proofs.audit.shapes import BlockMatrix
from proofs.evidence import ExactCases
from proofs.schedule_replay import instance
from twoheads import theorem_4_1
from twoheads.oracle import Oracle
from twoheads.plans import run
from twoheads.scalars import given_weights
from twoheads.transformer import Head

__all__ = ["ENTRIES", "UNBIASED", "WITHOUT_MOVING"]

UNBIASED = ("Theorem 4.1/unbiased-base", "Theorem 4.1/unbiased-step")

STEP1_V = BlockMatrix("V' of C.1.step1", "1[M,d] 0[M,1]; 1[d,1] 1[1,1]")
STEP1_V_ONE_ROW = BlockMatrix("V' of C.1.step1, one row below", "1[M,d] 0[M,1]; 1[1,d] 1[1,1]")
STEP1_V_REPAIRED = BlockMatrix("V' repaired", "1[M,d] 0[M,1]; 0[1,d] 1[1,1]")

Tau = tuple[int, ...]


def _orders(N: int) -> list[Tau]:
    """All permutations of 1, ..., N."""
    return list(permutations(range(1, N + 1)))


def _rows_at_hand(tau: Tau, M: int) -> list[int]:
    """For every chunk, how many of the rows tau(S_t) that it needs stand in it."""
    chunks = [range(first, first + M) for first in range(1, len(tau) + 1, M)]
    return [sum(tau[j - 1] in chunk for j in chunk) for chunk in chunks]


def _without_moving() -> ExactCases:
    """The simulator, whose calls find the permuted rows in their places, against the estimator by plain loops."""
    sizes = [(2, 2), (3, 2), (4, 2), (4, 3)]
    failures, cases = [], 0
    for N, M in sizes:
        A, V = instance(N)
        X, *W = given_weights(A, V)
        S = theorem_4_1.chunks(N, M)
        for order in permutations(range(N)):
            cases += 1
            oracle, tau = Oracle(M), np.array(order)
            output = run([theorem_4_1.plan(X, Head(*W), oracle, tau)], oracle)[0]
            due = [_estimate(A[i], V, tau[S[i // M]]) for i in range(N)]
            if oracle.ledger.calls != -(-N // M) or (output != np.array(due, dtype=object)).any():
                failures.append(f"N = {N}, M = {M}, tau = {order}")
    return ExactCases("N <= 4", "exact rationals", cases, tuple(failures))


def _estimate(row: Any, V: Any, keys: Any) -> Any:
    """sum b / sum a over the keys."""
    return sum(row[j] * V[j] for j in keys) / sum(row[j] for j in keys)


WITHOUT_MOVING = bounded_check(
    "C.1.permute",
    "no-calls",
    "all permutations of N <= 4 positions, M = 2, 3, random rational weights and values",
    "with the permuted rows arranged in memory, N/M calls in all, rounded up, return every query's estimate",
    _without_moving,
)


def _chunk(x: Arithmetic, M: int, d: int, seed: int) -> Any:
    """M fixed rows of small integers."""
    return x.array([[(seed + 3 * j * j + 2 * c) % 4 - 1 for c in range(d)] for j in range(M)])


def _step1(x: Arithmetic, V: BlockMatrix, M: int, d: int) -> Any:
    """First output column of step 1: queries from the first half of φ, keys from the second; W^Q = W^K = I."""
    sizes = {"M": M, "d": d}
    phi = OFF_PHI.build(x, sizes, X=_chunk(x, M, d, 1), Y=_chunk(x, M, d, 2))
    Q = phi @ OFF_K_REPAIRED.build(x, sizes, W=x.eye(d))  # the matrix that reads the first half
    K = phi @ OFF_Q_REPAIRED.build(x, sizes, W=x.eye(d))
    return x.call(Q, K, V.build(x, sizes))[:M, 0]


def _step1_due(x: Arithmetic, M: int, d: int) -> Any:
    A = x.weights(_chunk(x, M, d, 1), _chunk(x, M, d, 2)).sum(axis=1)
    return A / (A + 1)


def _step1_runs() -> ExactCases:
    cases = grid(M=[1, 2, 3], d=[1, 2, 3])
    failures = [str(c) for c in cases if (_step1(EXACT, STEP1_V_REPAIRED, **c) != _step1_due(EXACT, **c)).any()]
    return ExactCases("M, d <= 3", "exact rationals", len(cases), tuple(failures))


def _step2(x: Arithmetic, M: int, d: int) -> Any:
    """The call of C.1.step2 on [X[S_t], X[tau(S_t)]]."""
    both = np.concatenate([_chunk(x, M, d, 1), _chunk(x, M, d, 2)], axis=1)
    Q, K, V = (both @ W.build(x, {"d": d}, W=x.eye(d)) for W in (SECOND_Q, SECOND_K, SECOND_K))
    return x.call(Q, K, V, M)


def _step2_due(x: Arithmetic, M: int, d: int) -> Any:
    queries, keys = _chunk(x, M, d, 1), _chunk(x, M, d, 2)
    return [_estimate([x.weight(q @ k) for k in keys], keys, range(M)) for q in queries]


def _mean_of_sums(x: Arithmetic, a: Tau, M: int, t: int) -> Any:
    """The mean over all permutations of sum_{j in S_t} a_{tau(j)}; the last chunk may hold fewer keys than M."""
    orders = _orders(len(a))
    sums = [sum(x.number(a[j - 1]) for j in tau[(t - 1) * M : t * M]) for tau in orders]
    return sum(sums) / len(orders)


_CHUNKS = grid(
    lambda a, M, t: len(a) % M == 0 and t <= len(a) // M,
    a=[(1, 2), (1, 2, 4), (1, 2, 4, 8), (3, 1, 1, 0)],
    M=[1, 2, 3],
    t=[1, 2, 3, 4],
)
_SIZES = grid(M=[2, 3], d=[1, 2, 3])

ENTRIES = [
    Entry(
        id="C.1.permute",
        restatement="A random permutation τ is applied to the keys by O(N/M) calls, with Lemma A.3.",
        readings=[
            Reading(
                "Lemma A.3 on the chunks of M tokens, N/M calls, has at hand the rows X[τ(j), :] that it needs",
                grid(tau=_orders(4), M=[2]),
                lambda x, tau, M: _rows_at_hand(tau, M),
                lambda x, tau, M: [M] * (len(tau) // M),
                slip=Slip(
                    "Lemma A.3 for all N rows needs an oracle that reads N tokens; calls on chunks of M cannot move "
                    "a row from one chunk to another.",
                    Affects.PROOF,
                    theorem="C_1_permute_across_chunks",
                ),
            )
        ],
        remarks=[
            Reading(
                "calls on two chunks each would have to meet every pair of chunks that some τ connects: (N/M)^2 of "
                "them at N = 4, M = 2",
                grid(tau=[(1, 3, 2, 4)], M=[2]),
                lambda x, tau, M: len({(j // M, (i - 1) // M) for j, i in enumerate(tau)}),
                lambda x, tau, M: (len(tau) // M) ** 2,
            )
        ],
        note="τ as Lemma A.3's indexing function would be a parameter of the oracle, which grows with N (§1.1.h). As a "
        "softmax, Lemma A.3 is not exact either. §1.1.c has no source of random bits: τ is drawn outside.",
        repair="No call: τ does not depend on the input, so that its rows are arranged in memory (§1.1.c), keys and "
        "values with the same τ.",
        evidence=[WITHOUT_MOVING],
        survives="Yes, with N/M calls fewer.",
        depends=["Lemma A.3", "§1.1.c"],
    ),
    Entry(
        id="C.1.step1",
        restatement="Queries of S_t, keys of τ(S_t) and a synthetic token: one call a chunk estimates sum_j a_{i,j} "
        "by N/M times the sum over the chunk.",
        readings=[
            Reading(
                "φ is (M+1) x (2d+1)",
                _SIZES,
                lambda x, M, d: OFF_PHI.shape({"M": M, "d": d}),
                lambda x, M, d: (M + 1, 2 * d + 1),
            ),
            Reading(
                "the blocks of V' fit, making it (M+1) x (d+1)",
                _SIZES,
                lambda x, M, d: STEP1_V.shape({"M": M, "d": d}),
                lambda x, M, d: (M + 1, d + 1),
                slip=Slip(
                    "The lower left block is 1_{dx1}, d rows high and one column wide; 1 row and d columns fit.",
                    Affects.NOTHING,
                    extraction=True,
                    theorem="C_1_step1_V_is_no_matrix",
                ),
            ),
            Reading(
                "with ones in that block, as printed, the call returns R = A/(A+1) in its first column",
                _SIZES,
                lambda x, M, d: _step1(x, STEP1_V_ONE_ROW, M, d),
                _step1_due,
                slip=Slip(
                    "If the synthetic value is 1 like all others, then R = 1 whatever the weights, and R/(1-R) has "
                    "no value; B.1.diag has 0 there.",
                    Affects.NOTHING,
                    extraction=True,
                    theorem="C_1_step1_R_is_1",
                ),
            ),
            Reading(
                "the call has at most M tokens",
                _SIZES,
                lambda x, M, d: OFF_PHI.shape({"M": M, "d": d})[0],
                lambda x, M, d: M,
                "<=",
                Slip("M + 1 tokens, as in B.1.diag.", Affects.PROOF, theorem="B_1_block_does_not_fit"),
            ),
            Reading(
                "some W^V gives a value column of 1 at data tokens and 0 at the synthetic one from this φ (d = 1, "
                "τ the identity)",
                grid(X=[X for M in (2, 3) for X in integer_columns(M)]),
                lambda x, X: reachable(x, X, blocks=2),
                lambda x, X: True,
                slip=Slip(
                    "The flag coordinate is missing, as in B.1.diag.",
                    Affects.PROOF,
                    theorem="C_1_step1_flag_is_missing",
                ),
            ),
        ],
        remarks=[
            Reading(
                "with zeros in that block the call returns A/(A+1)",
                _SIZES,
                lambda x, M, d: _step1(x, STEP1_V_REPAIRED, M, d),
                _step1_due,
            )
        ],
        note="The algorithm's output is that of C.1.step2; no output depends on these calls, only the analysis speaks "
        "of their estimate.",
        repair="0_{1xd} in that block, a flag coordinate, M - 1 data tokens; or leave the calls out.",
        evidence=[
            bounded_check("C.1.step1", "repaired-run", "M, d <= 3", "the repaired call gives A/(A+1)", _step1_runs),
            FLAGGED,
            "Lemma 3.1/recovery-printed",
            "Lemma 3.1/well-defined-call",
        ],
        survives="Yes; the calls are not needed.",
        depends=["B.1.off", "C.1.permute", "C.1.step2"],
    ),
    Entry(
        id="C.1.unbiased",
        restatement="The expected sum over a chunk of permuted keys is M/N of the sum over all keys.",
        readings=[
            Reading(
                "the mean over all N! permutations is (M/N) sum_j a_j, for M that divide N",
                _CHUNKS,
                _mean_of_sums,
                lambda x, a, M, t: x.number(M * sum(a)) / len(a),
            )
        ],
        remarks=[
            Reading(
                "for a last chunk of n < M keys it is n/N of the sum (N = 3, M = 2, n = 1)",
                grid(a=[(1, 2, 4)]),
                lambda x, a: _mean_of_sums(x, a, 2, 2),
                lambda x, a: x.number(sum(a)) / 3,
            )
        ],
        note="If M does not divide N, the last chunk is taken as the last M positions, so that every chunk has M keys.",
        evidence=[*UNBIASED],
        survives="All N and M; coordinate by coordinate for vectors.",
        depends=["C.1.permute"],
    ),
    Entry(
        id="C.1.step2",
        restatement="Queries from the first half of a token, keys and values from the second: a call returns "
        "sum b / sum a over the chunk's permuted keys, the estimate of attention; E sum b = (M/N) sum b.",
        readings=[
            Reading(
                "the matrices are 2d x d",
                grid(d=range(1, 5)),
                lambda x, d: [W.shape({"d": d}) for W in (SECOND_Q, SECOND_K)],
                lambda x, d: [(2 * d, d)] * 2,
            ),
            Reading("the call of M tokens returns sum b / sum a", _SIZES, _step2, _step2_due),
            Reading(
                "E sum b = (M/N) sum b (b signed)",
                grid(lambda a, M: len(a) % M == 0, a=[(3, -1), (1, -2, 4, 0)], M=[1, 2]),
                lambda x, a, M: _mean_of_sums(x, a, M, 1),
                lambda x, a, M: x.number(M * sum(a)) / len(a),
            ),
        ],
        remarks=[
            Reading(
                "the quotient itself is biased: N = 2, M = 1, a = (1, 2), v = (0, 1) has mean 1/2, attention is 2/3",
                grid(a=[(1, 2)], v=[(0, 1)]),
                lambda x, a, v: sum(x.number(entry) for entry in v) / 2,
                lambda x, a, v: x.number(sum(p * q for p, q in zip(a, v, strict=True))) / sum(a),
                "!=",
            )
        ],
        note="Without a synthetic token, so that a chunk holds M tokens here and M - 1 in the repaired step 1.",
        evidence=[WITHOUT_MOVING, *UNBIASED],
        survives="Yes.",
        depends=["C.1.permute", "C.1.unbiased", "B.1.step2"],
    ),
]
