"""Theorem 4.2 / C.2: many small instances in one large call, kept apart by codes."""

from __future__ import annotations

import itertools
import math
from typing import Any

from proofs.audit.entry import Entry
from proofs.audit.literal import Arithmetic
from proofs.audit.reading import Affects, Reading, Slip, grid

__all__ = ["ENTRIES"]

Code = tuple[int, ...]


def _codes(r: int) -> list[Code]:
    """0/1 vectors with half of them 1; u is -B times one."""
    return [code for code in itertools.product((0, 1), repeat=r) if 2 * sum(code) == r]


def _product(x: Arithmetic, mine: Code, its: Code, B: int) -> Any:
    """<u_i, v_j> for u = -B code and v = B + u."""
    return sum(x.number(-B * m) * (B - B * t) for m, t in zip(mine, its, strict=True))


def _least_length(count: int) -> int:
    """The smallest even r with binom(r, r/2) >= count."""
    return next(r for r in itertools.count(2, 2) if math.comb(r, r // 2) >= count)


def _inverse_gap(x: Arithmetic, N: int, M: int, c: int, b: int) -> Any:
    """|1/A - 1/(A+E)| if own scores are -C^2 = -c and cross scores C^2 - B^2 = c - b."""
    A, E = M * x.weight(-c), (N - M) * x.weight(c - b)
    return 1 / A - 1 / (A + E)


def _row_error(x: Arithmetic, N: int, M: int, c: int, b: int) -> Any:
    """The row's error in that case, own values 1 and cross values -1: |(A - E)/(A + E) - 1|."""
    A, E = M * x.weight(-c), (N - M) * x.weight(c - b)
    return abs((A - E) / (A + E) - 1)


def _zero_row(x: Arithmetic, b: int) -> Any:
    """The absolute error of a row whose own output is 0: own values 1 and -1, two cross values 1, scores 0."""
    return 2 * x.weight(-b) / (2 + 2 * x.weight(-b))


_BOUNDS = grid(lambda N, M, c, b: M <= N, N=[2, 3], M=[1, 2], c=[0, 1, 2], b=[4, 8])
_DISPLAY = "Theorem 4.2/error-of-a-row", "Theorem 4.2/error-share", "Theorem 4.2/error-weights"

ENTRIES = [
    Entry(
        id="Theorem 4.2 / C.2",
        restatement="N/M instances of M tokens are simulated by one call of O(N) tokens and O(N/M) matrix products.",
        parts=["C.2.bounds", "C.2.codes", "C.2.concat", "C.2.error"],
        repair="The error is absolute; embedding dimension O(d + log(N/M)); 3N/M products of size M x d x d.",
        evidence=["Theorem 4.2/codes-coordinate", "Theorem 4.2/codes-distinct", *_DISPLAY],
        survives="With the smaller absolute error 2C (N-M)/M exp(2C^2 - B^2) for a row.",
        depends=["§1.1.e", "§1.1.d"],
    ),
    Entry(
        id="C.2.bounds",
        restatement="Bounded tokens and matrices give scores between -C^2 and C^2 and values of norm at most C.",
        readings=[
            Reading(
                "<q, k>^2 is at most ||q||^2 ||k||^2",
                grid(q=[(1, 0), (1, 2), (-2, 1)], k=[(0, 1), (2, 1), (3, -1)]),
                lambda x, q, k: x.number(sum(a * b for a, b in zip(q, k, strict=True)) ** 2),
                lambda x, q, k: x.number(sum(a * a for a in q) * sum(b * b for b in k)),
                "<=",
            )
        ],
    ),
    Entry(
        id="C.2.codes",
        restatement="Codes with half zeros: <u_i, v_i> = 0 and <u_i, v_j> <= -B^2 for i ≠ j, of length O(log(N/M)).",
        readings=[
            Reading(
                "<u_i, v_i> is 0",
                grid(mine=[code for r in (2, 4) for code in _codes(r)], B=[1, 3]),
                lambda x, mine, B: _product(x, mine, mine, B),
                lambda x, mine, B: x.number(0),
            ),
            Reading(
                "<u_i, v_j> is at most -B^2",
                [
                    {"mine": mine, "its": its, "B": B}
                    for B in (1, 3)
                    for r in (2, 4)
                    for mine, its in itertools.permutations(_codes(r), 2)
                ],
                _product,
                lambda x, mine, its, B: x.number(-(B**2)),
                "<=",
            ),
            Reading(
                "the least even r with binom(r, r/2) >= N/M is at most 2 log2(N/M) + 2",
                grid(count=[1, 2, 3, 6, 7, 20, 64, 1000]),
                lambda x, count: _least_length(count),
                lambda x, count: 2 * (count - 1).bit_length() + 2,
                "<=",
            ),
        ],
        note="r has to be even.",
        evidence=["Theorem 4.2/codes-coordinate", "Theorem 4.2/codes-distinct"],
    ),
    Entry(
        id="C.2.concat",
        restatement="Queries and keys are extended by the codes, d' = d + r, and put side by side with the values.",
        readings=[
            Reading(
                "[Q, K, V] has 3d' columns",
                grid(d=[1, 2], r=[2, 4]),
                lambda x, d, r: 3 * (d + r),
                lambda x, d, r: 2 * (d + r) + d,
                "=",
                Slip("The values have d columns, no codes: [Q, K, V] is 2d' + d wide.", Affects.NOTHING),
            )
        ],
        note="d' = O(d) needs log(N/M) = O(d), which §1.1.a does not give: it bounds d from above only. The products "
        "that "
        "form Q, K and V are exactly 3N/M.",
        repair="2d' + d columns, or values padded by zeros; O(d + log(N/M)).",
        evidence=["Theorem 4.2/codes-distinct"],
        depends=["§1.1.a"],
    ),
    Entry(
        id="C.2.error",
        restatement="The cross terms change an output by at most NC exp(2C^2-B^2)(1+exp(C^2))/M.",
        readings=[
            Reading(
                "|1/A - 1/(A+E)| is at most N exp(2C^2 - B^2)/M^2, at the extreme scores, c = C^2 and b = B^2",
                _BOUNDS,
                _inverse_gap,
                lambda x, N, M, c, b: N * x.weight(2 * c - b) / M**2,
                "<=",
                Slip(
                    "A is at least M exp(-C^2), so that 1/A^2 is exp(2C^2)/M^2, not exp(C^2)/M^2: the exponent has "
                    "to be "
                    "3C^2 - B^2.",
                    Affects.PROOF,
                ),
            ),
            Reading(
                "the printed total, for C = 1 on the values, is at least the error at the extreme scores",
                _BOUNDS,
                lambda x, N, M, c, b: N * x.weight(2 * c - b) * (1 + x.weight(c)) / M,
                _row_error,
                ">=",
            ),
            Reading(
                "a row's error is at most ε times its norm, as §1.1.e asks, for a row whose output is 0",
                grid(b=[1, 2, 4]),
                _zero_row,
                lambda x, b: x.number(0),
                "<=",
                Slip(
                    "The error is bounded absolutely. Where own values cancel no B makes it relative.",
                    Affects.STATEMENT,
                ),
            ),
        ],
        repair="N exp(3C^2 - B^2)/M^2 in the display; directly, 2C (N-M)/M exp(2C^2 - B^2) for the row; state the "
        "error as "
        "absolute.",
        evidence=_DISPLAY,
        survives="The printed total is true as an absolute bound.",
        depends=["§1.1.e"],
    ),
]
