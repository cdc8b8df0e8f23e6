"""Our own claims, where we go beyond the paper: entered and proved like the paper's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from proofs.audit.entry import Entry, bounded_check
from proofs.audit.literal import EXACT, Arithmetic
from proofs.audit.reading import Reading, grid
from proofs.audit.theorem_3_5 import CAUSAL_COVERAGE
from proofs.audit.theorem_4_1_calls import WITHOUT_MOVING
from proofs.audit.theorem_4_2_error import ERROR, EXTREME, largest_error, printed_total
from proofs.evidence import ExactCases
from twoheads import lemma_3_1, lower_bounds, theorem_3_5, theorem_4_1

__all__ = ["ENTRIES"]


def _keys_then_queries(x: Arithmetic, X: tuple[int, ...], Y: tuple[int, ...]) -> Any:
    """One causal call of 2m tokens, keys Y first, then queries X with key and value 0: A of every query (d = 1).

    Query p sees all keys and p unit weights, so w = p/(A + p) and A = p R/w.
    """
    m = len(X)
    Q, K = x.array([[0]] * m + [[e] for e in X]), x.array([[e] for e in Y] + [[0]] * m)
    R, w = x.call(Q, K, x.array([[1, 0]] * m + [[0, 1]] * m), causal=True)[m:].T
    return np.arange(1, m + 1) * R / w


def _unsplit_runs() -> ExactCases:
    cases = grid(lambda X, Y: len(X) == len(Y), X=[(1,), (0, 2), (2, 1, 0)], Y=[(2,), (1, 1), (0, 1, 2)])
    failures = []
    for case in cases:
        due = [sum(EXACT.weight(p * q) for q in case["Y"]) for p in case["X"]]
        failures += [str(case)] if _keys_then_queries(EXACT, **case).tolist() != due else []
    return ExactCases("blocks of at most 3", "exact rationals", len(cases), tuple(failures))


def _converse_error(x: Arithmetic, N: int, M: int, C: int, B: int) -> Any:
    """2C (N-M)/M exp(2C^2 - B^2)."""
    return 2 * C * (N - M) * x.weight(2 * C * C - B * B) / x.number(M)


_NM = grid(lambda N, M: M <= N, N=range(2, 40), M=range(2, 40))

ENTRIES = [
    Entry(
        id="beyond.one-call",
        restatement="One call for every pair of blocks is enough, not two: with a 1 appended to the values it "
        "returns B/(A+1) and A/(A+1).",
        readings=[
            Reading(
                "the calls of the printed construction are twice those of the merged one",
                _NM,
                lambda x, N, M: lemma_3_1.calls(N, M, "printed"),
                lambda x, N, M: 2 * lemma_3_1.calls(N, M, "merged"),
            )
        ],
        evidence=[
            "Lemma 3.1/recovery-merged",
            "Lemma 3.1/recovery-stable",
            "Lemma 3.1/sums-base",
            "Lemma 3.1/sums-step",
            "Lemma 3.1/quotient",
        ],
        survives="All N >= 1 and M >= 2; run exactly in Lemma 3.1/small-sizes-quadratic-merged.",
        depends=["B.1.steps", "B.1.step2"],
    ),
    Entry(
        id="beyond.no-cancellation",
        restatement="If the call also returns the synthetic token's share w = a/(A + a), then A = a R/w: no "
        "subtraction anywhere.",
        readings=[
            Reading(
                "in float64 R/w is within 4e-16 of A for scores from -300 to 300, where R/(1 - R) has no digits left",
                grid(score=[-300, -40, 0, 40, 300]),
                lambda x, score: abs((A := math.exp(score)) / (A + 1.0) / (1.0 / (A + 1.0)) / A - 1.0),
                lambda x, score: 4e-16,
                "<=",
            )
        ],
        evidence=["Lemma 3.1/recovery-stable", "Lemma 3.1/well-defined-call"],
        survives="Over the reals for all N and M; in floats wherever exp is in range.",
        depends=["B.1.recover", "§1.1.d"],
    ),
    Entry(
        id="beyond.no-diagonal-case",
        restatement="The case t' = t needs no construction of its own: a block of queries meets its own keys by the "
        "call that is made for any other pair.",
        evidence=["Lemma 3.1/coverage-exists", "Lemma 3.1/coverage-once-pairs"],
        survives="All N >= 1 and M >= 2.",
        depends=["B.1.diag", "B.1.off"],
    ),
    Entry(
        id="beyond.constant-four",
        restatement="The constant of the O is 4, and no less: ceil(N/(M-1))^2 <= 4 (N/M)^2 for 2 <= M <= N, with "
        "equality at M = N; causal attention likewise.",
        readings=[
            Reading(
                "at M = N the calls are 4 (N/M)^2 = 4",
                grid(N=range(3, 30)),
                lambda x, N: (lemma_3_1.calls(N, N, "merged"), theorem_3_5.calls(N, N, "merged")),
                lambda x, N: (4, 4),
            ),
            Reading(
                "they are within a factor 4 of the least number that lets every query meet every key",
                _NM,
                lambda x, N, M: lemma_3_1.calls(N, M, "merged"),
                lambda x, N, M: 4 * lower_bounds.covering_bound(N, M),
                "<=",
            ),
        ],
        evidence=["Lemma 3.1/count-bound", "Theorem 3.5/count-bound", "Theorem 3.5/count-calls"],
        survives="2 <= M <= N.",
        depends=["Lemma 3.1 / B.1", "Theorem 3.5 / B.5"],
    ),
    Entry(
        id="beyond.causal-one-call-per-half",
        restatement="Causal attention takes one call for each half of a pair of blocks, not two: ceil(N/(M-1))^2 in "
        "all.",
        evidence=[*CAUSAL_COVERAGE, "Lemma 3.1/recovery-merged", "Theorem 3.5/count-calls"],
        survives="All N >= 1 and M >= 2; run exactly in Theorem 3.5/small-sizes-causal-merged.",
        depends=["B.5.split", "B.5.count"],
    ),
    Entry(
        id="beyond.causal-without-split",
        restatement="Keys of an earlier block first, then the queries as tokens with key 0 and value 0: one causal "
        "call of 2m tokens gives the whole sum over the block, without halves and without a synthetic token.",
        evidence=[
            bounded_check(
                "beyond.causal-without-split",
                "runs",
                "blocks of at most 3, d = 1",
                "A = p R/w is the sum over all keys of the block",
                _unsplit_runs,
            )
        ],
        survives="Simpler, not cheaper: blocks have M/2 positions in place of M - 1.",
        depends=["B.5.split"],
    ),
    Entry(
        id="beyond.window-without-subtraction",
        restatement="A window is a suffix of the group of r keys before the query's and a prefix of its own: two "
        "calls for many groups at once, and no difference of prefix sums.",
        evidence=[
            "Theorem 5.1/coverage-exists",
            "Theorem 5.1/coverage-only-prefix",
            "Theorem 5.1/coverage-only-suffix",
            "Theorem 5.1/coverage-once-prefix",
            "Theorem 5.1/coverage-once-suffix",
            "Theorem 5.1/coverage-once-prefix-suffix",
            "Theorem 5.1/count-prefix",
        ],
        survives="All N, r >= 1, 0 <= s <= N. Exact with one group a call; several groups are kept apart by a score.",
        depends=["D.1.difference"],
    ),
    Entry(
        id="beyond.sinks-in-the-same-call",
        restatement="The s sink keys are fed with a chunk's queries in the same call; they need no calls of their "
        "own beyond those for the sinks' own queries.",
        evidence=[
            "Theorem 5.1/coverage-exists",
            "Theorem 5.1/coverage-only-sinks",
            "Theorem 5.1/coverage-once-sinks",
            "Theorem 5.1/coverage-once-sinks-prefix",
            "Theorem 5.1/coverage-once-sinks-suffix",
            "Theorem 5.1/small-sizes-sink-separate",
        ],
        survives="All N, r >= 1, 0 <= s <= N.",
        depends=["D.1.sinks"],
    ),
    Entry(
        id="beyond.one-call-per-chunk",
        restatement="Theorem 4.1 takes N/M calls in all, rounded up: none for the permutation, none for step 1.",
        readings=[
            Reading(
                "the simulator's count is N/M, rounded up",
                _NM,
                lambda x, N, M: theorem_4_1.calls(N, M, "merged"),
                lambda x, N, M: -(-N // M),
            )
        ],
        evidence=[WITHOUT_MOVING],
        survives="All N and M >= 2; run exactly for all permutations of at most 4 positions.",
        depends=["C.1.permute", "C.1.step1", "C.1.step2"],
    ),
    Entry(
        id="beyond.converse-error",
        restatement="A row's error in Theorem 4.2 is at most 2C (N-M)/M exp(2C^2 - B^2), without the printed factor 1 "
        "+ exp(C^2).",
        readings=[
            Reading(
                "it is at most the printed bound",
                EXTREME,
                _converse_error,
                printed_total,
                "<=",
            ),
            Reading(
                "it bounds the error of a row at the extreme weights",
                EXTREME,
                largest_error,
                _converse_error,
                "<=",
            ),
        ],
        evidence=ERROR,
        survives="All 1 <= M <= N, C >= 0, B; absolute error.",
        depends=["C.2.error"],
    ),
]
