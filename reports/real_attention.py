"""The packaged real attention through every construction and variant, with each failure's reason.

A row's error is held against a tolerance only where the project claims accuracy, in the variant `stable` of a
construction that computes attention itself. What the others do is reported as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isfinite, log

from numeric.inputs import EMBEDDED, AttentionInput, embedded_input
from numeric.simulation import HeadErrors, Simulation, simulate_input
from reports.diagnosis import DIGITS, EXACT_SIZE, Sums, equals_attention_exactly, loses_digits, sums_of_calls
from twoheads.catalogue import CONSTRUCTIONS, Construction, Options, construction
from twoheads.errors import InputError

__all__ = ["LAYERS", "SETTING", "TOLERANCES", "Attention", "HeadRow", "RunRow", "Setting", "real_attention"]

LAYERS = ("layer0", "layer5")

TOLERANCES = {"quadratic": 1e-13}
"""Largest relative row error allowed to `stable`, by construction."""

OTHERWISE = 1e-12
"""The tolerance of the constructions that `TOLERANCES` does not name."""

REMARKABLE = 1e-6
"""A relative row error from which the report says why; 1e-6 is half the digits of float64 and more."""


@dataclass(frozen=True)
class Setting:
    """Oracle length M, window r, sinks s and seed of the runs."""

    M: int = 65
    r: int = 16
    s: int = 4
    seed: int = 0

    def options(self) -> Options:
        """As the catalogue takes them."""
        return Options(r=self.r, s=self.s, seed=self.seed)


SETTING = Setting()


@dataclass(frozen=True)
class HeadRow:
    """One head of one run."""

    layer: str
    head: int
    construction: str
    variant: str
    largest_score: float
    finite: bool
    relative_error: float
    absolute_error: float
    sums: Sums | None
    """What its calls sum over, for every head of the quadratic variants that recover A from 1 - R, and for every
    other head of such a variant that is not accurate."""
    reason: str | None
    """Why it is not accurate; None where it is."""


@dataclass(frozen=True)
class RunRow:
    """One construction and variant on one layer, all heads."""

    construction: str
    item: str
    title: str
    variant: str
    layer: str
    N: int
    M: int
    heads: int
    calls: int
    closed_form: int
    bound: float
    """The paper's, without its constant."""
    constant: float | None
    """c with calls <= c bound for all admissible N and M; None where there is none."""
    rounds: int
    tokens: int
    width: int
    parameters: int
    finite: bool
    max_relative_error: float
    max_absolute_error: float
    tolerance: float | None
    """The largest error that the project allows it; None where it claims no accuracy."""
    exact: bool | None
    """Whether the variant equals attention in exact rationals; None where it is no such equality or does not run."""
    approximate: bool
    """Whether it only estimates attention, in exact arithmetic too."""
    reason: str | None
    command: str
    seconds: float

    @property
    def ratio(self) -> float:
        """Calls over the paper's bound."""
        return self.calls / self.bound

    @property
    def counted(self) -> bool:
        """Whether the ledger's calls are those of the closed form and within the constant."""
        within = self.constant is None or self.calls <= self.constant * self.bound
        return self.calls == self.closed_form and within

    @property
    def accurate(self) -> bool | None:
        """Whether the error stays within the tolerance; None without one."""
        return None if self.tolerance is None else self.finite and self.max_relative_error <= self.tolerance


@dataclass(frozen=True)
class Attention:
    """All runs, and their heads one by one."""

    setting: Setting
    runs: tuple[RunRow, ...]
    heads: tuple[HeadRow, ...]


def real_attention(
    setting: Setting = SETTING,
    layers: tuple[str, ...] = LAYERS,
    constructions: Sequence[str] = tuple(CONSTRUCTIONS),
    progress: Callable[[str], None] = lambda _: None,
) -> Attention:
    """Run every variant of the constructions on the packaged layers."""
    runs, heads = [], []
    for layer in layers:
        data = embedded_input(layer)
        for chosen, variant in _runnable(constructions, setting):
            progress(f"{layer}: {chosen.name}, {variant}")
            result = simulate_input(data, setting.M, chosen, variant, setting.options())
            own = [_head_row(layer, h, head, result, data, setting) for h, head in enumerate(result.heads)]
            heads += own
            runs.append(_run_row(layer, result, setting, own))
    return Attention(setting, tuple(runs), tuple(heads))


def _runnable(names: Sequence[str], setting: Setting) -> Iterator[tuple[Construction, str]]:
    """The constructions with each variant that takes the setting, as its closed form says."""
    for chosen in map(construction, names):
        for variant in chosen.variants:
            try:
                chosen.calls(setting.M, setting.M, variant, setting.options())
            except InputError:
                continue
            yield chosen, variant


