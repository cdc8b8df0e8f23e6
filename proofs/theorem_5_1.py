"""Theorem 5.1 / D.1: both window schedules meet every key of the window and every sink once, for all N, M, r, s.

Suffix and prefix: SINKS, PREFIX with the sinks in the same call, and SUFFIX calls meet every allowed pair exactly
once. Difference: what LEAD calls meet and LAG calls do not is the window, and LAG meets nothing else; their sums
are subtracted. The sink keys of a PREFIX or LEAD call are seen by all its queries, which are positions s and later.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import z3

from proofs.coverage import covers, is_division, meets
from proofs.exact import Witness, evaluate
from proofs.obligation import Difference, Hypothesis, Kind, Mutant, Obligation
from proofs.schedule_proofs import LIFTING, Division, Meeting, PartProof, ScheduleProof, moved, never
from proofs.schedule_replay import Allowed, replayed
from twoheads import theorem_5_1
from twoheads.schedules import CallFamily, Part, Sizes
from twoheads.theorem_5_1 import LAG, LEAD, PREFIX, SINKS, SUFFIX

__all__ = ["obligations"]

ITEM = "Theorem 5.1"

N, r, s, i, j = z3.Ints("N r s i j")
n, T, G, T_behind, G_behind, M = z3.Ints("n T G T_behind G_behind M")
c, g, c2, g2, p, q = z3.Ints("c g c2 g2 p q")

WINDOW = Hypothesis("window", z3.And(r >= 1, s >= 0, s <= N), "r >= 1 and 0 <= s <= N")
BEHIND = Sizes(N, n, T_behind, r, s, G_behind)
GROUPED = Sizes(N, n, T, r, s, G)
CHUNKED = Sizes(N, n, T, r, s)


def obligations() -> Iterator[Obligation]:
    """Coverage of both schedules and their counts."""
    yield from SUFFIX_AND_PREFIX.obligations()
    yield LEADING.exists()
    yield LEADING.once(LEADING.parts[0], LEADING.parts[0])
    yield from _difference()
    yield from _counts()


def _allowed(i: Any, j: Any) -> Any:
    """Definition 2.5, for the keys that are no sinks; and for queries among the sinks, whose keys are all sinks."""
    return z3.And(j <= i, z3.Or(z3.And(i < s, j < s), z3.And(i >= s, j >= s, j > i - r)))


def _judge(witness: Witness) -> Allowed:
    r, s = int(witness["r"]), int(witness["s"])
    return lambda i, j: j <= i and (i - r < j or j < s)


def _ints(witness: Witness, *names: str) -> list[int]:
    return [int(witness[name]) for name in names]


def _concrete(witness: Witness, families: Sequence[CallFamily]) -> list[Part]:
    N, r, s, T, G, T_behind, G_behind = _ints(witness, "N", "r", "s", "T", "G", "T_behind", "G_behind")
    sizes = [Sizes(N, s, 1, s=s), Sizes(N, 0, T, r, s, G), Sizes(N, 0, T_behind, r, s, G_behind)]
    parts = [Part(family, own) for family, own in zip(families, sizes, strict=True)]
    return parts if s else parts[1:]


def _prefix_places(where: Meeting) -> dict[str, Division]:
    (call,), (group, row) = where.call, where.row
    return {"group": Division(r, call * G + group, row), "call": Division(G, call, group)}


def _suffix_places(where: Meeting) -> dict[str, Division]:
    (call,), (group, row) = where.call, where.row
    return {
        "group": Division(r, call * G_behind + group + 1, r - 2 - row),
        "call-behind": Division(G_behind, call, group),
    }


SUFFIX_AND_PREFIX = ScheduleProof(
    item=ITEM,
    prefix="coverage",
    scope="all N >= 1, r >= 1, 0 <= s <= N, any number of groups a call",
    sizes=[
        WINDOW,
        Hypothesis("groups", z3.And(G >= 1, G_behind >= 1), "a call holds at least one group"),
        Hypothesis("prefix-calls", covers(T, G * r, N - s), "T calls of G groups cover the queries after the sinks"),
        Hypothesis(
            "suffix-calls",
            z3.And(T_behind >= 0, T_behind * (G_behind * r) >= N - s - r),
            "enough calls for the queries whose window reaches into the group before theirs",
        ),
    ],
    allowed=_allowed,
    places=[
        Hypothesis("group-place", z3.Implies(i >= s, is_division(i - s, q, p, r)), "i is row p of group q after s"),
        Hypothesis("call-place", is_division(q, c, g, G), "group q is group g of PREFIX call c"),
        Hypothesis("behind-place", is_division(q - 1, c2, g2, G_behind), "group q-1 is group g2 of SUFFIX call c2"),
    ],
    parts=[
        PartProof(
            "sinks",
            SINKS,
            Sizes(N, s, z3.IntVal(1), s=s),
            Meeting((z3.IntVal(0),), (i,), (j,)),
            lambda _: {},
            {"exists": ("without", "keys-later", "queries-later"), "only": ("keys-later", "queries-earlier")},
        ),
        PartProof(
            "prefix",
            PREFIX,
            GROUPED,
            Meeting((c,), (g, p), (g, p - (i - j))),
            _prefix_places,
            {
                "exists": ("without", "block-skipped", "keys-later", "queries-later"),
                "only": ("keys-later", "keys-earlier", "queries-earlier"),
                "once": ("overlapping",),
                "once-sinks": ("rows-earlier",),
            },
        ),
        PartProof(
            "suffix",
            SUFFIX,
            BEHIND,
            Meeting((c2,), (g2, r - 2 - p), (g2, i - j - p - 1)),
            _suffix_places,
            {
                "exists": ("without", "block-skipped", "keys-later", "queries-later"),
                "only": ("keys-earlier", "queries-later"),
                "once": ("overlapping",),
                "once-prefix": ("keys-later",),
            },
        ),
    ],
    concrete=_concrete,
    judge=_judge,
    small=z3.And(N <= 9, r <= 4, G == 1, G_behind == 1),
    i=i,
    j=j,
    N=N,
)


def _chunks(witness: Witness, families: Sequence[CallFamily]) -> list[Part]:
    """LEAD calls of the first family and LAG calls of the second, if given, after the sinks' own."""
    N, r, s, n, T = _ints(witness, "N", "r", "s", "n", "T")
    lead, lag = (*families, LAG)[:2]
    sizes = Sizes(N, n, T, r, s)
    sinks = [Part(SINKS, Sizes(N, s, 1, s=s))] if s else []
    return [Part(lead, sizes), Part(lag, sizes), *sinks]


