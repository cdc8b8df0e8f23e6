"""Theorem 5.1 / D.1, derived for one head: sliding windows and attention sinks by calls to a causal oracle.

Two ways, as in `twoheads.theorem_5_1`: the difference of two prefix sums within a chunk, and a suffix of one group
of r keys with a prefix of the next. The sinks stand in the same call as the queries.
"""

from __future__ import annotations

from sympy import Expr, Integer

from symbolic.checks import define, follow
from symbolic.derivation import Derivation, Step
from symbolic.on_symbols import Run, simulation_steps
from symbolic.oracle_row import Row, outputs, recovery, weights_of
from symbolic.symbols import a, ell, i, indexed, j, size, total, v
from twoheads.catalogue import Options

__all__ = ["build"]

r, p, f = size("r"), size("p"), size("f")
s, rest, before = (size(name, zero=True) for name in "shb")
start = s + f * r
"""The position before the query's group: the query is at place p of it, i = s + f r + p."""
first = s + before
"""The position before a chunk's keys: its queries start r later, and i = s + b + r + p."""

Y_i, Y_chunk = indexed("Y")[i], indexed("Y'")[i]
product = a[i, j] * v[j]


def _row(number: str, keys: Expr, position: Expr, kind: str, item: str, sinks: Expr | int = 0) -> Row:
    A, B, e, out, R, w = (indexed(f"{name}^{number}") for name in "ABeORw")
    return Row(e[i, ell], Integer(1), keys, position, A[i], B[i], out[i], R[i], w[i], item, kind, sinks)


PREFIX = _row("1", s + p, start + ell - 1 - s, "prefix", "Theorem 5.1", s)
SUFFIX = _row("2", rest, start + 2 - ell, "suffix", "Theorem 5.1")
LEAD = _row("3", s + r + p, first + ell - 1 - s, "lead", "D.1.calls", s)
LAG = _row("4", p, first + ell - 1, "lag", "D.1.calls")


def build() -> Derivation:
    """The derivation.

    Raises:
        StepError: a step does not follow.
    """
    return Derivation(
        "Theorem 5.1",
        "sliding windows and attention sinks from a causal oracle",
        (
            "One head; the weights a_{i,j} = exp(<q_i, k_j>) are positive; numbers of unlimited precision.",
            "The oracle has a causal mask; a call holds one synthetic token of weight a, the s sinks, then keys.",
            "Suffix and prefix: from position s on, groups of r; query i is at place p of its group, h = r - p.",
            "Each group has a call of its own, or the weights between groups of one call are 0 (see Theorem 4.2).",
            "Difference: a chunk's keys follow position s + b, its queries come r later: i = s + b + r + p.",
        ),
        (*_goal(), *_suffix_and_prefix(), *_difference(), *_sinks(), *_runs()),
    )


def _sum(summand: Expr, *ranges: tuple[Expr, Expr]) -> Expr:
    """The sum over positions lo + 1, ..., hi of every range."""
    return sum((total(summand, lo + 1, hi) for lo, hi in ranges), Integer(0))


def _attention(*ranges: tuple[Expr, Expr]) -> Expr:
    return _sum(product, *ranges) / _sum(a[i, j], *ranges)


SINKS = (Integer(0), s)


def _goal() -> tuple[Step, ...]:
    query = start + p
    return (
        define("group", r, p + rest, "Definition 2.4", "The query's place in its group, and the places after it."),
        define(
            "attention",
            Y_i,
            _attention(SINKS, (query - r, query)),
            "Definition 2.5",
            "Sinks and window, for a query at least one group past the sinks: the two do not overlap.",
        ),
        follow(
            "early queries",
            _sum(a[i, j], (Integer(0), s + p)),
            _sum(a[i, j], SINKS, (s, s + p)),
            "Definition 2.5",
            "In the first group after the sinks sinks and window together are all keys so far: the prefix call is "
            "enough there, and counts none twice.",
        ),
    )


