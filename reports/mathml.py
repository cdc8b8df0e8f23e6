"""LaTeX to MathML, which browsers show without a script."""

from __future__ import annotations

from latex2mathml.converter import convert
from markupsafe import Markup, escape

__all__ = ["mathml"]


def mathml(latex: str) -> Markup:
    """A display formula; the LaTeX text itself where it cannot be converted."""
    try:
        return Markup(
            convert(latex.replace("^{'}", r"^{\prime}"), display="block")
        )  # the converter escapes what it is given
    except Exception:  # noqa: BLE001  the converter has no exception class of its own
        return Markup("<code>{}</code>").format(escape(latex))