CHUNKS = [
    WINDOW,
    Hypothesis("chunk", n > r, "a call holds the r keys before its chunk and a chunk of at least one query"),
    Hypothesis("chunks", covers(T, n - r, N - s), "T chunks of n - r queries cover the positions after the sinks"),
]
_FIRST = s + c * (n - r) - r  # where the keys of call c begin


def _lead_places(where: Meeting) -> dict[str, Division]:
    (call,), (row,) = where.call, where.row
    return {"chunk": Division(n - r, call, row - r)}


LEADING = ScheduleProof(
    item=ITEM,
    prefix="difference-lead",
    scope="all N >= 1, r >= 1, 0 <= s <= N, n > r",
    sizes=CHUNKS,
    allowed=lambda i, j: z3.And(i >= s, j >= s, j <= i, j > i - r),
    places=[Hypothesis("chunk-place", is_division(i - s, c, p, n - r), "i is row p of chunk c after the sinks")],
    parts=[
        PartProof(
            "lead",
            LEAD,
            CHUNKED,
            Meeting((c,), (p + r,), (j - _FIRST,)),
            _lead_places,
            {"exists": ("without", "block-skipped", "keys-later", "queries-later"), "once": ("overlapping",)},
        )
    ],
    concrete=_chunks,
    judge=_judge,
    small=z3.And(N <= 9, r <= 4, n <= 7),
    i=i,
    j=j,
    N=N,
)


def _difference() -> Iterator[Obligation]:
    """What LEAD meets and LAG does not is the window; LAG meets nothing that LEAD does not."""
    row, column = z3.Ints("row column")
    lead = meets(LEAD, CHUNKED, (c,), (row,), (column,), i, j)
    lag = meets(LAG, CHUNKED, (c,), (row,), (column,), i, j)
    small = Hypothesis("positions", z3.And(N >= 1, LEADING.small), "sizes that are quick to replay")
    scope = LEADING.scope
    before = [Hypothesis("positions", N >= 1, "there is a position"), *CHUNKS]

    def mutant(name: str, words: str, family: CallFamily, goal: Any) -> Mutant:
        def replay(witness: Witness) -> Difference:
            schedule = _chunks(witness, [LEAD, family])
            return replayed(schedule, schedule[0].sizes.N, _judge(witness))

        return Mutant(name, words, replay, goal, [small])

    def left(family: CallFamily) -> Any:
        return z3.Xor(j > i - r, meets(family, CHUNKED, (c,), (row - r,), (column,), i, j))

    yield Obligation(
        item=ITEM,
        name="difference-window",
        kind=Kind.COVERAGE,
        scope=scope,
        hypotheses=[*before, Hypothesis("lead", lead, "a LEAD call meets (i, j)")],
        goal=left(LAG),
        proves="of the pairs that LEAD calls meet, LAG calls meet exactly those outside the window",
        lifting=LIFTING,
        mutants=[
            mutant("lag-left-out", "nothing is subtracted", never(LAG), left(never(LAG))),
            mutant("lag-keys-later", "LAG keys one position later", moved(LAG, keys=1), left(moved(LAG, keys=1))),
            mutant("lag-keys-earlier", "LAG keys one earlier", moved(LAG, keys=-1), left(moved(LAG, keys=-1))),
            mutant("lag-queries-later", "LAG queries one later", moved(LAG, queries=1), left(moved(LAG, queries=1))),
        ],
    )
    inside = z3.And(meets(LEAD, CHUNKED, (c,), (row + r,), (column,), i, j), j <= i - r)
    stray = moved(LAG, queries=-1)
    stray_met = Hypothesis("lag", meets(stray, CHUNKED, (c,), (row,), (column,), i, j), "a false LAG call meets (i, j)")
    straying = mutant("lag-queries-earlier", "LAG queries one earlier", stray, inside)
    yield Obligation(
        item=ITEM,
        name="difference-lag",
        kind=Kind.COVERAGE,
        scope=scope,
        hypotheses=[*before, Hypothesis("lag", lag, "a LAG call meets (i, j)")],
        goal=inside,
        proves="a pair that a LAG call meets is met by the LEAD call of the same index, so that it is subtracted once",
        lifting=LIFTING,
        mutants=[Mutant(straying.name, straying.flaw, straying.replay, straying.goal, [small, stray_met])],
    )


