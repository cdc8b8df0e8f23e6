"""Theorem 4.2 / C.2: N/M small instances by one large call."""

from __future__ import annotations

from typing import Any

import numpy as np
import z3

from proofs.audit.entry import Entry, bounded_check
from proofs.audit.literal import EXACT, Arithmetic
from proofs.audit.reading import Affects, Reading, Slip, grid
from proofs.audit.theorem_4_2_error import ERROR
from proofs.evidence import ExactCases
from proofs.induction import Induction
from proofs.mutation import replay_of
from proofs.obligation import Hypothesis, Kind, Mutant, Obligation
from twoheads import theorem_4_2

__all__ = ["ENTRIES"]

CODES = ("Theorem 4.2/codes-coordinate", "Theorem 4.2/codes-distinct")


def _codes(x: Arithmetic, instances: int, B: int) -> tuple[Any, Any]:
    """u_i and v_i, one row for every instance."""
    u, v = theorem_4_2.codes(instances)
    return x.array((B * u).tolist()), x.array((B * v).tolist())


def _code_products(x: Arithmetic, instances: int, B: int) -> tuple[Any, Any]:
    """All <u_i, v_i>, and the largest <u_i, v_j> of different instances."""
    u, v = _codes(x, instances, B)
    products = u @ v.T
    apart = [products[i, j] for i in range(instances) for j in range(instances) if i != j]
    return [products[i, i] for i in range(instances)], max(apart)


def _together(x: Arithmetic, scores: Any, values: Any, B: int) -> Any:
    """All outputs, for 2 instances of M = 2 tokens: every query has the scores given to the keys, d = 1."""
    u, v = (np.repeat(codes, 2, axis=0) for codes in _codes(x, 2, B))
    keys = x.array([[score] for score in scores])
    Q, K = np.concatenate([x.full(4, 1, 1), u], axis=1), np.concatenate([keys, v], axis=1)
    return x.call(Q, K, x.array([[value] for value in values]))[:, 0]


