"""C.1.hoeffding and C.1.vector: how often a sampled sum is off."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import z3

from proofs.audit.entry import Entry
from proofs.audit.exponentials import exp_above, exp_below
from proofs.audit.literal import Arithmetic
from proofs.audit.reading import Affects, Reading, Slip, grid
from proofs.mutation import replay_of
from proofs.obligation import Assumption, Hypothesis, Kind, Mutant, Obligation

__all__ = ["ENTRIES", "VECTOR_TAIL"]

Numbers = tuple[Any, ...]
HALF = Fraction(1, 2)

_PINELIS = Assumption(
    "C.1.vector",
    "pinelis",
    "For M draws without replacement from N vectors whose distance from their mean is at most R, the sum of the draws "
    "is off from M times the mean by t or more with probability at most 2 exp(-t^2 / (2 M R^2)), in any dimension.",
    "Pinelis, Optimum bounds for the distributions of martingales in Banach spaces, 1994, theorem 3.5; its step "
    "through the convex function cosh ||.|| carries over to draws without replacement by Hoeffding 1963, section 6",
)


def _share_off(x: Arithmetic, b: Numbers, M: int, eps: Any) -> Any:
    """Of all sets of M keys, the share with |N/M sum - total| >= eps/4 |total|."""
    N, total = len(b), sum(map(x.number, b))
    sets = list(combinations(map(x.number, b), M))
    off = sum(abs(sum(drawn) * N / M - total) >= x.number(eps) / 4 * abs(total) for drawn in sets)
    return x.number(off) / len(sets)


def _scalar_exponent(x: Arithmetic, a: Numbers, M: int, eps: Any, C: int) -> Any:
    """2 eps^2 M^2/(16 N^2) (sum a)^2/(M (C - 1/C)^2)."""
    spread = C - x.number(1) / C
    return 2 * x.number(eps) ** 2 * M / (16 * len(a) ** 2) * sum(map(x.number, a)) ** 2 / spread**2


def _vector_exponent(x: Arithmetic, b: Numbers, M: int, eps: Any) -> Any:
    """eps^2 M ||sum b||^2 / (128 N^2 max ||b||^2), d = 1."""
    largest = max(abs(x.number(entry)) for entry in b)
    return x.number(eps) ** 2 * M * sum(map(x.number, b)) ** 2 / (128 * len(b) ** 2 * largest**2)


def _larger_sum() -> Obligation:
    S, D, N, largest = z3.Reals("S D N largest")
    floor = D * N * largest
    return Obligation(
        item="C.1.vector",
        name="exponent",
        kind=Kind.ANALYSIS,
        scope="all D >= 0, N and values",
        hypotheses=[
            Hypothesis("signs", z3.And(D >= 0, N >= 1, largest >= 0)),
            Hypothesis("premise", S >= floor, "S = ||sum b|| is at least D N max ||b||"),
        ],
        goal=S * S >= floor * floor,
        proves="||sum b||^2 / (N max ||b||)^2 >= D^2, the second inequality of C.1.vector",
        mutants=[
            Mutant(
                "premise-halved",
                "the premise with D/2",
                replay_of(S * S, floor * floor),
                changed=[Hypothesis("premise", S >= floor / 2)],
            )
        ],
    )


def _vector_sample_size() -> Obligation:
    M, D, e, L, log_d, y = z3.Reals("M D epsilon L log_d y")
    size = (e * e) * (D * D)
    return Obligation(
        item="C.1.vector",
        name="sample-size",
        kind=Kind.ANALYSIS,
        scope="all D, epsilon > 0, d >= 1, N",
        hypotheses=[
            Hypothesis("signs", z3.And(log_d >= 0, L >= 0), "L = log(40 N), and d >= 1"),
            Hypothesis("size", M * size >= 128 * (log_d + L), "M >= 128 (log d + log 40 + log N)/(epsilon^2 D^2)"),
            Hypothesis("exponent", 128 * y == M * size, "y = epsilon^2 M D^2/128"),
        ],
        goal=y >= L,
        proves="the exponent is at least log(40 N), and so it is without the log d",
        lifting="2 exp(-log(40 N)) = 1/(20 N)",
        depends_on=["C.1.vector/exponent", _PINELIS.id],
        mutants=[
            Mutant(
                "half-the-size",
                "64 in place of 128",
                replay_of(y, L),
                changed=[Hypothesis("size", M * size >= 64 * (log_d + L))],
            )
        ],
    )


VECTOR_TAIL = (_larger_sum(), _vector_sample_size(), _PINELIS)

_SCALAR = grid(
    lambda a, M, **_: len(a) > M, a=[(HALF, 2), (HALF, HALF, 2, 2), (HALF, 1, 1, 2)], M=[1, 2, 3], eps=[2, 3], C=[2]
)
_SIGNED = [(1, 2), (1, 2, -1, 3), (3, 3, 3, -8)]

ENTRIES = [
    Entry(
        id="C.1.hoeffding",
        restatement="Hoeffding's inequality bounds the probability that the sum of weights is off by ε/4 by 1/(20N), "
        "if M >= 8 C^4 log(40N)/ε^2; so all N rows are right with probability 0.95.",
        readings=[
            Reading(
                "the share of sets of M keys that are off is at most 2 exp(-2ε^2M^2/(16N^2) (sum a)^2/(M(C-1/C)^2))",
                _SCALAR,
                lambda x, a, M, eps, C: _share_off(x, a, M, eps),
                lambda x, a, M, eps, C: 2 * exp_below(x, -_scalar_exponent(x, a, M, eps, C)),
                "<=",
            ),
            Reading(
                "the second exponent, 2ε^2M(N/C)^2/(16N^2C^2), is at most the first (C >= 2)",
                _SCALAR,
                lambda x, a, M, eps, C: 2 * x.number(eps) ** 2 * M * (x.number(len(a)) / C / C / len(a)) ** 2 / 16,
                _scalar_exponent,
                "<=",
            ),
            Reading(
                "the same for C = 1, where all weights are 1",
                grid(a=[(1, 1)], M=[1], eps=[1], C=[1]),
                _scalar_exponent,
                lambda x, a, M, eps, C: 2 * x.number(eps) ** 2 * M / 16,
                ">=",
                Slip(
                    "C = 1 divides by C - 1/C = 0; the estimate is exact then.",
                    Affects.NOTHING,
                    theorem="C_1_hoeffding_divides_by_0",
                ),
            ),
            Reading(
                "the last exponent is 2ε^2M/(16C^4)",
                grid(N=[1, 2, 5], M=[1, 2, 5], eps=[1, 2], C=[1, 2, 3]),
                lambda x, N, M, eps, C: 2 * x.number(eps * eps * M) * (x.number(N) / C) ** 2 / (16 * N * N * C * C),
                lambda x, N, M, eps, C: 2 * x.number(eps * eps * M) / (16 * C**4),
            ),
            Reading(
                "M = log2 N, as §1.1.a admits, is at least 8C^4 log(40N)/ε^2 (N = 2^k; log 2 >= 2/3, log 40 >= 3)",
                grid(k=range(1, 40), C=[1], eps=[1]),
                lambda x, k, C, eps: k,
                lambda x, k, C, eps: 8 * x.number(C**4) * (Fraction(2, 3) * k + 3) / eps**2,
                ">=",
                Slip(
                    "M = Ω(log N) is some constant times log N, not the constant 8C^4/ε^2.",
                    Affects.PROOF,
                    theorem="C_1_hoeffding_needs_more",
                ),
            ),
        ],
        note="The draws are without replacement; Hoeffding's section 6 covers that. log is the natural logarithm. The "
        "union bound runs over i only, see C.1.wlog.",
        repair="M >= 8C^4 log(40N)/ε^2 as an assumption; or k = 8C^4 log(40N)/(ε^2 M) calls a chunk, rounded up, a "
        "constant number for M = Ω(log N), whose sums are added; and C > 1.",
        evidence=[
            "Theorem 4.1/hoeffding-exponent",
            "Theorem 4.1/sample-size",
            "Theorem 4.1/hoeffding",
            "Lemma 3.1/recovery-stable",
            "Lemma 3.1/sums-base",
            "Lemma 3.1/sums-step",
        ],
        survives="Yes, with a constant in O(N/M) that depends on C and ε; Hoeffding's inequality is cited.",
        depends=["§1.1.a", "C.1.unbiased", "C.1.wlog"],
    ),
    Entry(
        id="C.1.vector",
        restatement="The same for the sum of the vectors b, by a Hoeffding bound for vectors, if M >= 128 (log d + "
        "log 40 + log N)/(ε^2 D^2).",
        readings=[
            Reading(
                "the share of sets of M keys that are off is at most 2 exp(-ε^2M ||sum b||^2/(128N^2 max||b||^2)), "
                "values not all 0 (d = 1)",
                grid(
                    lambda b, M, **_: len(b) > M, b=[(1, 2), (1, 2, -1, 3), (3, 3, 3, -8)], M=[1, 2, 3], eps=[2, 8, 16]
                ),
                _share_off,
                lambda x, b, M, eps: 2 * exp_below(x, -_vector_exponent(x, b, M, eps)),
                "<=",
            ),
            Reading(
                "the probability is at most 2 exp(-ε^2 M D^2/128) if all values are 0, for which every D satisfies "
                "the premise",
                grid(b=[(0,), (0, 0)], M=[1], D=[1], eps=[16]),
                lambda x, b, M, D, eps: _share_off(x, b, M, eps),
                lambda x, b, M, D, eps: 2 * exp_above(x, -(x.number(eps) ** 2) * M * D * D / 128),
                "<=",
                Slip(
                    "For values 0 the event 'off by at least ε/4 of 0' always happens, and the first bound divides by "
                    "max ||b|| = 0; the estimate is exact.",
                    Affects.NOTHING,
                    theorem="C_1_vector_at_0",
                ),
            ),
        ],
        remarks=[
            Reading(
                "D is at most 1: ||sum b|| <= N max ||b||",
                grid(b=_SIGNED),
                lambda x, b: abs(sum(b)),
                lambda x, b: len(b) * max(map(abs, b)),
                "<=",
            )
        ],
        note="The displayed tail has no factor d, and a bound without one exists: 128 is 16 * 8, for distances of at "
        "most 2 max||b|| from the mean. So the log d in the bound on M is not needed. M = Ω(log N) does not give the "
        "constant, as in C.1.hoeffding.",
        repair="'More than' in place of 'at least', or values that are not all 0; the log d may be left out.",
        evidence=VECTOR_TAIL,
        survives="Yes, without the log d; the tail bound is cited.",
        depends=["C.1.unbiased", "C.1.hoeffding"],
    ),
]
