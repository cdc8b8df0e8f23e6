"""Products of block matrices whose blocks have symbolic sizes, as a check and as steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sympy import Basic, BlockMatrix, Eq, Expr, Integer, MatrixSymbol, Symbol, block_collapse

from symbolic.derivation import Step, StepError

__all__ = ["BlocksAgree", "blocks", "blocks_agree"]


@dataclass(frozen=True)
class BlocksAgree:
    """Both sides are the same matrix: block by block for all sizes, and entry by entry at small ones."""

    @property
    def how(self) -> str:
        return "multiplied block by block both sides agree, and entry by entry at small sizes"

    def __call__(self, expression: Basic, before: Mapping[str, Basic]) -> None:
        if not isinstance(expression, Eq) or not all(getattr(side, "is_Matrix", False) for side in expression.args):
            raise StepError(f"an equation of matrices is needed, not {expression}.")
        left, right = expression.args
        if left.shape != right.shape:
            raise StepError(f"the two sides have the shapes {left.shape} and {right.shape}.")
        if not all(_same(x, y) for x, y in zip(_parts(left), _parts(right), strict=True)):
            raise StepError("the two sides differ in a block.")
        if not _same_entries(left, right):
            raise StepError("the two sides differ in an entry, at small sizes.")


def blocks(*rows: list[Expr]) -> BlockMatrix:
    """The block matrix with these rows of blocks."""
    return BlockMatrix([list(row) for row in rows])


def blocks_agree(name: str, left: Expr, right: Expr, item: str, reason: str) -> Step:
    """The step left = right between matrices of blocks."""
    return Step(name, Eq(left, right, evaluate=False), reason, item, BlocksAgree())


def _parts(matrix: Any) -> list[Any]:
    collapsed = block_collapse(matrix)
    return list(collapsed.blocks) if isinstance(collapsed, BlockMatrix) else [collapsed]


def _same(x: Any, y: Any) -> bool:
    return bool((x - y).doit().is_ZeroMatrix)


def _same_entries(left: Any, right: Any) -> bool:
    """With the symbolic sizes 2 and 1 by turns, and every block an array of its own entries."""
    shapes = [size for side in (left, right) for matrix in side.atoms(MatrixSymbol) for size in matrix.shape]
    symbols = sorted({symbol for size in shapes for symbol in size.atoms(Symbol)}, key=str)
    sizes = {symbol: Integer(1 + (k + 1) % 2) for k, symbol in enumerate(symbols)}
    one, other = (side.xreplace(sizes).as_explicit() for side in (left, right))
    return bool((one - other).expand().is_zero_matrix)