def _sums(row: Row, names: tuple[str, str], *ranges: tuple[Expr, Expr]) -> tuple[Step, ...]:
    """A and B of a row named, its weights, and what it returns."""
    weights = weights_of(row)
    what = f"The keys that a row of a {row.kind} call sees."
    return (
        define(names[0], row.A, _sum(a[i, j], *ranges), row.item, what),
        define(names[1], row.B, _sum(product, *ranges), row.item, "The same with the values."),
        weights,
        *outputs(row, weights.name, *names),
        *recovery(row, names[0]),
    )


def _suffix_and_prefix() -> tuple[Step, ...]:
    learnt = tuple(row.named(name) for row in (PREFIX, SUFFIX) for name in ("O", "R", "w"))
    one, two = PREFIX, SUFFIX
    return (
        follow(
            "window in two groups",
            _sum(a[i, j], (start + p - r, start + p)),
            _sum(a[i, j], (start - rest, start), (start, start + p)),
            "Theorem 5.1",
            "A window ends in the query's group and begins in the one before: a suffix and a prefix.",
            "group",
        ),
        *_sums(PREFIX, ("A1", "B1"), SINKS, (start, start + p)),
        *_sums(SUFFIX, ("A2", "B2"), (start - rest, start)),
        follow(
            "attention, suffix and prefix",
            Y_i,
            (one.out / one.w + two.out / two.w) / (one.R / one.w + two.R / two.w),
            "Theorem 5.1",
            "Two calls for each query, and nothing is subtracted.",
            "attention",
            *learnt,
            "A1",
            "A2",
            "B1",
            "B2",
            "group",
        ),
    )


def _difference() -> tuple[Step, ...]:
    learnt = tuple(row.named(name) for row in (LEAD, LAG) for name in ("O", "R"))
    lead, lag = LEAD, LAG
    query = first + r + p
    parts = [(x / (1 - lead.R) - y / (1 - lag.R)) for x, y in ((lead.out, lag.out), (lead.R, lag.R))]
    return (
        follow(
            "window as a difference",
            _sum(a[i, j], (query - r, query)),
            _sum(a[i, j], (first, query)) - _sum(a[i, j], (first, query - r)),
            "D.1.difference",
            "Both prefix sums may begin at the chunk's first key instead of at key 1.",
        ),
        define(
            "attention in a chunk",
            Y_chunk,
            _attention(SINKS, (query - r, query)),
            "Definition 2.5",
            "The same attention, the query being named by its place in a chunk.",
        ),
        *_sums(LEAD, ("A3", "B3"), SINKS, (first, query)),
        *_sums(LAG, ("A4", "B4"), (first, query - r)),
        follow(
            "attention, merged",
            Y_chunk,
            parts[0] / parts[1],
            "D.1.calls",
            "Exact, but a key with a large weight that has left the window stands in both sums: in floating point "
            "the difference loses its digits.",
            "attention in a chunk",
            *learnt,
            "A3",
            "A4",
            "B3",
            "B4",
        ),
    )


def _sinks() -> tuple[Step, ...]:
    i_late = s + p
    return (
        follow(
            "sinks as a difference",
            _sum(a[i, j], SINKS),
            _sum(a[i, j], (Integer(0), i_late)) - _sum(a[i, j], (s, i_late)),
            "D.1.sinks",
            "True for i = s + p, but the first sum runs over the whole prefix: one call of M tokens gives it only for "
            "i <= M - 1. Here the sinks stand in the query's own call instead.",
        ),
    )


def _runs() -> tuple[Step, ...]:
    window, sink = Options(r=2), Options(r=2, s=1)
    return simulation_steps(
        *(Run("window", variant, 5, 4, options=window) for variant in ("printed", "merged", "separate")),
        *(Run("sink", variant, 5, 5, options=sink) for variant in ("merged", "separate")),
        item="Theorem 5.1",
    )
