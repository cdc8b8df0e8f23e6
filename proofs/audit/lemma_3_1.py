"""Lemma 3.1 / B.1 as a whole: what may be assumed, the blocks, the steps and how they are put together again."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import z3

from proofs.audit.displays import DIAG_PHI
from proofs.audit.entry import Entry, bounded_check
from proofs.audit.literal import EXACT, Arithmetic
from proofs.audit.reading import Affects, Reading, Slip, grid
from proofs.evidence import ExactCases
from proofs.mutation import replay_of
from proofs.obligation import Hypothesis, Kind, Mutant, Obligation
from twoheads.schedules import ceil_div

__all__ = ["ENTRIES", "NO_TOKEN_WISE_CALL", "REPAIRED_LEMMA", "SUMMED_BY_CALLS"]

REPAIRED_LEMMA = (
    "Lemma 3.1/coverage-exists",
    "Lemma 3.1/coverage-once-pairs",
    "Lemma 3.1/recovery-merged",
    "Lemma 3.1/sums-base",
    "Lemma 3.1/sums-step",
    "Lemma 3.1/quotient",
    "Lemma 3.1/count-bound",
)
"""Blocks of M-1 data tokens, one call for every pair of blocks: correct for all N >= 1 and M >= 2."""


def _no_token_wise_call() -> Obligation:
    p, scale, shift = z3.Reals("p scale shift")
    return Obligation(
        item="B.1.wlog",
        name="no-token-wise-call",
        kind=Kind.ANALYSIS,
        scope="two tokens of one coordinate, any attention weights that do not depend on it, any affine layer MLP",
        hypotheses=[Hypothesis("softmax", z3.And(p > 0, p < 1), "p, the first token's share of its own row")],
        goal=z3.Not(z3.And(shift == 0, scale * p + shift == 1, scale * (1 - p) + shift == 0)),
        proves="no such call returns x_1 in row 1 for all of (x_1, x_2) = (0, 0), (1, 0), (0, 1)",
        mutants=[
            Mutant(
                "hard-attention",
                "a share of 1 is allowed",
                replay_of(1 - p, scale * p),
                changed=[Hypothesis("softmax", z3.And(p > 0, p <= 1))],
            )
        ],
    )


NO_TOKEN_WISE_CALL = _no_token_wise_call()


def _as_mlp(x: Arithmetic, X: Any) -> Any:
    """A call used as the identity MLP: zero scores, values x."""
    zeros = x.full(len(X), 1, 0)
    return x.call(zeros, zeros, x.array([[entry] for entry in X])).ravel()


def _synthetic_after_mlp(x: Arithmetic, padded_by_mlp: bool) -> Any:
    """R of one data token 0 under φ(x) = x + 1, W^Q = W^K = 1; the synthetic coordinate is φ(0) or stays 0."""
    K = x.array([[1], [1 if padded_by_mlp else 0]])
    return x.call(K, K, x.array([[1], [0]]))[0, 0]


def _psi_in_the_last_call() -> ExactCases:
    """ψ(num/den) in the layer MLP of the call that forms both sums, for ψ(y) = y^2 + 3."""
    failures = []
    cases = grid(lambda A, C: len(A) == len(C), A=[(1, 2), (2, 1, 5)], C=[(1, 4), (3, 0), (3, 0, 2), (0, 0, 1)])
    for case in cases:
        A, C = (np.array(case[name], dtype=object) * Fraction(1) for name in "AC")
        values = len(A) * np.stack([A * C, A], axis=1)
        zeros = EXACT.full(len(A), 1, 0)
        sums = EXACT.call(zeros, zeros, values)[0]
        direct = sum(A * C) / sum(A)
        failures += [str(case)] if (sums[0] / sums[1]) ** 2 + 3 != direct**2 + 3 else []
    return ExactCases("two and three blocks", "exact rationals", len(cases), tuple(failures))


def _blocks_printed_in_b_1(t: int, M: int) -> list[int]:
    return list(range((t - 1) * M, t * M + 1))


def _blocks_printed_in_2_3(t: int, M: int) -> list[int]:
    return sorted({(t - 1) * M + 1, t * M})


def _blocks_of_section_3(t: int, M: int) -> list[int]:
    return list(range((t - 1) * M + 1, t * M + 1))


def _mean_over(x: Arithmetic, blocks: Any, N: int, M: int) -> Any:
    """Row i of B.1.goal for scores 0 and v_j = 1 if j = M, else 0; a position 0 that is no token is left out."""
    positions = [j for t in range(1, N // M + 1) for j in blocks(t, M) if j >= 1]
    return x.number(positions.count(M)) / x.number(len(positions))


def _filled_up(x: Arithmetic, N: int, zeros: int) -> Any:
    """A row of attention over N tokens of score 0 and value 1, and over zero tokens after them."""
    scores = x.full(N + zeros, 1, 0)
    return x.call(scores, scores, x.array([[int(j < N)] for j in range(N + zeros)]))[0, 0]


def _recombination_calls(N: int, M: int) -> int:
    """Trees of M-token calls, one for every query: Lemma A.2's call returns one sum."""
    calls, terms = 0, ceil_div(N, M)
    while terms > 1:
        terms = ceil_div(terms, M)
        calls += terms
    return N * calls