def _apart(x: Arithmetic, scores: Any, values: Any, cross: Any) -> Any:
    """The same by sums: own weights, and the other instance's, smaller by exp(cross)."""
    rows = []
    for i in range(4):
        a = [x.weight(s + (0 if j // 2 == i // 2 else cross)) for j, s in enumerate(scores)]
        rows.append(sum(p * q for p, q in zip(a, values, strict=True)) / sum(a))
    return rows


def _scores_bounded() -> Obligation:
    P, R, s, C2 = z3.Reals("P R s C2")
    return Obligation(
        item="C.2.bounds",
        name="scores",
        kind=Kind.ANALYSIS,
        scope="all dimensions, all C",
        hypotheses=[
            Hypothesis("norms", z3.And(P <= C2, R <= C2), "P = ||q||^2 and R = ||k||^2 are at most C^2"),
            Hypothesis("difference", P + R - 2 * s >= 0, "||q - k||^2, with s = <q, k>"),
            Hypothesis("sum", P + R + 2 * s >= 0, "||q + k||^2"),
        ],
        goal=z3.And(s <= C2, -C2 <= s),
        proves="-C^2 <= <q, k> <= C^2",
        lifting="||q|| = ||x W|| <= ||x||_2 ||W||_2 <= C by the definition of the operator norm; likewise k and v",
        mutants=[
            Mutant(
                "one-norm",
                "only the query is bounded",
                replay_of(s, C2),
                changed=[Hypothesis("norms", P <= C2)],
            )
        ],
    )


def _code_lengths() -> Induction:
    """binom(2n, n) >= 2^n, so that r = 2 ceil(log2(N/M)) coordinates are enough."""

    def grown(now: dict[str, Any], after: dict[str, Any], n: Any, top: Any) -> Any:
        return after["central"] * (n + 1) == now["central"] * top

    m, n = z3.Real("m"), z3.Int("n")

    def growth(now: dict[str, Any], after: dict[str, Any], top: Any) -> Hypothesis:
        return Hypothesis("central", grown(now, after, m, top), "binom(2n+2, n+1) (n+1) = binom(2n, n) (4n+2)")

    names = ("central", "power")
    now, after = ({name: z3.Real(name + suffix) for name in names} for suffix in ("", "_after"))
    return Induction(
        item="C.2.codes",
        name="length",
        kind=Kind.ANALYSIS,
        scope="all N/M",
        proves="binom(2n, n) >= 2^n: a code of 2n coordinates for up to 2^n instances",
        statement=lambda n, now: z3.And(now["central"] >= now["power"], now["power"] >= 1),
        state=names,
        start=lambda now: [Hypothesis("empty", z3.And(now["central"] == 1, now["power"] == 1), "n = 0")],
        definition=lambda n, now, after: [
            Hypothesis("number", m == z3.ToReal(n), "n as a real number"),
            growth(now, after, 4 * m + 2),
            Hypothesis("power", after["power"] == 2 * now["power"]),
        ],
        base_mutants=[
            Mutant(
                "no-code",
                "there is none of length 0",
                replay_of(now["power"], now["central"]),
                changed=[Hypothesis("empty", z3.And(now["central"] == 0, now["power"] == 1))],
            )
        ],
        step_mutants=[
            Mutant(
                "slow-growth",
                "binom(2n, n) grows by (n+1)/(n+1) only",
                replay_of(after["power"], after["central"]),
                changed=[growth(now, after, z3.ToReal(n) + 1)],
            )
        ],
    )


_INSTANCES = [2, 3, 5, 6, 7, 12, 20]
_VALUES = [(1, -1, 1, 1), (1, 2, 0, 3), (0, 0, 1, 1)]


def _together_runs() -> ExactCases:
    cases = grid(scores=[(0, 0, 0, 0), (0, 1, 1, 0), (1, -1, 2, 0)], values=_VALUES, B=[1, 2])
    failures = [
        str(case)
        for case in cases
        if list(_together(EXACT, **case)) != _apart(EXACT, case["scores"], case["values"], -(case["B"] ** 2))
    ]
    return ExactCases("N = 4, M = 2", "exact rationals", len(cases), tuple(failures))


TOGETHER = bounded_check(
    "C.2.concat",
    "runs",
    "N = 4, M = 2, d = 1, B = 1, 2",
    "in one call own scores are unchanged, the other instance's are smaller by B^2",
    _together_runs,
)

ENTRIES = [
    Entry(
        id="Theorem 4.2 / C.2",
        restatement="N/M instances of M tokens are simulated by one call of a transformer of O(N) tokens and embedding "
        "dimension O(d), and O(N/M) products of an M x d and a d x d matrix.",
        readings=[
            Reading(
                "the products are at most 3 N/M",
                grid(lambda N, M: N % M == 0, N=range(1, 20), M=range(1, 8)),
                lambda x, N, M: theorem_4_2.products(N, M),
                lambda x, N, M: 3 * (N // M),
                "<=",
            ),
            Reading(
                "the embedding dimension 3(d + r) of the construction is at most 12 d (n = N/M instances)",
                grid(d=[1, 2, 4], n=[1, 2, 3, 7, 21, 64]),
                lambda x, d, n: 3 * (d + theorem_4_2.code_length(n)),
                lambda x, d, n: 12 * d,
                "<=",
                Slip(
                    "d = O(log N) is an upper bound. The code has r >= log2(N/M) coordinates whatever d is, so that no "
                    "constant does for a small d.",
                    Affects.STATEMENT,
                    theorem="C_2_codes_outgrow_d",
                ),
            ),
            Reading(
                "every row is within ε = 1 of the instance's, relatively as in §1.1.e (N = 4, M = 2, scores 0; row 1)",
                grid(values=[(1, -1, 1, 1)], B=[1, 2]),
                lambda x, values, B: abs(_together(x, (0, 0, 0, 0), values, B)[0]),
                lambda x, values, B: x.number(0),
                "<=",
                Slip(
                    "The error is bounded absolutely. The row of an instance may be 0, here the mean of 1 and -1, "
                    "where a relative bound asks for 0.",
                    Affects.STATEMENT,
                    theorem="C_2_no_relative_error",
                ),
            ),
        ],
        remarks=[
            Reading(
                "instances with the same attention leave the call with the same row, so that no MLP after it is ψ_1 "
                "on the one and another ψ_2 on the other (all scores 0, values 1, 2 in both)",
                grid(B=[1, 2]),
                lambda x, B: _together(x, (0, 0, 0, 0), (1, 2, 1, 2), B)[0],
                lambda x, B: _together(x, (0, 0, 0, 0), (1, 2, 1, 2), B)[2],
            ),
            Reading(
                "a code of r coordinates has at most 2^r words",
                grid(n=range(1, 200)),
                lambda x, n: 2 ** theorem_4_2.code_length(n),
                lambda x, n: n,
                ">=",
            ),
        ],
        note="The products are made outside the large transformer, which §1.1.c does not admit; the theorem says so. "
        "Weights of exp(-B^2) and an error of 2^-N do not go with O(log N)-bit numbers, see §1.1.d. The instances may "
        "differ in M if they are padded. One MLP serves instances with MLPs of their own only if it can tell their "
        "rows apart; otherwise they are applied outside.",
        repair="Embedding dimension O(d + log(N/M)), which is O(d) if log(N/M) is; an absolute error, or a relative "
        "one for rows of at least a given norm.",
        evidence=[*CODES, *ERROR, *_code_lengths().obligations(), TOGETHER],
        survives="With an absolute error of at most 2C (N-M)/M exp(2C^2 - B^2) a row, 3 N/M products, one call of N "
        "tokens.",
        parts=["C.2.bounds", "C.2.codes", "C.2.concat", "C.2.error"],
        depends=["§1.1.a", "§1.1.d", "§1.1.e"],
    ),
    Entry(
        id="C.2.bounds",
        restatement="||X_i||_{inf,2} ||W_i||_2 <= C, so scores lie between -C^2 and C^2, and ||v|| <= C.",
        readings=[
            Reading(
                "|<q, k>| <= C^2 for rows of norm at most C (d = 2)",
                grid(
                    lambda q, k, C: max(sum(e * e for e in row) for row in (q, k)) <= C * C,
                    q=[(p, r) for p in range(-3, 4) for r in range(-3, 4)],
                    k=[(2, 1), (-1, 3), (0, -2)],
                    C=[2, 3, 4],
                ),
                lambda x, q, k, C: abs(sum(p * r for p, r in zip(q, k, strict=True))),
                lambda x, q, k, C: C * C,
                "<=",
            )
        ],
        note="||X||_{inf,2} is read as the largest 2-norm of a row. That C <= poly(N) is an assumption.",
        evidence=[_scores_bounded()],
        survives="Yes.",
        depends=["Definition 2.1"],
    ),
    Entry(
        id="C.2.codes",
        restatement="N/M distinct u_i of r = O(log(N/M)) coordinates 0 or -B, half of them 0, and v_i = B + u_i: <u_i, "
        "v_i> = 0 and <u_i, v_j> <= -B^2.",
        readings=[
            Reading(
                "<u_i, v_i> is 0 for all i (n = N/M instances)",
                grid(n=_INSTANCES, B=[1, 3]),
                lambda x, n, B: _code_products(x, n, B)[0],
                lambda x, n, B: [x.number(0)] * n,
            ),
            Reading(
                "<u_i, v_j> is at most -B^2",
                grid(n=_INSTANCES, B=[1, 3]),
                lambda x, n, B: _code_products(x, n, B)[1],
                lambda x, n, B: x.number(-B * B),
                "<=",
            ),
            Reading(
                "the least even r with binom(r, r/2) >= N/M is at most 2 log2(N/M), rounded up",
                grid(n=range(1, 300)),
                lambda x, n: theorem_4_2.code_length(n),
                lambda x, n: 2 * (n - 1).bit_length(),
                "<=",
            ),
        ],
        note="r has to be even, since r/2 coordinates are 0.",
        evidence=[*CODES, *_code_lengths().obligations()],
        survives="Yes, for even r.",
    ),
    Entry(
        id="C.2.concat",
        restatement="Queries carry u_i, keys v_i, so that d' = d + r; Q, K, V stand side by side in 3d' columns.",
        readings=[
            Reading(
                "[Q, K, V] of widths d', d' and d has 3d' columns",
                grid(d=[1, 2, 3], r=[0, 2, 4]),
                lambda x, d, r: 2 * (d + r) + d,
                lambda x, d, r: 3 * (d + r),
                slip=Slip(
                    "The values carry no code: 2d' + d columns, unless V is padded by r zeros.",
                    Affects.NOTHING,
                    theorem="C_2_concat_is_narrower",
                ),
            ),
            Reading(
                "in one call, own scores are unchanged and the other instance's are smaller by B^2 (N = 4, M = 2)",
                grid(scores=[(0, 0, 0, 0), (0, 1, 1, 0), (1, -1, 2, 0)], values=_VALUES, B=[1, 2]),
                _together,
                lambda x, scores, values, B: _apart(x, scores, values, -B * B),
            ),
        ],
        repair="r zeros beside V, or 2d' + d columns.",
        evidence=[TOGETHER, *CODES],
        survives="Yes.",
        depends=["C.2.codes", "§2.1.layer"],
    ),
]
