"""B.5.first, B.5.second and B.5.second-values: the calls of Theorem 3.5, run as they are displayed."""

from __future__ import annotations

from typing import Any

from proofs.audit.claim_b_6 import PREFIX_CALL
from proofs.audit.displays import SECOND_K, SECOND_Q, SECOND_V
from proofs.audit.entry import Entry, bounded_check
from proofs.audit.lemma_3_1_calls import FLAGGED
from proofs.audit.literal import EXACT, Arithmetic, integer_columns, solvable
from proofs.audit.reading import Affects, Reading, Slip, grid
from proofs.evidence import ExactCases

__all__ = ["ENTRIES"]

Block = tuple[int, ...]


def _off_call(x: Arithmetic, X: Block, first: bool) -> Any:
    """B.1.off's call on a block X of queries and keys (d = 1) under a causal mask, synthetic token last or first."""
    data, synthetic = [[entry, 1, 1] for entry in X], [[0, 1, 0]]
    tokens = x.array([*synthetic, *data] if first else [*data, *synthetic])
    R = x.call(tokens[:, :2], tokens[:, :2], tokens[:, 2:], causal=True)[:, 0]
    R = R[1:] if first else R[:-1]
    return R / (1 - R)


def _prefixes(x: Arithmetic, X: Block) -> Any:
    """sum_{q <= p} a_{p,q} within a block, a_{p,q} = exp(x_p x_q)."""
    return [sum(x.weight(p * q) for q in X[: k + 1]) for k, p in enumerate(X)]


def _second_rows(x: Arithmetic, X: Block, Y: Block) -> Any:
    """Rows of B.5.second for a block X of queries and a block Y of keys (d = 1), as printed."""
    shifted = zip(X[-2::-1], Y[:0:-1])
    return x.array([(X[-1], 0), *shifted, (0, Y[0])])


def _second_call(x: Arithmetic, X: Block, Y: Block, drop: bool = False) -> Any:
    """A^(2) recovered from the printed call, by query from the first to the last."""
    sizes = {"M": len(X), "d": 1}
    rows, V = _second_rows(x, X, Y), SECOND_V.build(x, sizes)
    if drop:
        rows, V = rows[:-1], V[:-1]
    Q, K = (rows @ W.build(x, sizes, W=x.eye(1)) for W in (SECOND_Q, SECOND_K))
    R = x.call(Q, K, V, causal=True)[: len(X), 0][::-1]
    return R / (1 - R)


def _second_due(x: Arithmetic, X: Block, Y: Block) -> Any:
    """sum over q > p of exp(x_p y_q)."""
    return [sum((x.weight(p * q) for q in Y[k + 1 :]), x.number(0)) for k, p in enumerate(X)]


def _printed_range(x: Arithmetic, X: Block, Y: Block) -> Any:
    """Sum over j = i+1, ..., t'M with t' = 1, t = 2: absolute i and j."""
    M = len(X)
    return [sum((x.weight(p * Y[j - 1]) for j in range(M + k + 2, M + 1)), x.number(0)) for k, p in enumerate(X)]


def _row_of_attention(x: Arithmetic, v: Block, shifted: bool | None) -> Any:
    """Row i = 3 for N = 4, M = 2, scores 0: put together from halves; None is attention itself.

    The second half of block 1 at the first query comes from the display of B.5.second-values, unshifted, or with
    B.5.second's shift and a zero value at the zero key.
    """
    values = [x.number(entry) for entry in v]
    if shifted is None:
        return sum(values[:3]) / 3
    reversed_values = [x.number(0), values[1]] if shifted else [values[1], values[0]]
    zeros = x.full(2, 1, 0)
    out = x.call(zeros, zeros, x.array([[entry] for entry in reversed_values]), causal=True)[1, 0]
    second = out * (1 + 1) if shifted else out * 1  # A^(2) = 1; B^(2)/(A^(2) + 1) if the zero key is there
    return (values[0] + second + values[2]) / 3


def _second_runs() -> ExactCases:
    cases = [(X, Y) for M in (1, 2, 3) for X in integer_columns(M, (0, 1)) for Y in integer_columns(M)]
    failures = [f"{c}" for c in cases if _second_call(EXACT, *c, drop=True).tolist() != _second_due(EXACT, *c)]
    return ExactCases("M <= 3", "exact rationals", len(cases), tuple(failures))


SECOND_CALL = bounded_check(
    "B.5.second",
    "without-the-last-token",
    "M <= 3, d = 1",
    "the call without its last token, M tokens, gives the sums over the keys behind the query's place",
    _second_runs,
)


_PAIRS = grid(
    lambda X, Y: len(X) == len(Y),
    X=[X for M in (2, 3) for X in integer_columns(M, (0, 1))],
    Y=[Y for M in (2, 3) for Y in integer_columns(M, (0, 1))],
)

