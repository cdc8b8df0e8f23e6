"""The simulators themselves, run: exactly at small sizes, over a finite field at large ones, and over balls.

Where an obligation speaks of the argument, these checks speak of the code: the same functions that simulate real
attention are run on rational functions, field elements and balls, and held against direct attention.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import sympy
from flint import arb, ctx

from numeric.inputs import embedded_input
from numeric.simulation import simulate_input
from proofs.evidence import Enclosure, ExactCases, FloatTest, IdentityTest
from proofs.obligation import Check, Kind
from twoheads.attention import attention
from twoheads.catalogue import CONSTRUCTIONS, Construction, Options
from twoheads.counts import HeadShape, counts
from twoheads.errors import InputError
from twoheads.oracle import Oracle
from twoheads.plans import run
from twoheads.scalars import Array, Domain, given_weights
from twoheads.scalars.finite_field import FiniteField
from twoheads.transformer import Head

__all__ = ["exact_variants", "obligations"]

WRONG_AS_PRINTED = {("causal", "printed")}
"""What the audit refutes; it is not attention that these compute."""

_SMALL = Options(r=2, s=1)
_LARGE = Options(r=16, s=4)


def exact_variants(construction: Construction) -> tuple[str, ...]:
    """The variants that compute attention exactly over every scalar."""
    coded = construction.name in ("window", "sink")  # its stable variant parts groups by a score
    return tuple(
        variant
        for variant in construction.variants
        if (construction.name, variant) not in WRONG_AS_PRINTED
        and not (coded and variant == "stable")
        and not construction.approximate
    )


def obligations() -> Iterator[Check]:
    """For every construction and exact variant: small sizes, identity test and enclosure; and the real input."""
    for construction in CONSTRUCTIONS.values():
        for variant in exact_variants(construction):
            yield from _exact_checks(construction, variant)
        if "stable" in construction.variants and not construction.approximate:
            yield _real_attention(construction)
            yield Check(
                "§1.1.g",
                f"gradient-{construction.name}",
                Kind.BOUNDED,
                "N = 3, M = 5, r = 2, s = 1, every derivative in weights and values",
                "the derivatives of the simulator's output are those of direct attention",
                partial(_gradient, construction.name),
                supports=False,
            )


def _exact_checks(construction: Construction, variant: str) -> Iterator[Check]:
    name = f"{construction.name}-{variant}"
    whole = variant == construction.everywhere
    N = 4096 if whole else 1024
    yield Check(
        construction.item,
        f"small-sizes-{name}",
        Kind.BOUNDED,
        "all N <= 5 and 2 <= M <= 6 that it takes, r = 2, s = 1",
        "the simulator's output is direct attention, as rational functions of independent weights and values",
        partial(_small_sizes, construction.name, variant),
    )
    yield Check(
        construction.item,
        f"identity-{name}",
        Kind.IDENTITY,
        f"N = {N}, M = 65",
        "the simulator's output is direct attention at random points of a prime field",
        partial(_identity, construction.name, variant, N),
    )
    yield Check(
        construction.item,
        f"enclosure-{name}",
        Kind.ENCLOSURE,
        "one random instance, N = 128, M = 33",
        "the simulator's output is within 2^-N of direct attention, rounding included",
        partial(_enclosure, construction.name, variant),
    )


def _simulated(
    construction: Construction,
    variant: str,
    X: Array,
    head: Head,
    M: int,
    options: Options,
    domain: Domain | None = None,
) -> Array:
    oracle = Oracle(M, causal=construction.causal, domain=domain)
    return run([construction.plan(X, head, oracle, variant, options)], oracle)[0]


def _small_sizes(name: str, variant: str) -> ExactCases:
    construction = CONSTRUCTIONS[name]
    cases, failures = 0, []
    for N, M in itertools.product(range(1, 6), range(2, 7)):
        try:
            construction.calls(N, M, variant, _SMALL)
        except InputError:
            continue
        cases += N
        failures += [
            f"N = {N}, M = {M}, row {i}" for i in range(N) if not _row_is_right(construction, variant, N, M, i)
        ]
    return ExactCases("N <= 5, M <= 6, r = 2, s = 1", "rational functions in lowest terms", cases, tuple(failures))


def _row_is_right(construction: Construction, variant: str, N: int, M: int, i: int) -> bool:
    output, direct, _ = _row(construction, variant, N, M, i)
    return output == direct


def _row(construction: Construction, variant: str, N: int, M: int, i: int) -> tuple[Any, Any, list[Any]]:
    """Row i simulated and direct, as rational functions of the indeterminates a_j = a_{i,j} and v_j, and these.

    Other rows' weights are 1: a row's output does not depend on them.
    """
    names = [f"a{j}" for j in range(N)] + [f"v{j}" for j in range(N)]
    field, *symbols = sympy.field(names, sympy.QQ)
    a, v = symbols[:N], symbols[N:]
    A = np.full((N, N), field.one, dtype=object)
    A[i] = a
    X, *W = given_weights(A, np.array(v, dtype=object).reshape(N, 1))
    output = _simulated(construction, variant, X, Head(*W), M, _SMALL)[i, 0]
    mask = construction.mask(N, _SMALL)
    seen = [j for j in range(N) if mask is None or mask[i, j]]
    return output, sum(a[j] * v[j] for j in seen) / sum(a[j] for j in seen), symbols


def _gradient(name: str, N: int = 3, M: int = 5) -> ExactCases:
    """Derivatives in the weights and values; the exponential's own derivative is the same factor on both sides."""
    construction = CONSTRUCTIONS[name]
    output, direct, symbols = _row(construction, construction.everywhere, N, M, N - 1)
    failures = [str(x) for x in symbols if output.diff(x) != direct.diff(x)]
    return ExactCases(f"N = {N}, M = {M}", "derivatives of rational functions", len(symbols), tuple(failures))


