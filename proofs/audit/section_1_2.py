"""§1.2: the statements, and what is said of their tightness and of hierarchical transformers."""

from __future__ import annotations

from fractions import Fraction

import z3

from proofs.audit.entry import Entry
from proofs.audit.reading import Affects, Reading, Slip, grid
from proofs.mutation import replay_of
from proofs.obligation import Assumption, Hypothesis, Kind, Mutant, Obligation

__all__ = ["ENTRIES"]


def _exponent() -> Obligation:
    c, delta, share = z3.Reals("c delta share")
    return Obligation(
        item="§1.2.tight",
        name="exponent",
        kind=Kind.COUNT,
        scope="all c > 0 and 0 < δ < 2c, with M <= N^(1-c)",
        hypotheses=[
            Hypothesis(
                "range", z3.And(c > 0, delta > 0, delta < 2 * c), "N^(2-δ) steps are needed; N/M = N^c at least"
            ),
            Hypothesis("share", share * (2 * c) == delta, "share = δ/(2c), which goes to 0 with δ"),
        ],
        goal=z3.And(2 * c - delta == 2 * c * (1 - share), share > 0, share < 1),
        proves="N^(2-δ)/M^2 is ((N/M)^2)^(1 - δ/(2c)) at M = N^(1-c)",
        mutants=[
            Mutant(
                "half",
                "δ/c in place of δ/(2c)",
                replay_of(2 * c - delta, 2 * c * (1 - share)),
                changed=[Hypothesis("share", share * c == delta)],
            )
        ],
    )


def _log_bound(a: int) -> int:
    """log2 of N^(2-δ)/M^2 for log2 N = 4^a, M = N/log2 N, δ = 1/sqrt(log2 N)."""
    return 4 * a - 2**a


_HARDNESS = Assumption(
    "§1.2.tight",
    "attention-is-hard",
    "Under SETH no algorithm approximates attention with d = O(log N) in time N^(2-q) for a constant q > 0.",
    "Alman and Song 2023, as the paper cites it",
)

ENTRIES = [
    Entry(
        id="Theorem 1.1",
        restatement="Theorems 3.4 and 3.5.",
        parts=["Theorem 3.4 / B.4", "Theorem 3.5 / B.5"],
        repair="As for Theorems 3.4 and 3.5.",
        survives="As Theorems 3.4 and 3.5 do; the pieces are proved separately, and composed by Theorem "
        "3.4/layers-step.",
        depends=["Theorem 3.4 / B.4", "Theorem 3.5 / B.5"],
    ),
    Entry(
        id="Theorem 1.2",
        restatement="Theorem 4.1, informally.",
        parts=["Theorem 4.1 / C.1"],
        repair="As for Theorem 4.1.",
        survives="As Theorem 4.1 does.",
        note="For L > 1 its relative errors would have to compose over layers, see §1.1.e.",
        depends=["Theorem 4.1 / C.1", "§1.1.e"],
    ),
    Entry(
        id="Theorem 1.3",
        restatement="Theorem 4.2.",
        parts=["Theorem 4.2 / C.2"],
        repair="As for Theorem 4.2.",
        survives="As Theorem 4.2 does.",
        depends=["Theorem 4.2 / C.2"],
    ),
    Entry(
        id="Theorem 1.4",
        restatement="Theorem 5.1.",
        parts=["Theorem 5.1 / D.1"],
        repair="As for Theorem 5.1.",
        survives="As Theorem 5.1 does.",
        depends=["Theorem 5.1 / D.1", "Claim B.6"],
    ),
    Entry(
        id="§1.2.tight",
        restatement="T calls take time about T M^2, and attention needs N^(2-o(1)) under SETH; hence T >= "
        "((N/M)^2)^(1-o(1)).",
        readings=[
            Reading(
                "T M^2 >= N^(2-δ) gives log2 T >= 1 in all of §1.1.a's regime (log2 N = 4^a, M = N/log2 N, δ = 2^-a)",
                grid(a=range(1, 9)),
                lambda x, a: _log_bound(a),
                lambda x, a: 1,
                ">=",
                Slip(
                    "For M = N^(1-o(1)) the loss N^o(1) is not a small power of N/M: at M = N/log N the derived "
                    "bound falls below one call, while (N/M)^2 = log^2 N grows.",
                    Affects.STATEMENT,
                    theorem="tight_bound_is_none",
                ),
            )
        ],
        note="The lower bound on attention (Alman and Song 2023, under SETH) is cited, not checked. The argument "
        "also needs MLPs that take about M steps for M tokens, and numbers of O(log N) bits, so it is no bound on "
        "exact simulation in unlimited precision. The cited bound is for any Q, K and V, which XW^Q, XW^K and XW^V "
        "are for an embedding dimension of three times theirs.",
        repair="M <= N^(1-c) for a constant c > 0; the loss in the exponent is then δ/(2c).",
        evidence=[_exponent(), _HARDNESS],
        survives="Conditionally on SETH, for M <= N^(1-c).",
        depends=["§1.1.a"],
    ),
    Entry(
        id="§1.2.hierarchical",
        restatement="Hierarchical transformers get a guarantee from Theorem 1.2 on inputs that satisfy its "
        "assumptions.",
        not_checkable="no formal statement is made",
        remarks=[
            Reading(
                "attention within chunks is not what Theorem 1.2 computes (N = 4, M = 2, scores 0, values 1, 1, 0, "
                "0; C = 1, D = 1/2)",
                grid(v=[(1, 1, 0, 0)]),
                lambda x, v: [x.number(sum(chunk)) / 2 for chunk in (v[:2], v[2:])],
                lambda x, v: [x.number(sum(v)) / 4] * 2,
                "!=",
            ),
            Reading(
                "these values satisfy the premise D N max|b| <= |sum b|",
                grid(v=[(1, 1, 0, 0)]),
                lambda x, v: Fraction(1, 2) * 4 * max(v),
                lambda x, v: sum(v),
                "<=",
            ),
        ],
        note="Theorem 1.2 pairs chunks of queries with randomly permuted keys.",
        depends=["Theorem 4.1 / C.1"],
    ),
]