ENTRIES = [
    Entry(
        id="B.5.first",
        restatement="A^(1) and B^(1)/A^(1) are computed as in B.1 for t' < t and as in B.6 for t' = t, by the "
        "causal oracle.",
        readings=[
            Reading(
                "B.1's call gives the first halves (queries and keys X, d = 1)",
                grid(X=integer_columns(2)),
                lambda x, X: _off_call(x, X, first=False),
                _prefixes,
                slip=Slip(
                    "B.1 puts the synthetic token last, where a causal oracle hides it from all data tokens: R = 1, "
                    "and A = R/(1 - R) has no value.",
                    Affects.PROOF,
                    theorem="B_5_first_R_is_1",
                ),
            )
        ],
        remarks=[
            Reading(
                "with the synthetic token first it gives the sums over the keys at places up to the query's",
                grid(X=[X for M in (1, 2, 3) for X in integer_columns(M)]),
                lambda x, X: _off_call(x, X, first=True),
                _prefixes,
            )
        ],
        repair="The synthetic token first, as in B.6.",
        evidence=[PREFIX_CALL, "Theorem 3.5/coverage-only-forward", "Theorem 3.5/coverage-once-forward"],
        survives="Yes.",
        depends=["Claim B.6", "B.1.off", "B.5.split"],
    ),
    Entry(
        id="B.5.second",
        restatement="A^(2) by a call on both blocks backwards, the keys one row behind and a zero key first.",
        readings=[
            Reading(
                "row tM-i+1 gives the sum over the keys at places behind the query's (d = 1)",
                _PAIRS,
                _second_call,
                _second_due,
            ),
            Reading(
                "that is the printed sum over j = i+1, ..., t'M (t' = 1, t = 2)",
                _PAIRS,
                _printed_range,
                _second_due,
                slip=Slip(
                    "With the absolute i the printed range is empty; it has to begin at i - (t-t')M + 1.",
                    Affects.NOTHING,
                    theorem="B_5_second_does_not_return_the_printed_half",
                ),
            ),
            Reading(
                "the call has at most M tokens",
                _PAIRS,
                lambda x, X, Y: len(_second_rows(x, X, Y)),
                lambda x, X, Y: len(X),
                "<=",
                Slip("The zero key makes M + 1 rows.", Affects.PROOF, theorem="B_1_block_does_not_fit"),
            ),
            Reading(
                "some W^V gives V' from the rows (d = 1; a column suffices)",
                grid(
                    lambda X, Y: len(X) == len(Y),
                    X=integer_columns(2),
                    Y=integer_columns(2),
                ),
                lambda x, X, Y: solvable(_second_rows(x, X, Y), x.array([[0], *([[1]] * len(X))])),
                lambda x, X, Y: True,
                slip=Slip(
                    "The flag coordinate is missing, as in B.1.diag.",
                    Affects.PROOF,
                    theorem="B_5_second_flag_is_missing",
                ),
            ),
        ],
        repair="Leave the last row out, since no query sees it: M tokens; a flag coordinate; the range as said.",
        evidence=[SECOND_CALL, FLAGGED, "Theorem 3.5/coverage-only-reversed", "Theorem 3.5/coverage-once-reversed"],
        survives="Yes, with M data tokens.",
        depends=["B.5.split", "Lemma A.1"],
    ),
    Entry(
        id="B.5.second-values",
        restatement="B^(2)/A^(2) by a call on both blocks backwards, queries, keys and values in the same rows.",
        readings=[
            Reading(
                "with this call, row 3 of causal attention comes out (N = 4, M = 2, scores 0)",
                grid(v=integer_columns(4, (0, 1))),
                lambda x, v: _row_of_attention(x, v, shifted=False),
                lambda x, v: _row_of_attention(x, v, shifted=None),
                slip=Slip(
                    "Without the shift the query at place p also sees the key at place p, which is in the first half "
                    "already.",
                    Affects.PROOF,
                    theorem="B_5_second_values_as_printed_is_wrong",
                ),
            )
        ],
        remarks=[
            Reading(
                "with the shift, and the output times A^(2) + 1, it does",
                grid(v=integer_columns(4, (0, 1))),
                lambda x, v: _row_of_attention(x, v, shifted=True),
                lambda x, v: _row_of_attention(x, v, shifted=None),
            )
        ],
        repair="The rows of B.5.second with value 0 at the zero key; the call then returns B^(2)/(A^(2) + 1).",
        evidence=[
            "Theorem 3.5/coverage-once-forward-reversed",
            "Theorem 3.5/coverage-only-reversed",
            "Theorem 3.5/small-sizes-causal-repaired",
        ],
        survives="Yes.",
        depends=["B.5.second", "B.5.split"],
    ),
]
