"""Theorem 4.1 on the packaged real attention: the premise, the M that it asks for, and the failures seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from numeric.average_case import diagnose
from numeric.inputs import embedded_input
from reports.real_attention import LAYERS, SETTING, Setting

__all__ = ["EPSILON", "TRIALS", "PremiseRow", "average_case"]

EPSILON = 0.5
"""The relative error of a row from which it counts as a failure."""

TRIALS = 10
"""Permutations per head."""


@dataclass(frozen=True)
class PremiseRow:
    """One head: decimal logarithms of C and of the M that the theorem asks for, and the runs with M as it is."""

    layer: str
    head: int
    C_log10: float
    D: float
    M_log10: float
    """As printed."""
    M_log10_shifted: float
    """With the smaller C that remains after a constant is taken off every row's scores."""
    applies: bool
    failures: int
    trials: int
    interval: tuple[float, float]
    """Wilson's, for the probability that a run fails, at `confidence`."""
    confidence: float
    worst: float
    """The largest relative row error of all runs."""


def average_case(
    setting: Setting = SETTING,
    layers: Sequence[str] = LAYERS,
    trials: int = TRIALS,
    progress: Callable[[str], None] = lambda _: None,
) -> list[PremiseRow]:
    """Every head of the layers, with `trials` seeded permutations each."""
    rows = []
    for layer in layers:
        progress(f"{layer}: the premise of Theorem 4.1")
        for h, one in enumerate(diagnose(embedded_input(layer), setting.M, EPSILON, trials, setting.seed)):
            rows.append(
                PremiseRow(
                    layer=layer,
                    head=h,
                    C_log10=one.premise.log10_C,
                    D=one.premise.D,
                    M_log10=one.required.log10_M,
                    M_log10_shifted=one.required_shifted.log10_M,
                    applies=one.applies,
                    failures=one.seen.failures,
                    trials=one.seen.trials,
                    interval=one.seen.interval,
                    confidence=one.seen.confidence,
                    worst=one.seen.worst,
                )
            )
    return rows
