"""Theorem 4.2 / C.2, derived: codes that part the instances of one large call, and the error they leave."""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Expr, Integer, Le, Piecewise, Symbol, exp

from symbolic.checks import AtMost, define, follow
from symbolic.derivation import Derivation, Step
from symbolic.on_symbols import computed_step
from symbolic.symbols import c, indexed, positive, real, size, total
from twoheads import theorem_4_2
from twoheads.oracle import Oracle
from twoheads.transformer import Head

__all__ = ["build"]

B, C = positive("B"), positive("C")
M, others, k, same = size("M"), size("N'"), size("k"), size("h", zero=True)
half = k + same
r = 2 * half


def build() -> Derivation:
    """The derivation.

    Raises:
        StepError: a step does not follow.
    """
    return Derivation(
        "Theorem 4.2",
        "N/M small instances by one large call",
        (
            "Instance i has M tokens, and all others together N' = N - M. Queries carry u_i, keys v_i.",
            "u_i has r coordinates, half of them -B and half 0; the codes of two instances differ.",
            "|<q,k>| <= C^2 for all queries and keys, and no value is above C in absolute value (C.2.bounds); C > 0.",
            "Values are treated one coordinate at a time.",
        ),
        (*_codes(), *_row(), *_tight(), *_printed(), _run()),
    )


def _codes() -> tuple[Step, ...]:
    item = "C.2.codes"
    u, v, u_other, v_other = (indexed(name)[c] for name in ("u", "v", "u'", "v'"))
    return (
        define(
            "u",
            u,
            Piecewise((-B, c <= half), (0, True)),
            item,
            "The code of instance i, its r/2 = k + h coordinates -B put first.",
        ),
        define("v", v, B + u, item, "B (1, ..., 1) + u."),
        follow("own product", total(u * v, 1, r, c), Integer(0), item, "Where u is not 0, v is.", "v", "u"),
        define(
            "other u",
            u_other,
            Piecewise((-B, c <= same), (0, c <= half), (-B, c <= half + k), (0, True)),
            item,
            "The code of another instance has 0 at k >= 1 places where u has -B, and so -B at k places where u has 0.",
        ),
        define("other v", v_other, B + u_other, item, "Its v."),
        follow(
            "other product",
            total(u * v_other, 1, r, c),
            -k * B**2,
            item,
            "Each of the k places gives -B times B.",
            "other v",
            "other u",
            "u",
        ),
        Step(
            "other product at most",
            Le(-k * B**2, -(B**2)),
            "k >= 1: the codes differ.",
            item,
            AtMost((k - 1) * B**2),
        ),
    )


def _row() -> tuple[Step, ...]:
    item = "C.2.concat"
    A, E, F, beta, out = positive("A"), positive("E"), real("F"), real("beta"), real("y")
    g, g_own = Symbol("g", nonnegative=True), Symbol("g'", nonnegative=True)
    return (
        define("foreign values", F, C * E - g, item, "Values times foreign weights, added up: at most C E, so g >= 0."),
        define("own average", beta, g_own - C, item, "The instance's own attention, at least -C: g' >= 0."),
        define(
            "row",
            out,
            (A * beta + F) / (A + E),
            item,
            "A row of the large call, A being the sum of its own weights and E of the foreign ones.",
        ),
        follow("error", out - beta, (F - E * beta) / (A + E), item, "Own attention is A β / A = β.", "row"),
        Step(
            "error at most",
            Le((F - E * beta) / (A + E), 2 * C * E / (A + E)),
            "In one direction; the other one follows with all signs changed.",
            "C.2.error",
            AtMost((g + E * g_own) / (A + E), "foreign values", "own average"),
        ),
    )


