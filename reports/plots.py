"""The report's plots, drawn by Matplotlib and cut to SVG that lies in the page and takes its colours from it."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.diagnosis import DIGITS
from reports.growth import Growth
from reports.real_attention import HeadRow

__all__ = ["calls_plot", "errors_plot"]

# Placeholder colours, each replaced by a custom property of the page, so that both colour schemes fit.
_INK, _FAINT = "#010101", "#020202"
_SERIES = ("#0a0a01", "#0a0a02", "#0a0a03", "#0a0a04", "#0a0a05")
_PROPERTIES = {
    _INK: "currentColor",
    _FAINT: "var(--faint)",
    **{colour: f"var(--series-{k})" for k, colour in enumerate(_SERIES, start=1)},
}
# Hollow marks of several sizes, so that series that coincide are all seen.
_MARKS: tuple[dict[str, Any], ...] = (
    {"marker": "o", "ms": 9, "mfc": "none"},
    {"marker": "s", "ms": 5.5, "mfc": "none"},
    {"marker": "D", "ms": 4.5, "mec": "none"},
    {"marker": "^", "ms": 8.5, "mfc": "none"},
    {"marker": "x", "ms": 6},
)
_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "twoheads",
    "font.family": "sans-serif",
    "font.size": 9,
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _FAINT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": _FAINT,
    "ytick.color": _FAINT,
    "xtick.labelcolor": _INK,
    "ytick.labelcolor": _INK,
    "legend.frameon": False,
}


def errors_plot(heads: Sequence[HeadRow], tolerance: float) -> str:
    """Relative error against the largest score, one mark per head and variant of the quadratic construction."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(7.6, 4.2), layout="constrained")
        axes = figure.add_subplot()
        axes.set_yscale("log")
        top = 1e2
        for variant, colour, mark in _styled(_distinct(heads)):
            own = [row for row in heads if row.variant == variant]
            y = [row.relative_error if row.finite else top for row in own]
            x = [row.largest_score for row in own]
            axes.plot(x, y, ls="", color=colour, label=variant, clip_on=False, **mark)
        scores = np.linspace(0, DIGITS * np.log(2), 50)
        axes.plot(scores, 2.0**-DIGITS * np.exp(scores), color=_FAINT, lw=1)
        axes.text(23.5, 1e-6, "$2^{-53}\\,e^{score}$", color=_INK, ha="right")
        axes.axvline(DIGITS * np.log(2), color=_FAINT, lw=1, ls=(0, (4, 3)))
        axes.text(DIGITS * np.log(2) + 0.8, 1e-9, "score 36.7: 1 - R has\nno digits left", color=_INK, va="center")
        axes.axhline(tolerance, color=_FAINT, lw=1, ls=":")
        axes.text(80, tolerance * 1.6, f"tolerance of stable, {tolerance:.0e}", color=_INK, ha="right")
        axes.set(xlim=(0, 80), ylim=(1e-16, top), xlabel="largest |score| of the head", ylabel="relative row error")
        ticks = [1e-16, 1e-12, 1e-8, 1e-4, 1, top]
        labels = ["1e-16", "1e-12", "1e-8", "1e-4", "1", "not finite"]
        axes.set_yticks(ticks, labels)
        axes.minorticks_off()
        axes.legend(loc="center right", bbox_to_anchor=(1, 0.72))
        return _inline(figure, "errors", "Relative error against the largest score, by head and variant")


def calls_plot(growth: Sequence[Growth]) -> str:
    """Calls against N/M: marks for the ledger's counts, lines for the paper's bounds without their constants."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(7.6, 4.2), layout="constrained")
        axes = figure.add_subplot()
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        names = list(dict.fromkeys(row.construction for row in growth))
        for name, colour, mark in _styled(names):
            own = [row for row in growth if row.construction == name]
            x = [row.N / row.M for row in own]
            axes.plot(x, [row.calls for row in own], ls="", color=colour, label=name, **mark)
        _bounds(axes, growth)
        axes.set(xlabel="N/M", ylabel="oracle calls of one head")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.minorticks_off()
        axes.legend(loc="upper left")
        return _inline(figure, "calls", "Oracle calls against N/M, with the paper's bounds")


def _bounds(axes: Axes, growth: Sequence[Growth]) -> None:
    x = np.array(sorted({row.N / row.M for row in growth}))
    for power, text in ((1, "N/M"), (2, "(N/M)²")):
        axes.plot(x, x**power, color=_FAINT, lw=1)
        axes.annotate(text, (x[-1], x[-1] ** power), xytext=(4, 0), textcoords="offset points", color=_INK, va="center")


def _styled(names: Sequence[str]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Each series with a colour and a mark; both are used again where there are more series than of them."""
    return zip(names, cycle(_SERIES), cycle(_MARKS))


def _distinct(heads: Sequence[HeadRow]) -> list[str]:
    return list(dict.fromkeys(row.variant for row in heads))


def _inline(figure: Figure, name: str, title: str) -> str:
    """The figure as an <svg> element: no prolog, no metadata, ids of its own, colours of the page."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", transparent=True)
    svg = stream.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(\sid="|url\(#|xlink:href="#)', rf"\g<1>{name}-", svg)
    for colour, replacement in _PROPERTIES.items():
        svg = svg.replace(colour, replacement)
    label = f'<svg role="img" aria-labelledby="{name}-title" class="plot"'
    svg = re.sub(r'\s(width|height)="[^"]*pt"', "", svg, count=2)
    svg = svg.replace("<svg", label, 1)
    return re.sub(r"(<svg[^>]*>)", rf'\1<title id="{name}-title">{title}</title>', svg, count=1)
