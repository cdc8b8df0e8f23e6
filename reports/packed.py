"""Heads of the packaged real attention packed into calls (Lemma 3.3, Theorem 3.4), and the converse (Theorem 4.2).

The two layers' heads read different tokens, so that a call of one layer's heads is full where H'L' divides what the
round asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from numeric.converse import Converse, measure
from numeric.inputs import embedded_input
from numeric.reference import direct_attention, relative_row_errors
from reports.real_attention import LAYERS, SETTING, Setting
from twoheads import lemma_3_1, theorem_3_4
from twoheads.lemma_3_3 import PackedOracle, PackingRow, packings
from twoheads.oracle import Oracle
from twoheads.plans import run

__all__ = ["H_SMALL", "L_SMALL", "TOLERANCE", "Packed", "PackedRun", "packed"]

H_SMALL, L_SMALL = 4, 2
"""H' and L' of the oracle."""

EXACT = ("residual", "one_layer")
TOLERANCE = 1e-12


@dataclass(frozen=True)
class PackedRun:
    """All heads of one layer in one round of packed calls."""

    layer: str
    packing: str
    heads: int
    calls: int
    closed_form: int
    rounds: int
    width: int
    """Embedding dimension of the oracle."""
    error: float
    """Largest relative row error of all heads."""

    @property
    def passed(self) -> bool:
        """Whether the calls are those of the closed form, and the error is within the tolerance."""
        return self.calls == self.closed_form and self.error <= TOLERANCE


@dataclass(frozen=True)
class Packed:
    """What the page shows of packing."""

    compared: Sequence[PackingRow]
    """Every packing for this oracle and instances of the real attention's size."""
    runs: Sequence[PackedRun]
    converse: Sequence[Converse]


def packed(
    setting: Setting = SETTING, layers: Sequence[str] = LAYERS, progress: Callable[[str], None] = lambda _: None
) -> Packed:
    """The packings compared, the exact ones run on every head of the layers, and the converse measured."""
    runs = []
    for layer in layers:
        for name in EXACT:
            progress(f"{layer}: 12 heads packed, {name}")
            runs.append(_run(layer, name, setting.M))
    progress("the converse")
    one = embedded_input(layers[0])
    head = one.heads[0]
    width = 2 * head.W_Q.shape[0] + 4  # a doubled token with its flags, as Lemma 3.1 feeds it
    return Packed(
        packings(width, setting.M, H_SMALL, L_SMALL),
        runs,
        [measure(N, 16, 8, error) for N in (64, 256) for error in (1e-3, 1e-9)],
    )


def _run(layer: str, packing: str, M: int) -> PackedRun:
    data = embedded_input(layer)
    oracle = Oracle(M, L_small=L_SMALL, H_small=H_SMALL)
    front = PackedOracle(oracle, packing)
    plans = [lemma_3_1.plan(X, head, front) for X, head in zip(data.tokens, data.heads, strict=True)]
    outputs = run(plans, front)
    errors = [relative_row_errors(output, direct_attention(*data.qkv(h))).max() for h, output in enumerate(outputs)]
    return PackedRun(
        layer,
        packing,
        len(data.heads),
        oracle.ledger.calls,
        theorem_3_4.calls(data.N, M, len(data.heads), 1, H_SMALL, L_SMALL, packing=packing),
        oracle.ledger.rounds,
        oracle.ledger.width,
        float(np.max(errors)),
    )
