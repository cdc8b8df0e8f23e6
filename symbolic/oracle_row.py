"""What an oracle's row returns, and how the sums over its keys are recovered from it; shared by all derivations.

A row sees s synthetic tokens of weight a, then some keys. Its outputs are O, R and w, and A = a s R / w.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sympy import Expr, Gt, Piecewise

from symbolic.checks import Positive, define, follow
from symbolic.derivation import Step
from symbolic.symbols import a, ell, i, mass, total, v

__all__ = ["Row", "outputs", "recovery", "weights_of"]


@dataclass(frozen=True)
class Row:
    """A row of a call: which tokens it sees, and the names of what comes of it."""

    e: Expr
    """The weight of token l in the row."""
    s: Expr
    """How many synthetic tokens the row sees; they come first."""
    keys: Expr
    """How many keys it sees, sinks included."""
    position: Expr
    """The position of the key of token l, the index l being `ell`, past synthetic tokens and sinks."""
    A: Expr
    B: Expr
    out: Expr
    """Its output O for the values v_j."""
    R: Expr
    w: Expr
    item: str
    kind: str = ""
    """Tells the rows of one derivation apart in their steps' names."""
    sinks: Expr | int = 0
    """How many of the keys are sinks, the first positions; they come before the others."""

    def over_tokens(self, summand: Expr) -> Expr:
        """The sum over all tokens that the row sees."""
        return total(summand, 1, self.s + self.keys, ell)

    def choice(self, synthetic: Expr | int, of_key: Callable[[Expr], Expr | int]) -> Piecewise:
        """One expression for synthetic tokens, another for keys by their positions."""
        branches = [(synthetic, ell <= self.s)]
        if self.sinks:
            branches.append((of_key(ell - self.s), ell <= self.s + self.sinks))
        return Piecewise(*branches, (of_key(self.position), True))

    def named(self, step: str) -> str:
        """The step's name within its derivation."""
        return f"{step} ({self.kind})" if self.kind else step


def weights_of(row: Row) -> Step:
    """The step that names the weights in a row, for derivations that do not begin at the padded vectors."""
    return define(
        row.named("weights of a row"),
        row.e,
        row.choice(mass, lambda position: a[i, position]),
        row.item,
        "The tokens that the row sees: synthetic ones of weight a, then keys.",
    )


def outputs(row: Row, *using: str) -> tuple[Step, ...]:
    """Steps from the oracle's definition to O = B/(A + s a), R = A/(A + s a) and w = s a/(A + s a).

    Args:
        row: the row.
        using: earlier steps that say what the weights, A and B are.
    """
    every = row.A + row.s * mass
    columns = (
        (
            "O",
            row.out,
            row.choice(0, lambda position: v[position]),
            row.B,
            "Values v_j for keys and 0 for synthetic tokens.",
        ),
        ("R", row.R, row.choice(0, lambda _: 1), row.A, "Values 1 for keys and 0 for synthetic tokens."),
        ("w", row.w, row.choice(1, lambda _: 0), row.s * mass, "Values 0 for keys and 1 for synthetic tokens."),
    )
    steps = [
        follow(
            row.named("all weights"),
            row.over_tokens(row.e),
            every,
            row.item,
            "The sum is split where the synthetic tokens end.",
            *using,
        )
    ]
    for name, output, values, numerator, reason in columns:
        asked = row.named(f"output {name}")
        steps += [
            define(
                asked,
                output,
                row.over_tokens(row.e * values) / row.over_tokens(row.e),
                "Definition 2.1",
                f"{reason} The oracle returns their softmax average.",
            ),
            follow(
                row.named(name),
                output,
                numerator / every,
                row.item,
                "Numerator and denominator, split in the same way.",
                asked,
                *using,
            ),
        ]
    return tuple(steps)


def recovery(row: Row, *signs: str) -> tuple[Step, ...]:
    """Steps from the outputs back to A and B: stable, with w, and merged, with 1 - R.

    Args:
        row: the row, whose `outputs` come earlier.
        signs: earlier steps from which w > 0 is seen.
    """
    learnt = tuple(row.named(name) for name in ("O", "R", "w"))
    return (
        Step(
            row.named("w is positive"),
            Gt(row.w, 0),
            "Weights are exponentials, so that no denominator is 0.",
            row.item,
            Positive(learnt[2], *signs),
        ),
        follow(
            row.named("A recovered"),
            row.A,
            mass * row.s * row.R / row.w,
            row.item,
            "Stable variant: the denominators of R and w cancel, and nothing is subtracted.",
            *learnt,
        ),
        follow(
            row.named("B recovered"),
            row.B,
            mass * row.s * row.out / row.w,
            row.item,
            "The same with the values.",
            *learnt,
        ),
        follow(
            row.named("w from R"),
            1 - row.R,
            row.w,
            row.item,
            "Merged variant: the shares of a row add up to 1, so w need not be returned.",
            *learnt,
        ),
    )
