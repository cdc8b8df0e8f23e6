"""Theorem 3.5 / B.5, derived for one head: causal attention by T^2 calls to a causal oracle.

The query stands at place p of block u. An earlier block of keys is met twice: in order, which gives the keys up to
place p, and backwards with the queries one row ahead, which gives the others.
"""

from __future__ import annotations

from sympy import Expr, Integer, Le

from symbolic.checks import AtMost, define, follow
from symbolic.derivation import Derivation, Step
from symbolic.on_symbols import Run, simulation_steps
from symbolic.oracle_row import Row, outputs, recovery, weights_of
from symbolic.symbols import T, a, ell, i, indexed, j, n, size, t, total, v

__all__ = ["build"]

u, p, rest = size("u"), size("p"), size("h", zero=True)
query = (u - 1) * n + p
start, end = (t - 1) * n, t * n
"""The positions before and at the end of block t."""

Y_i = indexed("Y")[i]
A_1, B_1, A_2, B_2 = (indexed(name)[i, t] for name in ("A^1", "B^1", "A^2", "B^2"))


def _row(number: int, keys: Expr, position: Expr, A: Expr, B: Expr, kind: str) -> Row:
    e, out, R, w = (indexed(f"{name}^{number}") for name in "eORw")
    return Row(e[i, t, ell], Integer(1), keys, position, A, B, out[i, t], R[i, t], w[i, t], "B.5.split", kind)


FORWARD = _row(1, p, start + ell - 1, A_1, B_1, "in order")
REVERSED = _row(2, rest, end + 2 - ell, A_2, B_2, "backwards")


def build() -> Derivation:
    """The derivation.

    Raises:
        StepError: a step does not follow.
    """
    return Derivation(
        "Theorem 3.5",
        "causal attention from a causal oracle",
        (
            "One head; the weights a_{i,j} = exp(<q_i, k_j>) are positive; numbers of unlimited precision.",
            "Blocks of n = M - 1 positions. Query i stands at place p of block u: i = (u-1) n + p, and h = n - p.",
            "The oracle has a causal mask; its calls begin with one synthetic token of weight a.",
        ),
        (*_goal(), *_rows(), *_quotients(), *_printed(), *_count(), *_runs()),
    )


def _goal() -> tuple[Step, ...]:
    product = a[i, j] * v[j]
    return (
        define("place", n, p + rest, "B.5.split", "The query's place in its block, and the places after it."),
        define(
            "attention",
            Y_i,
            total(product, 1, query) / total(a[i, j], 1, query),
            "B.5.goal",
            "The keys up to the query's own.",
        ),
        define("A1", A_1, total(a[i, j], start + 1, start + p), "B.5.split", "Block t up to the query's place."),
        define("B1", B_1, total(product, start + 1, start + p), "B.5.split", "The same with the values."),
        define("A2", A_2, total(a[i, j], start + p + 1, end), "B.5.split", "Block t after the query's place."),
        define("B2", B_2, total(product, start + p + 1, end), "B.5.split", "The same with the values."),
        follow(
            "both halves of the earlier blocks, the first half of the own",
            total(a[i, j], 1, query),
            total(A_1 + A_2, 1, u - 1, t) + A_1.subs(t, u),
            "B.5.split",
            "The halves are told apart by places within the block. Every key up to i is in exactly one.",
            "A1",
            "A2",
            "place",
        ),
        Step(
            "the printed second half is empty",
            Le(t * n, (t + size("k") - 1) * n + p),
            "By absolute positions, as printed, S_t - [i] holds the j in S_t with j > i. For a block t that is k >= 1 "
            "blocks before the query's there is none.",
            "B.5.split",
            AtMost((size("k") - 1) * n + p),
        ),
    )


def _rows() -> tuple[Step, ...]:
    steps: list[Step] = []
    for row, sums in ((FORWARD, ("A1", "B1")), (REVERSED, ("A2", "B2"))):
        weights = weights_of(row)
        steps += [weights, *outputs(row, weights.name, *sums, "place"), *recovery(row, sums[0], "place")]
    return tuple(steps)


def _parts(first: Expr, second: Expr) -> Expr:
    """The sum of `first` over the blocks up to the query's own and of `second` over those before."""
    return total(first, 1, u, t) + total(second, 1, u - 1, t)


def _quotients() -> tuple[Step, ...]:
    f, r = FORWARD, REVERSED
    learnt = tuple(row.named(name) for row in (f, r) for name in ("O", "R", "w"))
    to_sums = ("attention", *learnt, "A1", "A2", "B1", "B2", "place")
    return (
        follow(
            "attention, stable",
            Y_i,
            _parts(f.out / f.w, r.out / r.w) / _parts(f.R / f.w, r.R / r.w),
            "B.5.goal",
            "One call for each half of each block; the factor a cancels.",
            *to_sums,
        ),
        follow(
            "attention, merged",
            Y_i,
            _parts(f.out / (1 - f.R), r.out / (1 - r.R)) / _parts(f.R / (1 - f.R), r.R / (1 - r.R)),
            "B.5.goal",
            "The same with 1 - R in place of w.",
            *to_sums,
        ),
    )


def _printed() -> tuple[Step, ...]:
    unshifted, key = indexed("Q'")[i, t], start + p
    keys = total(a[i, j] * v[j], key, end) / total(a[i, j], key, end)
    return (
        define(
            "printed values of the second half",
            unshifted,
            keys,
            "B.5.second-values",
            "As displayed the queries are not moved one row ahead: the row also sees the key at the query's place.",
        ),
        follow(
            "error of the printed second half",
            unshifted * A_2 - B_2,
            a[i, key] * (A_2 * v[key] - B_2) / (A_2 + a[i, key]),
            "B.5.second-values",
            "So B^2 comes out wrong by this much, which is 0 only if the key's value is the average over the half. "
            "With the queries moved as in B.5.second it is right.",
            "printed values of the second half",
            "A2",
            "B2",
            "place",
        ),
    )


def _count() -> tuple[Step, ...]:
    return (
        follow(
            "calls",
            T + total(2 * (t - 1), 1, T, t),
            T**2,
            "B.5.count",
            "One call for each block with itself, and two for each of the t - 1 blocks before block t.",
        ),
    )


def _runs() -> tuple[Step, ...]:
    runs = [Run("causal", variant, 5, 3) for variant in ("repaired", "merged", "stable")]
    return simulation_steps(*runs, Run("causal", "stable", 3, 3, "tokens"), item="Theorem 3.5")
