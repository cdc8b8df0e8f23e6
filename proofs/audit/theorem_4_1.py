"""Theorem 4.1 / C.1: attention estimated from a random sample of the keys."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np

from proofs.audit.entry import Entry, bounded_check
from proofs.audit.literal import Arithmetic
from proofs.audit.reading import Affects, Reading, Slip, grid
from proofs.evidence import ExactCases
from twoheads import theorem_4_1
from twoheads.oracle import Oracle
from twoheads.plans import run
from twoheads.scalars import given_weights
from twoheads.transformer import Head

__all__ = ["ENTRIES"]

Order = tuple[int, ...]


def _permutations(N: int) -> list[Order]:
    return list(itertools.permutations(range(1, N + 1)))


def _mean_of_samples(x: Arithmetic, a: Order, M: int, t: int) -> Any:
    """E sum_{j in S_t} a_{tau(j)} over all permutations tau, by enumeration."""
    orders = _permutations(len(a))
    places = range((t - 1) * M, t * M)
    total = sum(x.number(a[order[j] - 1]) for order in orders for j in places)
    return total / x.number(len(orders))


def _blocks_read(order: Order, M: int) -> int:
    """Pairs of a chunk S_t and a block that tau(S_t) has keys from: calls that each read one block of keys."""
    return len({((j // M), (key - 1) // M) for j, key in enumerate(order)})


def _deviation(x: Arithmetic, eps: int, d: Any) -> Any:
    """The error |B - b A/S| for B = A = 1, b = 1 + eps/4 and delta = A/S = d."""
    return abs(1 - (1 + x.number(eps) / 4) * d)


def _delta(x: Arithmetic, eps: int, upper: bool) -> Any:
    quarter = x.number(eps) / 4
    return 1 / (1 - quarter) if upper else 1 / (1 + quarter)


def _printed_deviation(x: Arithmetic, eps: int, upper: bool) -> Any:
    """eps/4 + (1 - delta)(1 + eps/4), the third member of the chain."""
    quarter = x.number(eps) / 4
    return quarter + (1 - _delta(x, eps, upper)) * (1 + quarter)


def _shifted(x: Arithmetic, y: int, eps: int) -> Any:
    """The relative error of psi(y') = y' - 1 if y' is (1 + 1/eps) y: a token-wise MLP after a layer."""
    true = x.number(y) / 4
    estimate = true * (1 + x.number(1) / eps)
    return abs((estimate - 1) - (true - 1)) / abs(true - 1)


def _sample_estimator(x: Arithmetic, a: Order, v: Order, order: Order, M: int) -> Any:
    """C.1.step2 as printed, for one query whose scores are a: the call's first output row."""
    chosen = [order[j] - 1 for j in range(M)]
    Q = x.array([[1]] * M)
    K = x.array([[a[j]] for j in chosen])
    return x.call(Q, K, x.array([[v[j]] for j in chosen]), M)[0, 0]


def _sample_ratio(x: Arithmetic, a: Order, v: Order, order: Order, M: int) -> Any:
    chosen = [order[j] - 1 for j in range(M)]
    weights = [x.weight(a[j]) for j in chosen]
    return sum(w * x.number(v[j]) for w, j in zip(weights, chosen, strict=True)) / sum(weights)


def _estimator_runs() -> ExactCases:
    """The simulator makes N/M calls, rounded up, none of them for the permutation, and returns the estimator."""
    cases, failures = 0, []
    for N, M in itertools.product(range(1, 6), range(2, 5)):
        rng = np.random.default_rng(N + 10 * M)
        A = np.array([[Fraction(int(k)) for k in rng.integers(1, 9, N)] for _ in range(N)], dtype=object).reshape(N, N)
        V = np.array([[Fraction(int(k))] for k in rng.integers(-9, 9, N)], dtype=object)
        tau = theorem_4_1.random_permutation(N, seed=N)
        oracle = Oracle(M)
        X, *W = given_weights(A, V)
        output = run([theorem_4_1.plan(X, Head(*W), oracle, tau)], oracle)[0]
        chunks = theorem_4_1.chunks(N, min(M, N))
        for i in range(N):
            keys = tau[next(chunk for chunk in chunks if i in chunk)]
            due = sum(A[i, j] * V[j, 0] for j in keys) / sum(A[i, j] for j in keys)
            cases += 1
            failures += [f"N = {N}, M = {M}, row {i}"] if output[i, 0] != due else []
        failures += [f"N = {N}, M = {M}: calls"] if oracle.ledger.calls != math.ceil(N / M) else []
    return ExactCases("N <= 5, M <= 4", "exact rationals", cases, tuple(failures))


_ESTIMATOR = bounded_check(
    "C.1.step2",
    "estimator-runs",
    "N <= 5, M <= 4",
    "one call a chunk, none for the permutation, returns sum b / sum a over the sampled keys",
    _estimator_runs,
)

ENTRIES = [
    Entry(
        id="Theorem 4.1 / C.1",
        restatement="If weights lie between 1/C and C and sums of values do not cancel (D), O(N/M HL/(H'L')) calls "
        "give a "
        "(1+ε) approximation with probability 0.9, for any fixed ε.",
        parts=[
            "C.1.wlog",
            "C.1.permute",
            "C.1.step1",
            "C.1.unbiased",
            "C.1.hoeffding",
            "C.1.step2",
            "C.1.vector",
            "C.1.combine",
        ],
        repair="M at least 8 C^4 log(40 N H L)/ε^2 and 128 log(40 N H L)/(ε^2 D^2), ε <= 2 (for a larger ε take 2), "
        "one "
        "layer or an assumption on how the later layers enlarge relative errors; no calls for the permutation.",
        evidence=[
            "Theorem 4.1/unbiased-base",
            "Theorem 4.1/unbiased-step",
            "Theorem 4.1/combination",
            "Theorem 4.1/sample-size",
            "Theorem 4.1/union-bound",
        ],
        survives="For one layer with that M, resting on Hoeffding's inequalities: N/M calls for a head, rounded up.",
        depends=["Lemma A.3", "§1.1.e"],
    ),
    Entry(
        id="C.1.wlog",
        restatement="It suffices to treat one head of one layer.",
        readings=[
            Reading(
                "two events fail with probability at most 1/10 for all rows of all heads, 1/(20N) for each",
                grid(N=[1, 2], H=[1, 2], L=[1, 2]),
                lambda x, N, H, L: x.number(2 * N * H * L) / (20 * N),
                lambda x, N, H, L: x.number(1) / 10,
                "<=",
                Slip(
                    "The union bound runs over the queries of one head; with H heads and L layers the failure "
                    "probability is HL times as large.",
                    Affects.PROOF,
                ),
            ),
            Reading(
                "a layer's relative error 1/eps is at most that after the next token-wise MLP, here ψ(y) = y - 1",
                grid(y=[5, 6], eps=[4, 8]),
                _shifted,
                lambda x, y, eps: x.number(1) / eps,
                "<=",
                Slip(
                    "A relative error is not kept by an MLP: from y = 5/4, off by a quarter, ψ(y) = y - 1 is off by "
                    "five "
                    "quarters. Layers are not independent as heads are.",
                    Affects.STATEMENT,
                ),
            ),
        ],
        repair="log(40 N H L) in place of log(40 N); one layer, or a bound on how much a layer enlarges relative "
        "errors.",
        evidence=["Theorem 4.1/union-bound"],
        survives="For one layer.",
        depends=["§1.1.e"],
    ),
    Entry(
        id="C.1.permute",
        restatement="The keys are permuted at random by O(N/M) calls of Lemma A.3.",
        readings=[
            Reading(
                "N/M calls that each read one block of keys can bring tau(S_t) together for every chunk S_t",
                [{"order": order, "M": 2} for order in _permutations(4)],
                lambda x, order, M: len(order) // M,
                lambda x, order, M: _blocks_read(order, M),
                ">=",
                Slip(
                    "A call of M tokens retrieves among those M only, and tau(S_t) can have keys from M blocks. No "
                    "call "
                    "is needed: tau does not depend on the input, so that placing the tokens is arranging them "
                    "(§1.1.c).",
                    Affects.PROOF,
                ),
            )
        ],
        repair="Arrange the tokens by tau in memory.",
        evidence=[_ESTIMATOR],
        survives="With N/M calls in place of O(N/M).",
        depends=["Lemma A.3", "§1.1.c"],
    ),
    Entry(
        id="C.1.step1",
        restatement="A call with a synthetic token is to give the sampled sum of weights.",
        readings=[
            Reading(
                "the lower left block of V' is one row high",
                grid(d=[1, 2, 3]),
                lambda x, d: d,
                lambda x, d: 1,
                "=",
                Slip("1_{d x 1} stands where 1 x d is meant.", Affects.NOTHING, extraction=True),
            ),
            Reading(
                "with ones in the synthetic token's row, the first output column is A/(A+1)",
                grid(score=[0, 1, 2]),
                lambda x, score: x.call(x.array([[1]] * 2), x.array([[score], [0]]), x.array([[1], [1]]))[0, 0],
                lambda x, score: x.weight(score) / (x.weight(score) + 1),
                "=",
                Slip(
                    "The synthetic token's value is 1 in the columns that are used, so that the output is 1 whatever "
                    "the "
                    "weights are. It has to be 0 there, as in B.1.diag.",
                    Affects.PROOF,
                ),
            ),
        ],
        repair="V' = [1, 0; 0, 1]. The step is not needed: no output of the algorithm depends on it.",
        evidence=["Lemma 3.1/recovery-printed", _ESTIMATOR],
        depends=["B.1.diag", "B.1.recover"],
    ),
    Entry(
        id="C.1.unbiased",
        restatement="The sampled sum is on average M/N of the whole.",
        readings=[
            Reading(
                "the mean over all permutations is M/N times the sum",
                grid(lambda a, M, t: t * M <= len(a), a=[(1, 2), (2, 5, 1), (1, 3, 3, 8)], M=[1, 2], t=[1, 2]),
                _mean_of_samples,
                lambda x, a, M, t: x.number(M * sum(a)) / len(a),
            )
        ],
        evidence=["Theorem 4.1/unbiased-base", "Theorem 4.1/unbiased-step"],
    ),
    Entry(
        id="C.1.hoeffding",
        restatement="Hoeffding's inequality bounds the estimator's relative error; 1/(20N) if M >= 8 C^4 log(40N)/ε^2.",
        readings=[
            Reading(
                "the exponent with sum a >= N/C and range C - 1/C is at least 2 ε^2 M/(16 C^4), here without 2 ε^2 "
                "M/16",
                grid(C=[2, 3], N=[1, 2, 4]),
                lambda x, C, N: (x.number(N) / C) ** 2 / (x.number(N) ** 2 * (C - x.number(1) / C) ** 2),
                lambda x, C, N: x.number(1) / C**4,
                ">=",
            ),
            Reading(
                "M >= log N, in base 2, is at least 8 C^4 ln(40N)/ε^2 for C = ε = 1, with ln 2 >= 69/100",
                grid(N=[2, 4, 1024]),
                lambda x, N: (N - 1).bit_length(),
                lambda x, N: 8 * ((40 * N).bit_length() - 1) * x.number(69) / 100,
                ">=",
                Slip(
                    "Ω(log N) <= M does not give the factor 8 C^4/ε^2: the constant in it has to depend on C, D and ε.",
                    Affects.STATEMENT,
                ),
            ),
        ],
        note="A permutation samples without replacement; Hoeffding's section 6 covers that. The logarithm is natural.",
        repair="State M >= 8 C^4 log(40N)/ε^2 as a hypothesis.",
        evidence=["Theorem 4.1/hoeffding-exponent", "Theorem 4.1/sample-size"],
        survives="With that hypothesis, resting on the cited inequality.",
    ),
    Entry(
        id="C.1.step2",
        restatement="A plain call on queries S_t and keys tau(S_t) returns the estimator of attention.",
        readings=[
            Reading(
                "the call's output is sum b / sum a over the sampled keys",
                grid(a=[(0, 1, 2), (2, 0, 1)], v=[(1, 2, 4)], order=_permutations(3), M=[1, 2]),
                _sample_estimator,
                _sample_ratio,
            )
        ],
        evidence=[_ESTIMATOR],
    ),
    Entry(
        id="C.1.vector",
        restatement="A vector version of Hoeffding's inequality bounds the estimated sum of values; 1/(20N) if M is "
        "at least "
        "128 (log d + log 40 + log N)/(ε^2 D^2).",
        readings=[
            Reading(
                "with ||sum b|| >= D N max ||b||, ||sum b||^2/(N^2 max ||b||^2) is at least D^2",
                grid(D=[1, 2, 3], N=[1, 2], largest=[1, 5]),
                lambda x, D, N, largest: (x.number(D) / 4 * N * largest) ** 2 / (N * largest) ** 2,
                lambda x, D, N, largest: (x.number(D) / 4) ** 2,
                ">=",
            ),
            Reading(
                "2 exp(-(log d + log 40 + log N)) is at most 1/(20N)",
                grid(d=[1, 2, 8], N=[1, 5]),
                lambda x, d, N: x.number(2) / (d * 40 * N),
                lambda x, d, N: x.number(1) / (20 * N),
                "<=",
            ),
        ],
        remarks=[
            Reading(
                "D is at most 1: ||sum b|| is at most N max ||b||",
                grid(b=[(1, 1), (3, -1), (2, 5)]),
                lambda x, b: x.number(abs(sum(b))),
                lambda x, b: x.number(len(b) * max(map(abs, b))),
                "<=",
            )
        ],
        note="The displayed tail has no factor d, so that log d in the condition is not needed; it does no harm. The "
        "inequality itself is cited.",
        evidence=["Theorem 4.1/hoeffding-vectors"],
    ),
    Entry(
        id="C.1.combine",
        restatement="Both events together give relative error ε.",
        readings=[
            Reading(
                "the error is at most ε/4 + (1-δ)(1+ε/4), at both ends of δ and b = 1 + ε/4",
                grid(eps=[1, 2], upper=[False, True]),
                lambda x, eps, upper: _deviation(x, eps, _delta(x, eps, upper)),
                _printed_deviation,
                "<=",
                Slip(
                    "1 - δ is taken for |1 - δ|; for δ > 1 it is negative, and the bound too small.",
                    Affects.PROOF,
                ),
            ),
            Reading(
                "ε/4 + ε/(4+ε) (1+ε/4) is ε/2, which is at most ε",
                grid(eps=[1, 2, 3, 7]),
                lambda x, eps: x.number(eps) / 4 + x.number(eps) / (4 + eps) * (1 + x.number(eps) / 4),
                lambda x, eps: x.number(eps) / 2,
            ),
            Reading(
                "the error is at most ε at the largest δ, for every ε < 4",
                grid(eps=[1, 2, 3]),
                lambda x, eps: _deviation(x, eps, _delta(x, eps, True)),
                lambda x, eps: x.number(eps),
                "<=",
                Slip("The error reaches (ε/2)/(1-ε/4), which passes ε from ε = 2 on.", Affects.PROOF),
            ),
        ],
        repair="The error is at most (ε/2)/(1-ε/4), which is at most ε for ε <= 2; for a larger ε use ε = 2.",
        evidence=["Theorem 4.1/combination"],
        survives="For every fixed ε, by taking min(ε, 2).",
    ),
]
