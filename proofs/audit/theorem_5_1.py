"""Theorem 5.1 / D.1: sliding windows and sinks, cut into chunks."""

from __future__ import annotations

from fractions import Fraction

from proofs.audit.claim_b_6 import PREFIX_CALL
from proofs.audit.entry import Entry
from proofs.audit.literal import integer_columns
from proofs.audit.reading import Affects, Reading, Slip, grid
from proofs.audit.theorem_3_4 import a_call_for_each_layer, a_token_for_the_mlp
from proofs.audit.theorem_5_1_calls import DIFFERENCE, LEAD, ROWS, SINKS, allowed_sum, key_sum

__all__ = ["ENTRIES"]


def _chunk(k: int, M: int, r: int) -> range:
    """S'_{k+1}: the next M - r positions after the first r."""
    return range(r + 1 + k * (M - r), r + 1 + (k + 1) * (M - r))


ENTRIES = [
    Entry(
        id="Theorem 5.1 / D.1",
        restatement="Windows of constant size, and sinks, take O(N/M HL/(H'L')) calls to a causal oracle of embedding "
        "dimension O(dH'L'/H).",
        readings=[
            a_call_for_each_layer(
                1, "As in Theorem 3.4: the count needs H'L' <= H N/M.", "D_1_fewer_calls_than_layers"
            ),
            a_token_for_the_mlp(
                "As in Theorem 3.4: if H'L' is much less than H, a token is too narrow.", "D_1_token_is_too_narrow"
            ),
        ],
        remarks=[
            Reading(
                "for M >= 2r the chunks, (N-r)/(M-r) of them, are at most 2 N/M",
                grid(lambda N, M, r: 2 * r <= M <= N, N=range(2, 20), M=range(2, 20), r=range(1, 8)),
                lambda x, N, M, r: Fraction(N - r, M - r),
                lambda x, N, M, r: 2 * Fraction(N, M),
                "<=",
            ),
            Reading(
                "for r = M - 1 they are N - M + 1: r has to be a constant, or at most a part of M",
                grid(lambda N, M: M <= N, N=range(2, 20), M=range(2, 20)),
                lambda x, N, M: Fraction(N - (M - 1), M - (M - 1)),
                lambda x, N, M: N - M + 1,
            ),
        ],
        note="A window with its sinks and the synthetic token has to fit a call: r + s <= M - 1.",
        repair="Two calls a chunk, sums that begin at the chunk's first key, the sink keys in the same call; or "
        "suffixes and prefixes of groups of r keys; r + s <= M - 1; H'L' <= H N/M, embedding dimension O(d + dH'L'/H).",
        evidence=[
            *DIFFERENCE,
            *SINKS,
            "Theorem 5.1/count-filled",
            "Theorem 5.1/count-prefix",
            "Theorem 3.4/layers-step",
        ],
        survives="For all r >= 1, s >= 0 with r + s <= M - 1: at most (3 + s/r) N/M calls of each of two kinds and one "
        "for the sinks' own queries; exact, without a subtraction.",
        parts=["5.sketch", "D.1.difference", "D.1.first", "D.1.chunks", "D.1.calls", "D.1.sinks"],
        depends=["Claim B.6", "Definition 2.4", "Definition 2.5", "Theorem 3.4 / B.4"],
    ),
    Entry(
        id="5.sketch",
        restatement="The scores of M - r consecutive queries fit in one M x M block, which one call covers; sinks take "
        "O(N/M) further calls.",
        readings=[
            Reading(
                "the keys in the windows of M - r consecutive queries, i-r+1, ..., i each, are at most M",
                grid(lambda M, r: r < M, M=range(2, 8), r=range(1, 7)),
                lambda x, M, r: len({j for i in range(r + 1, M + 1) for j in range(i - r + 1, i + 1)}),
                lambda x, M, r: M,
                "<=",
            )
        ],
        remarks=[
            Reading(
                "they are M - 1, so that the synthetic token has a place",
                grid(lambda M, r: r < M, M=range(2, 8), r=range(1, 7)),
                lambda x, M, r: len({j for i in range(r + 1, M + 1) for j in range(i - r + 1, i + 1)}),
                lambda x, M, r: M - 1,
            ),
            Reading(
                "the causal call also weighs keys that have left the window (r = 1, weights a, query 2), so that one "
                "call covers the block and not yet the window",
                grid(a=[(1, 1)]),
                lambda x, a: key_sum(x, a, 1, 2),
                lambda x, a: key_sum(x, a, 2, 2),
                "!=",
            ),
        ],
        evidence=[*LEAD, "Theorem 5.1/count-prefix"],
        survives="With two calls a chunk; the sinks need one further call in all.",
        depends=["D.1.chunks", "D.1.sinks"],
    ),
    Entry(
        id="D.1.difference",
        restatement="For i >= r+1 the window's sum is the sum up to i less the sum up to i-r, for a and for b.",
        readings=[
            Reading(
                "sum_{j=i-r+1..i} = sum_{j=1..i} - sum_{j=1..i-r}, signs allowed",
                grid(
                    lambda a, i, r: r + 1 <= i <= len(a),
                    a=[a for n in (2, 3, 4) for a in integer_columns(n, (-1, 2))],
                    i=[2, 3, 4],
                    r=[1, 2, 3],
                ),
                lambda x, a, i, r: key_sum(x, a, 1, i) - key_sum(x, a, 1, i - r),
                lambda x, a, i, r: key_sum(x, a, i - r + 1, i),
            )
        ],
        remarks=[
            Reading(
                "in float64, beside a weight of 2^60 that has left the window, a weight of 1 in it is lost",
                grid(a=[(2**30, 1)]),
                lambda x, a: (float(a[0]) ** 2 + a[1]) - float(a[0]) ** 2,
                lambda x, a: 0.0,
            )
        ],
        evidence=["Theorem 5.1/difference-window", "Theorem 5.1/difference-lag"],
        survives="Over the reals.",
        depends=["Definition 2.4"],
    ),
    Entry(
        id="D.1.first",
        restatement="For the first r queries the sums of a and b come from two calls, as in B.5.",
        readings=[
            Reading(
                "sum_{j=1..r} is what query i <= r sees",
                grid(lambda a, i, r: i <= r <= len(a), a=ROWS, i=[1, 2, 3], r=[1, 2, 3]),
                lambda x, a, i, r: key_sum(x, a, 1, r),
                lambda x, a, i, r: allowed_sum(x, a, i, r, 0),
                slip=Slip(
                    "For i < r the sum has to end at i.", Affects.NOTHING, theorem="D_1_first_as_printed_is_wrong"
                ),
            ),
            Reading(
                "the r tokens and the synthetic one fit a call of M for r < M",
                grid(lambda M, r: r < M, M=range(2, 8), r=range(1, 7)),
                lambda x, M, r: r + 1,
                lambda x, M, r: M,
                "<=",
            ),
        ],
        repair="sum_{j=1..i}.",
        evidence=[PREFIX_CALL],
        survives="Yes, for r <= M - 1.",
        depends=["Claim B.6", "B.5.first"],
    ),
    Entry(
        id="D.1.chunks",
        restatement="The queries after r are cut into chunks of M - r: {r+1, ..., M}, {M+1, ..., 2M-r}, ...",
        readings=[
            Reading(
                "the chunks hold M - r positions and follow one another up to N, if M - r divides N - r",
                grid(
                    lambda N, M, r: r < M <= N and (N - r) % (M - r) == 0,
                    N=range(2, 14),
                    M=range(2, 8),
                    r=range(1, 7),
                ),
                lambda x, N, M, r: [i for k in range((N - r) // (M - r)) for i in _chunk(k, M, r)],
                lambda x, N, M, r: list(range(r + 1, N + 1)),
            ),
            Reading(
                "the first two are {r+1, ..., M} and {M+1, ..., 2M-r}",
                grid(lambda M, r: r < M, M=range(2, 8), r=range(1, 7)),
                lambda x, M, r: [list(range(r + 1, M + 1)), list(range(M + 1, 2 * M - r + 1))],
                lambda x, M, r: [list(_chunk(0, M, r)), list(_chunk(1, M, r))],
            ),
        ],
        note="Otherwise the last chunk is shorter. M - r queries are as many as fit: their windows hold M - 1 keys.",
        evidence=LEAD,
        survives="Yes, for r < M.",
        depends=["5.sketch"],
    ),
]