def _summed_by_calls() -> ExactCases:
    """A tree of Lemma A.2's calls on at most M tokens gives the sum, in log_M rounds."""
    failures, cases = [], grid(terms=[2, 3, 5, 8, 17], M=[2, 3, 4])
    for case in cases:
        M, level, rounds = case["M"], [Fraction(k * k - 3) for k in range(case["terms"])], 0
        total = sum(level)
        while len(level) > 1:
            groups = [level[k : k + M] for k in range(0, len(level), M)]
            zeros = [EXACT.full(len(group), 1, 0) for group in groups]
            calls = [EXACT.call(z, z, EXACT.array([[len(g) * y] for y in g]), M) for z, g in zip(zeros, groups)]
            level, rounds = [call[0, 0] for call in calls], rounds + 1
        failures += [str(case)] if level != [total] or M ** (rounds - 1) >= case["terms"] else []
    return ExactCases("at most 17 terms, M <= 4", "exact rationals", len(cases), tuple(failures))


SUMMED_BY_CALLS = bounded_check(
    "B.1.steps",
    "summed-by-calls",
    "at most 17 terms, M <= 4",
    "a tree of calls on at most M tokens gives the sum in log_M rounds",
    _summed_by_calls,
)

_DIVIDING = grid(lambda N, M: N % M == 0, N=range(1, 13), M=range(2, 13))
_ANY = grid(lambda N, M: M <= N, N=range(1, 13), M=range(2, 13))

