"""Theorem 4.2 / C.2: the codes keep instances apart for every length, and the error that the cross terms leave.

A code u_i has r coordinates 0 or -B, half of them 0; v_i = B + u_i. E is the weight that a row gives to the keys of
other instances, A the weight of its own. The exponentials enter as positive numbers: g = exp(C^2), z = exp(-B^2).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import z3

from proofs.mutation import replay_of
from proofs.obligation import Hypothesis, Kind, Mutant, Obligation

__all__ = ["obligations"]

ITEM = "Theorem 4.2"

B, u, w = z3.Reals("B u w")
A, E, V, x, beta, g, z = z3.Reals("A E V x beta g z")
N, M = z3.Reals("N M")
both_zero, mine_only, its_only, neither = z3.Ints("both_zero mine_only its_only neither")

ROW = [
    Hypothesis("own-weight", A > 0, "a row's own keys have a positive weight"),
    Hypothesis("cross-weight", E >= 0, "and the others a weight that is not negative"),
]


def obligations() -> Iterator[Obligation]:
    """Codes, then the error in terms of E/A, then E/A in terms of the bounds."""
    yield _coordinate()
    yield _distinct()
    yield _error()
    yield _smaller_error()
    yield _weights()


def _coordinate() -> Obligation:
    def product(shift: Any) -> Any:
        return u * (shift + w)

    zero_or_negative = z3.And(z3.Or(u == 0, u == -B), z3.Or(w == 0, w == -B))
    goal = z3.And(
        z3.Implies(u == w, product(B) == 0),
        z3.Implies(z3.And(u == -B, w == 0), product(B) == -(B * B)),
        product(B) <= 0,
    )
    return Obligation(
        item=ITEM,
        name="codes-coordinate",
        kind=Kind.ANALYSIS,
        scope="all B > 0, any code length",
        hypotheses=[Hypothesis("factor", B > 0), Hypothesis("code", zero_or_negative, "coordinates u_i and u_j")],
        goal=goal,
        proves="a coordinate of <u_i, v_j> is 0 where the codes agree, -B^2 where only u_j is 0, and never positive",
        lifting="the inner product is the sum over the coordinates, so <u_i, v_i> = 0 exactly, term by term",
        mutants=[
            Mutant(
                "unshifted",
                "v = u in place of v = B + u",
                replay_of(u * w, z3.RealVal(0)),
                z3.Implies(u == w, u * w == 0),
            ),
            Mutant(
                "half-shifted",
                "v = B/2 + u in place of v = B + u",
                replay_of(product(B / 2), z3.RealVal(0)),
                z3.Implies(u == w, product(B / 2) == 0),
            ),
            Mutant(
                "any-values",
                "a code coordinate may be -B/2",
                replay_of(product(B), z3.RealVal(0)),
                changed=[Hypothesis("code", z3.And(z3.Or(u == 0, u == -B / 2), w == u))],
            ),
        ],
    )


def _distinct() -> Obligation:
    counts = [both_zero, mine_only, its_only, neither]
    return Obligation(
        item=ITEM,
        name="codes-distinct",
        kind=Kind.ANALYSIS,
        scope="all code lengths",
        hypotheses=[
            Hypothesis("counts", z3.And(*(count >= 0 for count in counts)), "coordinates by who is 0 there"),
            Hypothesis("equally-many", both_zero + mine_only == both_zero + its_only, "both have as many zeros"),
            Hypothesis("distinct", mine_only + its_only >= 1, "the codes differ somewhere"),
        ],
        goal=its_only >= 1,
        proves="some coordinate is 0 in u_j and -B in u_i, so that <u_i, v_j> <= -B^2",
        lifting="the four counts are those of any two codes; each coordinate counted by its_only contributes -B^2",
        depends_on=[f"{ITEM}/codes-coordinate"],
        mutants=[
            Mutant(
                "any-number-of-zeros",
                "codes need not have equally many zeros",
                replay_of(z3.ToReal(its_only), z3.RealVal(1)),
                changed=[Hypothesis("equally-many", both_zero + mine_only >= both_zero + its_only)],
            ),
            Mutant(
                "codes-alike",
                "two instances may have the same code",
                replay_of(z3.ToReal(its_only), z3.RealVal(1)),
                changed=[Hypothesis("distinct", mine_only + its_only >= 0)],
            ),
        ],
    )


def _error() -> Obligation:
    def bound(constant: int) -> Any:
        return x * A + beta * E <= constant * (V * E * A)

    return Obligation(
        item=ITEM,
        name="error-of-a-row",
        kind=Kind.ANALYSIS,
        scope="all rows; values of norm at most V",
        hypotheses=[
            *ROW,
            Hypothesis("values", V >= 0),
            Hypothesis(
                "cross-values", z3.And(x >= 0, x <= V * E), "x, the norm of the cross values' sum, is at most V E"
            ),
            Hypothesis("own-values", z3.And(beta >= 0, beta <= V * A), "beta, the norm of the own sum, is at most V A"),
        ],
        goal=bound(2),
        proves="(x A + beta E) <= 2 V E A: the row is off by at most 2 V E/(A + E), hence 2 V E/A",
        lifting=(
            "with S the own sum of values and X the cross one, (S + X)/(A + E) - S/A = (X A - S E)/(A (A + E)), whose "
            "norm is at most (x A + beta E)/(A (A + E)) by the triangle inequality"
        ),
        mutants=[
            Mutant("constant-one", "1 in place of 2", replay_of(x * A + beta * E, V * E * A), bound(1)),
            Mutant(
                "larger-values",
                "cross values may be twice as large",
                replay_of(x * A + beta * E, 2 * (V * E * A)),
                changed=[Hypothesis("cross-values", z3.And(x >= 0, x <= 2 * (V * E)))],
            ),
        ],
    )


def _smaller_error() -> Obligation:
    total = A + E
    return Obligation(
        item=ITEM,
        name="error-share",
        kind=Kind.ANALYSIS,
        scope="all rows",
        hypotheses=ROW,
        goal=z3.And(E * A <= E * total, E <= total),
        proves="E/(A + E) is at most E/A, and at most 1",
        lifting="so the error is at most 2 V E/A, and never more than 2 V",
        depends_on=[f"{ITEM}/error-of-a-row"],
        mutants=[
            Mutant(
                "negative-cross-weight",
                "the cross weight may be negative",
                replay_of(E * A, E * total),
                goal=E * total <= E * A,
            ),
        ],
    )


def _weights() -> Obligation:
    own = Hypothesis("own", A * g >= M, "M own weights of at least exp(-C^2) = 1/g")
    cross = Hypothesis("cross", E <= (N - M) * (g * z), "N - M cross weights of at most exp(C^2 - B^2) = g z")
    sizes = Hypothesis("sizes", z3.And(M >= 1, N >= M, g >= 1, z > 0), "1 <= M <= N, C >= 0")
    return Obligation(
        item=ITEM,
        name="error-weights",
        kind=Kind.ANALYSIS,
        scope="all 1 <= M <= N, C >= 0, B",
        hypotheses=[sizes, own, cross],
        goal=E * M <= (N - M) * (g * z) * (A * g),
        proves="E/A is at most (N - M)/M exp(2 C^2 - B^2)",
        lifting="with error-of-a-row: the error is at most 2 V (N - M)/M exp(2 C^2 - B^2), where V bounds ||v||",
        depends_on=[f"{ITEM}/error-of-a-row", f"{ITEM}/error-share"],
        mutants=[
            Mutant(
                "own-forgotten",
                "exp(C^2 - B^2): the own weights taken for at least 1",
                replay_of(E * M, (N - M) * (g * z) * A),
                E * M <= (N - M) * (g * z) * A,
            ),
            Mutant(
                "cross-too-few",
                "N - M - 1 cross keys",
                replay_of(E * M, (N - M - 1) * (g * z) * (A * g)),
                E * M <= (N - M - 1) * (g * z) * (A * g),
            ),
        ],
    )
