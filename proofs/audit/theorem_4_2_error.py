"""C.2.error: what the other instances' weights change, with exp(-B^2) between them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs.audit.entry import Entry
from proofs.audit.literal import Arithmetic
from proofs.audit.reading import Affects, Reading, Slip, grid

__all__ = ["ENTRIES", "ERROR", "EXTREME", "largest_error", "printed_total"]

ERROR = ("Theorem 4.2/error-of-a-row", "Theorem 4.2/error-share", "Theorem 4.2/error-weights")


def _extremes(x: Arithmetic, N: int, M: int, C: int, B: int) -> tuple[Any, Any]:
    """A and E at the least own score, -C^2, and the largest cross score, C^2 - B^2."""
    return M * x.weight(-C * C), (N - M) * x.weight(C * C - B * B)


def _inverse_difference(x: Arithmetic, N: int, M: int, C: int, B: int) -> Any:
    """|1/A - 1/(A+E)|."""
    A, E = _extremes(x, N, M, C, B)
    return 1 / A - 1 / (A + E)


def largest_error(x: Arithmetic, N: int, M: int, C: int, B: int) -> Any:
    """The error of a row there, own values C and the others' -C: 2 C E/(A+E)."""
    A, E = _extremes(x, N, M, C, B)
    return C - (C * A - C * E) / (A + E)


def printed_total(x: Arithmetic, N: int, M: int, C: int, B: int) -> Any:
    """N C exp(2C^2 - B^2) (1 + exp(C^2)) / M."""
    return N * C * x.weight(2 * C * C - B * B) * (1 + x.weight(C * C)) / M


EXTREME = grid(lambda N, M, C, B: N % M == 0 and N > M and B > C, N=[2, 4], M=[1, 2], C=[1, 2, 3], B=[2, 3, 4, 5])

ENTRIES = [
    Entry(
        id="C.2.error",
        restatement="The cross terms change 1/sum a by at most N exp(2C^2-B^2)/M^2, and a row by at most NC "
        "exp(2C^2-B^2) (1 + exp(C^2))/M, which a B <= poly(N) makes O(2^-N).",
        readings=[
            Reading(
                "|1/A - 1/(A+E)| is at most N exp(C^2 - B^2)/(M^2 exp(-C^2)) at A = M exp(-C^2), E = (N-M) "
                "exp(C^2 - B^2)",
                EXTREME,
                _inverse_difference,
                lambda x, N, M, C, B: N * x.weight(2 * C * C - B * B) / x.number(M * M),
                "<=",
                Slip(
                    "A(A + E) is at least M^2 exp(-2C^2), not M^2 exp(-C^2): the exponent has to be 3C^2 - B^2, and "
                    "the first summand of the total 4C^2 - B^2.",
                    Affects.PROOF,
                    theorem="C_2_error_bound_is_too_small",
                ),
            ),
            Reading(
                "the two summands of the total, as printed, add up to NC exp(2C^2-B^2) (1 + exp(C^2))/M",
                EXTREME,
                lambda x, N, M, C, B: (
                    M * x.weight(C * C) * C * N * x.weight(2 * C * C - B * B) / M**2
                    + N * C * x.weight(C * C - B * B) / (M * x.weight(-C * C))
                ),
                printed_total,
            ),
            Reading(
                "the total bounds the error of a row with these weights, own values C and all others -C",
                EXTREME,
                largest_error,
                printed_total,
                "<=",
            ),
            Reading(
                "B = 2C + N, which is poly(N), makes it at most 2^-N (for e by 2 in its place)",
                grid(lambda N, M, C: M <= N, N=range(1, 12), M=[1, 2, 3], C=[1, 2, 3]),
                lambda x, N, M, C: printed_total(x, N, M, C, 2 * C + N),
                lambda x, N, M, C: x.number(Fraction(1, 2**N)),
                "<=",
            ),
        ],
        remarks=[
            Reading(
                "with 3C^2 - B^2 in the exponent the first bound holds there",
                EXTREME,
                _inverse_difference,
                lambda x, N, M, C, B: N * x.weight(3 * C * C - B * B) / x.number(M * M),
                "<=",
            )
        ],
        note="The total is true although its derivation is not: the corrected first bound would give exp(4C^2 - B^2), "
        "and another way of putting the terms together gives less than the printed total. The number of cross terms "
        "is N - M. The error is absolute, see the theorem.",
        repair="3C^2 - B^2 in the first line; for the total, 2C E/(A + E) <= 2C (N-M)/M exp(2C^2 - B^2), which is "
        "below the printed one.",
        evidence=ERROR,
        survives="Yes, the printed total included.",
        depends=["C.2.bounds", "C.2.codes", "§1.1.e"],
    ),
]