ENTRIES = [
    Entry(
        id="Lemma 3.1 / B.1",
        restatement="A transformer of one layer and one head on N tokens is simulated by O((N/M)^2) calls to an oracle "
        "that reads M tokens and has embedding dimension O(d).",
        readings=[
            Reading(
                "a call of the construction (B.1.diag, B.1.off, both with M data tokens) has at most M tokens",
                grid(M=range(2, 5), d=range(1, 3)),
                lambda x, M, d: DIAG_PHI.shape({"M": M, "d": d})[0],
                lambda x, M, d: M,
                "<=",
                Slip(
                    "A block of M data tokens with the synthetic token makes M + 1, for an oracle that reads M.",
                    Affects.PROOF,
                    theorem="B_1_block_does_not_fit",
                ),
            )
        ],
        repair="Blocks of m = M - 1 data tokens, the last one shorter; tokens (x_key, x_query, data flag, synthetic "
        "flag); values (v, flag), so that one call per pair of blocks returns B/(A+1) and A/(A+1).",
        evidence=[*REPAIRED_LEMMA, "Lemma 3.1/small-sizes-quadratic-merged"],
        survives="Yes, for M >= 2 and all N >= 1: ceil(N/(M-1))^2 <= 4 (N/M)^2 calls, embedding dimension 2d + 2, "
        "if the sums over blocks and the layer MLP may be computed outside the oracle (or M <= sqrt N, see B.1.steps).",
        parts=[
            "B.1.wlog",
            "B.1.goal",
            "B.1.steps",
            "B.1.diag",
            "B.1.ratio",
            "B.1.recover",
            "B.1.off",
            "B.1.step2",
        ],
        depends=["§1.1.b", "§1.1.c", "Lemma A.1", "Lemma A.2"],
    ),
    Entry(
        id="B.1.wlog",
        restatement="Both MLPs may be taken as the identity: the input MLP is composed with the oracle's, the layer "
        "MLP is applied by O(N/M) calls used as MLPs.",
        readings=[
            Reading(
                "a call with scores 0 on more than one token can be used as an MLP (the identity)",
                grid(X=[(0, 0), (1, 0), (0, 1), (1, 1), (0, 0, 1)]),
                _as_mlp,
                lambda x, X: x.array([X])[0],
                slip=Slip(
                    "Attention weights are positive, so a call on two or more tokens mixes them before its MLP "
                    "acts; with an affine layer MLP no attention weights help (B.1.wlog/no-token-wise-call).",
                    Affects.PROOF,
                    theorem="B_1_wlog_no_call_is_an_mlp",
                ),
            ),
            Reading(
                "the input MLP φ(x) = x + 1 may be composed with the padding, the synthetic token being fed as 0",
                grid(data=[0]),
                lambda x, data: _synthetic_after_mlp(x, True),
                lambda x, data: _synthetic_after_mlp(x, False),
                slip=Slip(
                    "Composed with the padding φ also changes the synthetic token, whose score is then not the one "
                    "that B.1.ratio uses.",
                    Affects.PROOF,
                    theorem="B_1_wlog_phi_changes_the_synthetic_token",
                ),
            ),
        ],
        remarks=[
            Reading(
                "one token per call is exact, but takes N calls, which is at most (N/M)^2 exactly if M^2 <= N",
                grid(lambda N, M: M <= N, N=range(1, 40), M=range(1, 40)),
                lambda x, N, M: Fraction(N) <= Fraction(N, M) ** 2,
                lambda x, N, M: M * M <= N,
            )
        ],
        repair="Apply ψ in the layer MLP of the call that forms the sums (no further call), or outside the oracle; "
        "let φ see the position or a flag, so that it leaves the synthetic token alone.",
        evidence=[
            NO_TOKEN_WISE_CALL,
            bounded_check(
                "B.1.wlog",
                "psi-in-the-last-call",
                "two and three blocks",
                "ψ(num/den) in the last call's layer MLP is ψ of the attention",
                _psi_in_the_last_call,
            ),
            "Theorem 3.4/layers-base",
            "Theorem 3.4/layers-step",
        ],
        survives="Yes with MLPs outside the oracle, or with calls on one token if M <= sqrt N.",
        depends=["Definition 2.2", "B.1.steps"],
    ),
    Entry(
        id="B.1.goal",
        restatement="Attention of row i is the sum of the blocks' B_{i,t} over the sum of their A_{i,t}.",
        readings=[
            Reading(
                "the blocks {(t-1)M, ..., tM} of B.1 give the attention (scores 0, v_j = 1 for j = M only)",
                _DIVIDING,
                lambda x, N, M: _mean_over(x, _blocks_printed_in_b_1, N, M),
                lambda x, N, M: x.number(1) / x.number(N),
                slip=Slip(
                    "The blocks of B.1 have M + 1 positions, one of them 0, and share their ends.",
                    Affects.NOTHING,
                    theorem="B_1_blocks_overlap",
                ),
            ),
            Reading(
                "the blocks {(t-1)M+1, tM} of §2.3 cover every position",
                _DIVIDING,
                lambda x, N, M: sorted({j for t in range(1, N // M + 1) for j in _blocks_printed_in_2_3(t, M)}),
                lambda x, N, M: list(range(1, N + 1)),
                slip=Slip(
                    "In §2.3 a block has its two ends only.",
                    Affects.NOTHING,
                    extraction=True,
                    theorem="B_1_goal_two_ends_miss_position_2",
                ),
            ),
            Reading(
                "the blocks of §3 give the attention if M divides N",
                _DIVIDING,
                lambda x, N, M: _mean_over(x, _blocks_of_section_3, N, M),
                lambda x, N, M: x.number(1) / x.number(N),
            ),
            Reading(
                "N/M blocks of §3 cover every position",
                _ANY,
                lambda x, N, M: sorted(j for t in range(1, N // M + 1) for j in _blocks_of_section_3(t, M)),
                lambda x, N, M: list(range(1, N + 1)),
                slip=Slip(
                    "It is assumed without being said that M divides N.",
                    Affects.NOTHING,
                    theorem="B_1_goal_blocks_end_before_N",
                ),
            ),
        ],
        remarks=[
            Reading(
                "a last block filled up with zero tokens is wrong: they count as keys of weight exp(0) (values 1)",
                grid(N=[3, 5], M=[2, 4]),
                lambda x, N, M: _filled_up(x, N, -N % M),
                lambda x, N, M: x.number(1),
                "!=",
            )
        ],
        repair="{(t-1)m + 1, ..., min(tm, N)} for 1 <= t <= ceil(N/m).",
        evidence=["Lemma 3.1/coverage-exists", "Lemma 3.1/coverage-once-pairs", "Lemma 3.1/quotient"],
        survives="Yes, for all N and m.",
        depends=["Definition 2.1"],
    ),
    Entry(
        id="B.1.steps",
        restatement="Step 1 gets the A_{i,t}, step 2 the B_{i,t}/A_{i,t}, (N/M)^2 calls each; then the row is put "
        "together, trivially or by O((N/M)^2) calls with Lemma A.2.",
        readings=[
            Reading(
                "Lemma A.2's call on the N/M terms of a row has at most M tokens",
                grid(lambda N, M: N % M == 0, N=range(2, 40), M=range(2, 40)),
                lambda x, N, M: N // M,
                lambda x, N, M: M,
                "<=",
                Slip(
                    "For N > M^2 the terms of a row do not fit one call.",
                    Affects.PROOF,
                    theorem="B_1_steps_terms_do_not_fit",
                ),
            ),
            Reading(
                "the rows are put together by at most (N/M)^2 calls of Lemma A.2, for M >= sqrt N and at least two "
                "blocks",
                grid(lambda N, M: N % M == 0 and 2 * M <= N <= M * M, N=range(4, 70), M=range(2, 40)),
                lambda x, N, M: _recombination_calls(N, M),
                lambda x, N, M: (N // M) ** 2,
                "<=",
                Slip(
                    "All rows of such a call return the same sum, so that a call serves one query: N calls, which "
                    "exceeds (N/M)^2 by the unbounded factor M^2/N once M > sqrt N.",
                    Affects.PROOF,
                    theorem="B_1_steps_rows_take_too_many_calls",
                ),
            ),
        ],
        remarks=[
            Reading(
                "for M <= sqrt N the trees take at most 2 (N/M)^2 calls",
                grid(lambda N, M: N % M == 0 and M * M <= N, N=[4, 16, 64, 256, 4096], M=[2, 4, 8, 16, 32, 64]),
                lambda x, N, M: _recombination_calls(N, M),
                lambda x, N, M: 2 * (N // M) ** 2,
                "<=",
            ),
            Reading(
                "the factor M^2/N is unbounded: at N = 2 M it is M/2",
                grid(M=[4, 8, 64, 1024]),
                lambda x, M: Fraction(_recombination_calls(2 * M, M), 4),
                lambda x, M: Fraction(M, 2),
            ),
        ],
        note="That the trivial way is arithmetic outside §1.1.c (padding with fixed numbers, arranging) is a "
        "reading of §1.1.c, not a computation.",
        repair="Allow the sums over blocks and one division per row outside the oracle; or take M <= sqrt N, with "
        "trees of depth log_M(N/M).",
        evidence=[
            "Lemma 3.1/quotient",
            "Lemma 3.1/sums-step",
            SUMMED_BY_CALLS,
        ],
        survives="The identity holds. Within the strict model the count holds for M <= sqrt N.",
        depends=["Lemma A.2", "§1.1.c", "§1.1.f", "B.1.step2"],
    ),
]