def _head_row(
    layer: str, h: int, head: HeadErrors, result: Simulation, data: AttentionInput, setting: Setting
) -> HeadRow:
    chosen, variant = result.construction, result.variant
    accurate = head.finite and head.relative <= REMARKABLE
    sums = None
    if loses_digits(variant) and (chosen.name == "quadratic" or not accurate):
        Q, K, _ = data.qkv(h)
        sums = sums_of_calls(Q, K, setting.M, chosen, variant, setting.options())
    return HeadRow(
        layer=layer,
        head=h,
        construction=chosen.name,
        variant=variant,
        largest_score=head.largest_score,
        finite=head.finite,
        relative_error=head.relative,
        absolute_error=head.absolute,
        sums=sums,
        reason=None if accurate else _reason(chosen, variant, head, sums),
    )


def _reason(chosen: Construction, variant: str, head: HeadErrors, sums: Sums | None) -> str:
    """What keeps a head from an accurate answer, from its own sums and the exact comparison."""
    score = head.largest_score
    if chosen.approximate:
        past = head.largest_score > DIGITS * log(2) and not head.finite
        lost = f" The largest score is {score:.1f}, where 1 - R has no digits left." if past else ""
        return f"An estimate of attention, whose premise decides how far off it is.{lost}"
    found = []
    if equals_attention_exactly(chosen.name, variant) is False:
        size = f"N = {EXACT_SIZE['N']}, M = {EXACT_SIZE['M']}"
        found.append(f"The formula itself is wrong: in exact rationals at {size} it differs from attention.")
    if sums is not None:
        if sums.rounded:
            found.append(
                f"The largest score is {score:.1f} and the largest block sum A = 2^{sums.largest:.1f}, past 2^{DIGITS} "
                f"= e^{DIGITS * log(2):.1f}: R = A/(A+1) rounds to 1 for {sums.rounded} of {sums.rows} sums, so 1 - R "
                "is 0 and A = R/(1 - R) divides by zero."
            )
        elif sums.largest > DIGITS / 2:
            lost = f"1 - R keeps {max(DIGITS - sums.largest, 0):.0f} of {DIGITS} binary digits"
            found.append(f"The largest block sum is A = 2^{sums.largest:.1f}: {lost}.")
    if sums is not None and sums.outweighed > DIGITS / 2:
        found.append(
            f"Two sums are subtracted whose difference is {sums.outweighed:.1f} binary digits smaller than they."
            if isfinite(sums.outweighed)
            else "Two sums are subtracted that agree in all digits of float64."
        )
    return " ".join(found) or "No reason was found."


def _run_row(layer: str, result: Simulation, setting: Setting, heads: list[HeadRow]) -> RunRow:
    chosen, variant, ledger = result.construction, result.variant, result.ledger
    claimed = variant == "stable" and not chosen.approximate
    return RunRow(
        construction=chosen.name,
        item=chosen.item,
        title=chosen.title,
        variant=variant,
        layer=layer,
        N=result.N,
        M=result.M,
        heads=len(result.heads),
        calls=ledger.calls,
        closed_form=result.closed_form,
        bound=float(result.bound),
        constant=constant_of(chosen, variant, setting.options()),
        rounds=ledger.rounds,
        tokens=ledger.tokens,
        width=ledger.width,
        parameters=ledger.parameters,
        finite=all(head.finite for head in heads),
        max_relative_error=result.max_relative_error,
        max_absolute_error=result.max_absolute_error,
        tolerance=TOLERANCES.get(chosen.name, OTHERWISE) if claimed else None,
        exact=equals_attention_exactly(chosen.name, variant),
        approximate=chosen.approximate,
        reason=_worst_reason(heads),
        command=_command(layer, chosen, variant, setting),
        seconds=result.seconds,
    )


def constant_of(chosen: Construction, variant: str, options: Options) -> float | None:
    """The constant in front of the paper's bound; None where the variant has none."""
    try:
        return float(chosen.constant(variant, options))
    except InputError:
        return None


def _worst_reason(heads: list[HeadRow]) -> str | None:
    """The reason of the head that is furthest off, with its number."""
    failing = [row for row in heads if row.reason is not None]
    if not failing:
        return None
    worst = max(failing, key=lambda row: (not row.finite, row.relative_error, row.largest_score))
    which = f"Head {worst.head}" + (f", the worst of {len(failing)}" if len(failing) > 1 else "")
    return f"{which}: {worst.reason}"


def _command(layer: str, chosen: Construction, variant: str, setting: Setting) -> str:
    windowed = f" --window {setting.r}" if chosen.name in ("window", "sink") else ""
    sinks = f" --sinks {setting.s}" if chosen.name == "sink" else ""
    seed = f" --seed {setting.seed}" if chosen.approximate else ""
    return (
        f"twoheads simulate {EMBEDDED} --layer {layer} --oracle-length {setting.M} "
        f"--construction {chosen.name} --variant {variant}{windowed}{sinks}{seed}"
    )
