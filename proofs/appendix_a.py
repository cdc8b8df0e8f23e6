"""Appendix A: constant blocks, sums of rows and retrieval, for all sizes where a formula says it and run where not."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from functools import partial

import numpy as np
import z3

from proofs.evidence import ExactCases
from proofs.induction import Induction
from proofs.mutation import replay_of
from proofs.obligation import Check, Hypothesis, Kind, Mutant, Obligation, Subject
from twoheads import appendix_a
from twoheads.scalars.rationals import DOMAIN

__all__ = ["obligations"]


def obligations() -> Iterator[Subject]:
    """Lemmas A.1, A.2 and A.3."""
    yield Check(
        "Lemma A.1",
        "blocks-run",
        Kind.BOUNDED,
        "all a <= N <= 4 and b <= d <= 3",
        "phi(X) U is the block of a x b ones, for a random rational X",
        _constant_blocks,
        supports=False,
    )
    yield from _equal_weights().obligations()
    yield _average()
    yield Check(
        "Lemma A.2",
        "sums-run",
        Kind.BOUNDED,
        "all N <= 5 and d <= 3",
        "every output row of the transformer is the sum of the rows of a random rational X",
        _row_sums,
    )
    yield _leak()
    yield from _gap()
    yield Check(
        "Lemma A.3",
        "retrieval-run",
        Kind.BOUNDED,
        "all tau that are constant or reverse the order, N <= 5, B <= 3",
        "the retrieved row is within the proved bound, exactly evaluated",
        partial(_retrievals, 5),
    )


def _equal_weights() -> Induction:
    N, x = z3.Reals("N x")
    total, sums = z3.Reals("total sums")
    after = z3.Reals("total_after sums_after")
    return Induction(
        item="Lemma A.2",
        name="values",
        scope="all N, every coordinate",
        proves="the sum of the values N x_j over the first n rows is N times the rows' sum",
        statement=lambda n, state: state["total"] == N * state["sums"],
        state=("total", "sums"),
        start=lambda state: [Hypothesis("empty-sums", z3.And(state["total"] == 0, state["sums"] == 0))],
        definition=lambda n, now, later: [
            Hypothesis("row", z3.And(later["total"] == now["total"] + N * x, later["sums"] == now["sums"] + x))
        ],
        base_mutants=[
            Mutant("not-empty", "the sum of values starts at 1", replay_of(total, N * sums), changed=[
                Hypothesis("empty-sums", z3.And(total == 1, sums == 0))
            ])
        ],
        step_mutants=[
            Mutant("unscaled-value", "the value x in place of N x", replay_of(after[0], N * after[1]), changed=[
                Hypothesis("row", z3.And(after[0] == total + x, after[1] == sums + x))
            ])
        ],
    )  # fmt: skip


def _average() -> Obligation:
    N, total, sums, output = z3.Reals("N total sums output")
    return Obligation(
        item="Lemma A.2",
        name="average",
        kind=Kind.RECOVERY,
        scope="all N >= 1",
        hypotheses=[
            Hypothesis("rows", N >= 1),
            Hypothesis("values", total == N * sums, "the sum of all N values"),
            Hypothesis("softmax", output * N == total, "W_Q = W_K = 0: N weights 1 over their sum N"),
        ],
        goal=output == sums,
        proves="every output row is the sum of the rows of X",
        depends_on=["Lemma A.2/values-step"],
        mutants=[
            Mutant(
                "causal",
                "a causal mask: only the first i of N rows are averaged",
                replay_of(output, sums),
                changed=[Hypothesis("softmax", output * (N + 1) == total)],
            )
        ],
    )


def _leak() -> Obligation:
    S, share, X, error = z3.Reals("S share X error")
    return Obligation(
        item="Lemma A.3",
        name="leak",
        kind=Kind.ANALYSIS,
        scope="all N, rows of norm at most X",
        hypotheses=[
            Hypothesis("signs", z3.And(S >= 0, X >= 0), "S, the other keys' weights against the target's 1"),
            Hypothesis("share", share * (1 + S) == S),
            Hypothesis("error", error <= share * (2 * X), "sum_j share_j (x_j - x_t), each difference at most 2 X"),
        ],
        goal=error <= 2 * (S * X),
        proves="the retrieved row is off by at most 2 S X",
        depends_on=["Lemma A.3/score"],
        mutants=[
            Mutant(
                "one-difference",
                "a difference of rows is at most X",
                replay_of(error, S * X),
                error <= S * X,
            )
        ],
    )


def _gap() -> Iterator[Obligation]:
    k = z3.Int("k")
    t, off = z3.Reals("t off")
    j = t + off
    yield Obligation(
        item="Lemma A.3",
        name="gap",
        kind=Kind.ANALYSIS,
        scope="all integers",
        hypotheses=[Hypothesis("other", k != 0, "k = j - t, for a key j that is not the target t")],
        goal=k * k >= 1,
        proves="(j - t)^2 is at least 1 for a key that is not the target",
        mutants=[
            Mutant("gap-of-two", "at least 2", replay_of(z3.ToReal(k * k), z3.RealVal(2)), k * k >= 2),
        ],
    )
    yield Obligation(
        item="Lemma A.3",
        name="score",
        kind=Kind.ANALYSIS,
        scope="all positions",
        hypotheses=[],
        goal=2 * t * j - j * j == t * t - off * off,
        unconditional=True,
        proves="the score 2 t j - j^2 is t^2 - (j - t)^2, with off = j - t",
        lifting="so a key that is not the target weighs at most e^-B of the target's, and S <= (N-1) e^-B",
        depends_on=["Lemma A.3/gap"],
        mutants=[
            Mutant(
                "square-forgotten",
                "the score 2 t j without -j^2",
                replay_of(2 * t * j, t * t - off * off),
                2 * t * j == t * t - off * off,
            )
        ],
    )


def _rationals(N: int, d: int) -> np.ndarray:
    rng = np.random.default_rng(10 * N + d)
    entries = [[Fraction(int(rng.integers(-30, 30)), int(rng.integers(1, 9))) for _ in range(d)] for _ in range(N)]
    return np.array(entries, dtype=object).reshape(N, d)


def _constant_blocks() -> ExactCases:
    cases, failures = 0, []
    for N, d in itertools.product(range(1, 5), range(1, 4)):
        for a, b in itertools.product(range(N + 1), range(d + 1)):
            phi, U = appendix_a.constant_block(d, a, b, DOMAIN)
            block = DOMAIN.values(phi(_rationals(N, d), np.arange(N)), U)
            wanted = [[int(i < a and c < b) for c in range(d)] for i in range(N)]
            cases += 1
            failures += [f"N = {N}, d = {d}, a = {a}, b = {b}"] if block.tolist() != wanted else []
    return ExactCases("a <= N <= 4, b <= d <= 3", "exact rationals", cases, tuple(failures))


def _row_sums() -> ExactCases:
    cases, failures = 0, []
    for N, d in itertools.product(range(1, 6), range(1, 4)):
        X = _rationals(N, d)
        out = appendix_a.row_sum(N, d, DOMAIN)(X, None, DOMAIN)
        wanted = [[sum(X[:, c], Fraction(0)) for c in range(d)]] * N
        cases += 1
        failures += [f"N = {N}, d = {d}"] if out.tolist() != wanted else []
    return ExactCases("N <= 5, d <= 3", "exact rationals", cases, tuple(failures))


def _retrievals(most: int) -> ExactCases:
    cases, failures = 0, []
    for N, B in itertools.product(range(1, most + 1), range(1, 4)):
        X = _rationals(N, 1)
        largest = max(abs(x) for x in X.ravel())
        bound = appendix_a.retrieval_error_bound(B, N, largest, Fraction(2))
        for tau in [np.arange(N)[::-1], *(np.full(N, t) for t in range(N))]:
            transformer = appendix_a.retrieval(partial(_fixed, tau), B, 1, DOMAIN)
            off = max(abs(x) for x in (transformer(X, None, DOMAIN) - X[tau]).ravel())
            cases += 1
            failures += [f"N = {N}, B = {B}, tau = {tau.tolist()}"] if off > bound else []
    return ExactCases(f"N <= {most}, B <= 3", "exact rationals, the weight of score 1 being 2", cases, tuple(failures))


def _fixed(tau: np.ndarray, rows: np.ndarray, positions: np.ndarray) -> np.ndarray:
    return tau
