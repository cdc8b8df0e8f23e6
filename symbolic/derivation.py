"""A derivation: steps that are checked, one after the other, whenever it is built.

A `Step` is an equation or another relation with its reason and a *check*, which says how it follows from what
stands before it. `Derivation` refuses to be made from steps that do not follow: there is none that was not checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import wrap
from typing import Any, Protocol

from sympy import Basic

from symbolic.printing import as_latex, as_text

__all__ = ["Check", "Derivation", "Step", "StepError"]


class StepError(ValueError):
    """A step does not follow; the message says which and why."""


class Check(Protocol):
    """How a step follows."""

    @property
    def how(self) -> str:
        """In words, as they follow "checked:"."""

    def __call__(self, expression: Basic, before: Mapping[str, Basic]) -> None:
        """Raise `StepError` unless the expression follows from the earlier ones, which are given by name."""


@dataclass(frozen=True)
class Step:
    """One line of a derivation."""

    name: str
    """By which later steps refer to it."""
    expression: Basic
    """A SymPy relation; where it holds an index, it holds for all its values."""
    reason: str
    """One or two sentences."""
    item: str
    """The paper's item, or where else it comes from."""
    check: Check

    @property
    def text(self) -> str:
        """The expression in the letters of a terminal."""
        return as_text(self.expression)

    @property
    def latex(self) -> str:
        """The expression for a page."""
        return as_latex(self.expression)


@dataclass(frozen=True)
class Derivation:
    """A checked chain of steps for one item of the paper.

    Raises:
        StepError: a step does not follow, or two have one name.
    """

    item: str
    """As in the paper: "Lemma 3.1"."""
    title: str
    hypotheses: tuple[str, ...]
    """What is assumed, a sentence each."""
    steps: tuple[Step, ...]

    def __post_init__(self) -> None:
        self.verify()

    def verify(self) -> None:
        """Check every step again.

        Raises:
            StepError: a step does not follow.
        """
        before: dict[str, Basic] = {}
        for number, step in enumerate(self.steps, start=1):
            try:
                if step.name in before:
                    raise StepError("an earlier step has the same name.")
                step.check(step.expression, before)
            except StepError as error:
                raise StepError(f"{self.item}, step {number} ({step.name}): {error}") from error
            before[step.name] = step.expression

    def step(self, name: str) -> Step:
        """The step of that name.

        Raises:
            KeyError: there is none.
        """
        return {step.name: step for step in self.steps}[name]

    @property
    def text(self) -> str:
        """All of it, for a terminal."""
        lines = [f"{self.item}: {self.title}", "", "Assumed:", *(f"  - {line}" for line in self.hypotheses)]
        for number, step in enumerate(self.steps, start=1):
            lines += ["", *_wrapped(f"{number}. {step.name} [{step.item}]. {step.reason}"), ""]
            lines += [f"      {line}".rstrip() for line in step.text.splitlines()]
            lines += ["", *_wrapped(f"   checked: {step.check.how}.")]
        return "\n".join(lines) + "\n"

    @property
    def latex(self) -> str:
        """All of it, as the body of a LaTeX document."""
        lines = [rf"\paragraph{{{self.item}: {_escaped(self.title)}.}}", "Assumed:", r"\begin{itemize}"]
        lines += [rf"\item {_escaped(line)}" for line in self.hypotheses]
        lines += [r"\end{itemize}", r"\begin{enumerate}"]
        for step in self.steps:
            lines.append(rf"\item \emph{{{_escaped(step.name)}}} ({_escaped(step.item)}). {_escaped(step.reason)}")
            lines.append(rf"\[ {step.latex} \]")
        return "\n".join([*lines, r"\end{enumerate}"]) + "\n"

    def as_dict(self) -> dict[str, Any]:
        """Plain data: item, title, hypotheses and steps, each with its name, item, reason, check, text and LaTeX."""
        return {
            "item": self.item,
            "title": self.title,
            "hypotheses": list(self.hypotheses),
            "steps": [
                {
                    "name": step.name,
                    "item": step.item,
                    "reason": step.reason,
                    "check": step.check.how,
                    "text": step.text,
                    "latex": step.latex,
                }
                for step in self.steps
            ],
        }


def _wrapped(sentence: str) -> list[str]:
    return wrap(sentence, width=100, subsequent_indent="   ")


_LATEX = {"\\": r"\textbackslash{}", "^": r"\^{}", "~": r"\~{}", **{x: "\\" + x for x in "#$%&_{}"}}


def _escaped(sentence: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in sentence)
