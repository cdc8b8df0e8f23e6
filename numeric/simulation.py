"""Running a construction on attention input, all heads in one round, beside direct attention."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from numeric.inputs import AttentionInput
from numeric.reference import direct_attention, relative_row_errors
from twoheads.catalogue import DEFAULTS, Construction, Options
from twoheads.errors import InputError
from twoheads.oracle import Ledger, Oracle
from twoheads.plans import run

__all__ = ["HeadErrors", "Simulation", "simulate_input"]


@dataclass(frozen=True)
class HeadErrors:
    """How far one head's output is from direct attention; nan where it is not finite."""

    relative: float
    """Largest relative row error, ||y_i - z_i||_2 / ||z_i||_2."""
    absolute: float
    """Largest absolute difference of an entry."""
    finite: bool
    """Whether every entry of the output is finite."""
    largest_score: float
    """Largest |<q_i, k_j>| over all pairs (over the diagonal alone for inputs too long for all pairs)."""


@dataclass(frozen=True, eq=False)
class Simulation:
    """A construction's run on an input: its output, cost and errors."""

    N: int
    M: int
    construction: Construction
    variant: str
    output: np.ndarray
    """(H, N, d_v)."""
    ledger: Ledger
    closed_form: int
    """The calls that the closed form gives, all heads together."""
    bound: Fraction
    """The paper's bound without its constant, all heads together."""
    heads: tuple[HeadErrors, ...]
    seconds: float
    """Wall-clock time of the simulation alone."""

    @property
    def max_relative_error(self) -> float:
        """Largest relative row error of all heads; nan if an output is not finite."""
        return float(np.max([head.relative for head in self.heads]))

    @property
    def max_absolute_error(self) -> float:
        """Largest absolute error of all heads; nan if an output is not finite."""
        return float(np.max([head.absolute for head in self.heads]))


def simulate_input(
    data: AttentionInput,
    M: int,
    construction: Construction,
    variant: str,
    options: Options = DEFAULTS,
    progress: Callable[[str], None] = lambda _: None,
) -> Simulation:
    """Run every head of `data` through `construction` with an oracle of M tokens.

    Args:
        data: tokens and heads.
        M: oracle length, at least 2.
        construction, variant, options: what to run; see `twoheads.catalogue`.
        progress: told what is being done.

    Raises:
        InputError: the construction does not take these parameters, or the input overflows float64.
    """
    construction.checked(variant)
    _check_range(data)
    closed_form = len(data.heads) * construction.calls(data.N, M, variant, options)
    oracle = Oracle(M, causal=construction.causal)
    progress(f"{construction.name} {variant}: {closed_form} oracle calls")
    started = time.perf_counter()
    # a float overflow or 0/0 is what the comparison below is there to report
    with np.errstate(all="ignore"):
        plans = [
            construction.plan(X, head, oracle, variant, options)
            for X, head in zip(data.tokens, data.heads, strict=True)
        ]
        output = np.stack(run(plans, oracle))
    seconds = time.perf_counter() - started
    progress(f"{construction.name} {variant}: direct attention")
    return Simulation(
        N=data.N,
        M=M,
        construction=construction,
        variant=variant,
        output=output,
        ledger=oracle.ledger,
        closed_form=closed_form,
        bound=len(data.heads) * construction.bound(data.N, M, options),
        heads=tuple(_errors(data, h, output[h], construction, options) for h in range(len(data.heads))),
        seconds=seconds,
    )


def _check_range(data: AttentionInput) -> None:
    """Refuse input whose scores or sums of values may not be finite: direct attention has no answer there either."""
    for h in range(len(data.heads)):
        with np.errstate(all="ignore"):
            Q, K, V = data.qkv(h)
            score = np.linalg.norm(Q, axis=1).max() * np.linalg.norm(K, axis=1).max()
            value = data.N * np.abs(V).max()
        if not np.isfinite(score) or not np.isfinite(value):
            what = "scores" if np.isfinite(value) else "sums of values"
            raise InputError(f"the {what} of head {h} overflow float64: scale the input down.")


def _errors(
    data: AttentionInput, h: int, output: np.ndarray, construction: Construction, options: Options
) -> HeadErrors:
    Q, K, V = data.qkv(h)
    windowed = construction.name in ("window", "sink")
    reference = direct_attention(
        Q,
        K,
        V,
        causal=construction.causal,
        r=options.r if windowed else None,
        s=options.s if construction.name == "sink" else 0,
    )
    with np.errstate(all="ignore"):
        relative = float(np.max(relative_row_errors(output, reference)))
        absolute = float(np.max(np.abs(output - reference)))
    return HeadErrors(relative, absolute, bool(np.isfinite(output).all()), _largest_score(Q, K))


def _largest_score(Q: np.ndarray, K: np.ndarray, most: int = 4096) -> float:
    scores = Q @ K.T if len(Q) <= most else np.einsum("ij,ij->i", Q, K)
    return float(np.abs(scores).max())