def _counts() -> Iterator[Obligation]:
    """PREFIX calls against N/M, for the largest number of groups that fits a call."""
    filled = z3.Int("filled")  # G r, the positions of a call
    sizes = Hypothesis("length", z3.And(M >= r + s + 1, N >= M, r >= 1, s >= 0), "r + s <= M-1 and M <= N")
    fit = Hypothesis(
        "groups", z3.And(filled >= r, filled > M - 1 - s - r), "a call holds a group, and has no room for one more"
    )
    fill = r * M <= (2 * r + s) * filled
    yield _monotone_product()
    yield Obligation(
        item=ITEM,
        name="count-filled",
        kind=Kind.COUNT,
        scope="all r >= 1, s >= 0, r + s <= M-1",
        hypotheses=[sizes, fit],
        goal=fill,
        proves="M/(G r) is at most 2 + s/r",
        mutants=[
            Mutant(
                "half-full",
                "M/(G r) at most 1 + s/r",
                lambda w: _excess_of(r * M - (r + s) * filled, w),
                r * M <= (r + s) * filled,
            )
        ],
    )
    monotone = z3.And(
        *(
            z3.Implies(z3.And(x <= y, k >= 0), x * k <= y * k)
            for x, y, k in [
                (r * M, (2 * r + s) * filled, T - 1),
                ((T - 1) * filled, N, 2 * r + s),
                (M, N, r),
            ]
        )
    )
    calls = Hypothesis("calls", z3.And(T >= 1, (T - 1) * filled < N - s), "T-1 calls do not cover N - s positions")

    def excess(witness: Witness) -> Difference:
        N, M, r, s = _ints(witness, "N", "M", "r", "s")
        made = next(part for part in theorem_5_1.schedule(N, M, r, s) if part.family is PREFIX).calls
        over = Fraction(made * M, N) - 2 - Fraction(s, r)
        return Difference(max(over, Fraction(0)), float(over))

    yield Obligation(
        item=ITEM,
        name="count-prefix",
        kind=Kind.COUNT,
        scope="all r >= 1, s >= 0, r + s <= M-1, M <= N",
        hypotheses=[
            sizes,
            Hypothesis("filled", fill, "what count-filled proves"),
            Hypothesis("monotone", monotone, "instances of Theorem 5.1/monotone-product"),
            calls,
        ],
        goal=r * (M * T) <= (3 * r + s) * N,
        proves="PREFIX calls are at most (3 + s/r) N/M",
        depends_on=[f"{ITEM}/count-filled", f"{ITEM}/monotone-product"],
        mutants=[
            Mutant(
                "no-rounding",
                "rounding up is forgotten: (2 + s/r) N/M",
                excess,
                r * (M * T) <= (2 * r + s) * N,
                [
                    Hypothesis("length", z3.And(M == 6, N == 7, r == 3, s == 0), "M = 6, N = 7, r = 3, no sinks"),
                    Hypothesis("calls", covers(T, z3.IntVal(3), N), "T = 7/3 rounded up"),
                ],
            )
        ],
    )


def _monotone_product() -> Obligation:
    x, y, k = z3.Ints("x y k")
    return Obligation(
        item=ITEM,
        name="monotone-product",
        kind=Kind.COUNT,
        scope="all integers",
        hypotheses=[Hypothesis("order", x <= y), Hypothesis("factor", k >= 0)],
        goal=x * k <= y * k,
        proves="an inequality may be multiplied by a number that is not negative",
        mutants=[
            Mutant(
                "any-factor",
                "the factor may be negative",
                lambda w: _excess_of(x * k - y * k, w),
                changed=[Hypothesis("factor", k >= -9)],
            )
        ],
    )


def _excess_of(term: Any, witness: Witness) -> Difference:
    value = Fraction(evaluate(term, witness))
    return Difference(value, float(value))