def _identity(name: str, variant: str, N: int, M: int = 65) -> IdentityTest:
    """Independent trials; a trial in which a denominator vanishes is drawn again.

    A row's output is a quotient of two sums of at most C contributions, each a fraction of degree at most 4 over
    3, so that the difference to direct attention, cleared of denominators, has degree at most 14 C + 2. Weights are
    uniform over the p - 1 nonzero elements and independent in a row: its query has coordinate 1 against the
    uniform first coordinate of the keys. Every token of a call has at most two denominators, A + s and A, and every
    position one more, each of degree 1; given that none vanishes, which happens with probability at least 1 - q, a
    nonzero difference is missed with probability at most degree / (p - 1) / (1 - q).
    """
    construction, field = CONSTRUCTIONS[name], FiniteField()
    contributions = 2 * math.ceil(N / (M - 1)) if construction.name in ("quadratic", "causal") else 4
    tokens = counts(construction.name, variant, N, M, HeadShape(8, 3, 2), _LARGE).tokens
    vanishing = Fraction(2 * tokens + N, field.order - 1)
    degree = math.ceil((14 * contributions + 2) / (1 - vanishing))
    trials = mismatches = redrawn = 0
    rng = np.random.default_rng(20250612)
    while trials < _needed(degree, field.order - 1):
        X = rng.integers(0, field.order, (N, 8))
        X[:, 0] = 1
        select = np.eye(8, dtype=np.int64)
        head = Head(select[:, :3], select[:, 3:6], select[:, 6:])
        Q, K, V = field.coordinates(X, head.W_Q), field.coordinates(X, head.W_K), field.values(X, head.W_V)
        try:
            direct = attention(Q, K, V, construction.mask(N, _LARGE), field)
            output = _simulated(construction, variant, X, head, M, _LARGE, field)
        except ZeroDivisionError:
            redrawn += 1
            continue
        trials += 1
        mismatches += int((output != direct).any())
    return IdentityTest(f"N = {N}, M = {M}", field.order - 1, degree, trials, mismatches, redrawn)


def _needed(degree: int, order: int) -> int:
    """Trials for an error probability of at most 2^-64."""
    return math.ceil(64 / math.log2(order / degree))


def _enclosure(name: str, variant: str, N: int = 128, M: int = 33) -> Enclosure:
    construction, before = CONSTRUCTIONS[name], ctx.prec
    ctx.prec = 512
    try:
        rng = np.random.default_rng(3)
        X, W_Q, W_K, W_V = (_balls(rng.normal(size=shape)) for shape in [(N, 4), (4, 3), (4, 3), (4, 2)])
        output = _simulated(construction, variant, X, Head(W_Q, W_K, W_V), M, _LARGE)
        direct = attention(X @ W_Q, X @ W_K, X @ W_V, construction.mask(N, _LARGE))
        difference = (output - direct).ravel()
        upper = max(Fraction(*_exactly(abs(ball).upper())) for ball in difference)
        return Enclosure(
            f"N = {N}, M = {M}", len(difference), upper, Fraction(1, 2**N), all(0 in ball for ball in difference)
        )
    finally:
        ctx.prec = before


def _balls(array: np.ndarray) -> np.ndarray:
    return np.vectorize(lambda x: arb(float(x)), otypes=[object])(array)


def _exactly(ball: arb) -> tuple[int, int]:
    mantissa, exponent = ball.man_exp()
    return int(mantissa) * 2 ** max(int(exponent), 0), 2 ** max(-int(exponent), 0)


def _real_attention(construction: Construction) -> Check:
    return Check(
        construction.item,
        f"real-attention-{construction.name}",
        Kind.NUMERIC,
        "layers 0 and 5 of a sentence encoder, 512 tokens, 12 heads, M = 65, r = 16, s = 4",
        "the stable variant's largest relative row error on the packaged attention",
        partial(_worst_on_real_attention, construction.name),
    )


def _worst_on_real_attention(name: str) -> FloatTest:
    construction = CONSTRUCTIONS[name]
    runs = [simulate_input(embedded_input(layer), 65, construction, "stable", _LARGE) for layer in ("layer0", "layer5")]
    return FloatTest("float64", sum(len(r.heads) for r in runs), max(r.max_relative_error for r in runs), 1e-12)