def _tight() -> tuple[Step, ...]:
    item = "C.2.error, ours"
    E, E_most, A_least, x = positive("E"), positive("E_0"), positive("A_0"), positive("x")
    gained, lost = Symbol("gamma", nonnegative=True), Symbol("eta", nonnegative=True)
    return (
        define("least own weights", A_least, M * exp(-(C**2)), item, "M keys, each with a score of at least -C^2."),
        define(
            "most foreign weights",
            E_most,
            others * exp(C**2 - B**2),
            item,
            "N' keys, each with a score of at most C^2 - B^2.",
        ),
        Step(
            "error is largest there",
            Le(2 * C * E / (A_least + gained + E), 2 * C * (E + lost) / (A_least + E + lost)),
            "The bound grows with E and falls with A = A_0 + γ; here E_0 = E + η.",
            item,
            AtMost(2 * C * ((E + lost) * gained + lost * A_least) / ((A_least + E + lost) * (A_least + gained + E))),
        ),
        define("ratio", x, others / M * exp(2 * C**2 - B**2), item, "x, which falls like exp(-B^2)."),
        follow(
            "tight bound",
            2 * C * E_most / (A_least + E_most),
            2 * C * x / (1 + x),
            item,
            "Our bound on the error of every row.",
            "least own weights",
            "most foreign weights",
            "ratio",
        ),
        follow(
            "B that is enough",
            2 * C * x * exp(B**2),
            2 * C * others / M * exp(2 * C**2),
            item,
            "So 2 C x <= exp(-t) as soon as B^2 >= 2 C^2 + log(2 C N'/M) + t.",
            "ratio",
        ),
    )


def _printed() -> tuple[Step, ...]:
    item = "C.2.error"
    A, E, N = positive("A"), positive("E"), size("N")
    stated = N * exp(2 * C**2 - B**2) / M**2
    return (
        follow("difference of inverses", 1 / A - 1 / (A + E), E / (A * (A + E)), item, "What C.2.error bounds first."),
        Step(
            "inverses at most",
            Le(E / (A * (A + E)), E / A**2),
            "A + E is at least A.",
            item,
            AtMost(E**2 / (A**2 * (A + E))),
        ),
        follow(
            "what the bounds give",
            N * exp(C**2 - B**2) / (M * exp(-(C**2))) ** 2,
            stated * exp(C**2),
            item,
            "With A >= M exp(-C^2), squared. The printed text has no square in the exponent and so states a bound that "
            "is too small by the factor exp(C^2).",
        ),
        follow(
            "printed total",
            M * exp(C**2) * C * stated + N * C * exp(C**2 - B**2) / (M * exp(-(C**2))),
            N * C * exp(2 * C**2 - B**2) * (1 + exp(C**2)) / M,
            item,
            "The printed sum of both parts is added up correctly; it is larger than the tight bound.",
        ),
    )


_B = 2


def _instances() -> tuple[list[np.ndarray], list[Head]]:
    """Two instances of one token (q, k, v), whose weights select its three coordinates."""
    select = np.eye(3, dtype=int).astype(object)
    tokens = [np.array([[Symbol(f"{name}_{i}", real=True) for name in "qkv"]], dtype=object) for i in (1, 2)]
    return tokens, [Head(select[:, :1], select[:, 1:2], select[:, 2:])] * 2


def _run() -> Step:
    tokens, heads = _instances()
    (q, k, v) = zip(*(own[0] for own in tokens), strict=True)

    def row(own: int, other: int) -> Expr:
        weight, foreign = exp(q[own] * k[own]), exp(q[own] * k[other] - _B**2)
        return (weight * v[own] + foreign * v[other]) / (weight + foreign)

    def outputs() -> list[Any]:
        return list(theorem_4_2.simulate(tokens, heads, Oracle(2), _B).outputs.ravel())

    return computed_step(
        "run with N = 2, M = 1, B = 2",
        "Y",
        outputs,
        [row(0, 1), row(1, 0)],
        "Theorem 4.2",
        "The simulator's own call on two instances: each row holds the other's key with the factor exp(-B^2).",
        "twoheads.theorem_4_2.simulate was run on symbols",
    )
