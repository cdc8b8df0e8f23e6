"""A shape checker for the printed block matrices, which also puts them together so that they can be run.

A display is written as the paper prints it, block row by block row, every block with its height and width:

    BlockMatrix("U", "0[d,b] 0[d,d-b]; 1[1,b] 0[d,d-b]")

0 and 1 are constant blocks, any other name is a matrix that is given when the display is put together. A block
without entries (a height or width of 0) is not there.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from proofs.audit.literal import Arithmetic

__all__ = ["Block", "BlockMatrix", "ShapeError", "size"]

_BLOCK = re.compile(r"(\w+)\[([^,\]]+),([^,\]]+)\]")
_OPERATORS: dict[type, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}


class ShapeError(ValueError):
    """The blocks of a display do not fit one another; the message says which."""


def size(text: str, sizes: Mapping[str, int]) -> int:
    """A dimension such as `2*d+1` at given sizes.

    Raises:
        ShapeError: it is no sum, difference or product of sizes, or negative.
    """
    value = _value(ast.parse(text.strip(), mode="eval").body, sizes)
    if value < 0:
        raise ShapeError(f"the dimension {text} is {value}")
    return value


def _value(node: ast.expr, sizes: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name) if name in sizes:
            return sizes[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return int(_OPERATORS[type(op)](_value(left, sizes), _value(right, sizes)))
    raise ShapeError(f"{ast.unparse(node)} is no dimension in {', '.join(sizes)}")


@dataclass(frozen=True)
class Block:
    """One block, with its dimensions as text."""

    name: str
    height: str
    width: str

    def shape(self, sizes: Mapping[str, int]) -> tuple[int, int]:
        """(height, width)."""
        return size(self.height, sizes), size(self.width, sizes)


@dataclass(frozen=True)
class BlockMatrix:
    """A display [ , ; , ] as it is printed."""

    name: str
    display: str

    @property
    def rows(self) -> list[list[Block]]:
        """Block rows.

        Raises:
            ShapeError: the display is not written as the module says.
        """
        texts = [row.split() for row in self.display.split(";")]
        matches = [[_BLOCK.fullmatch(block) for block in row] for row in texts]
        if not all(row and all(row) for row in matches):
            raise ShapeError(f"{self.name}: {self.display!r} is no list of blocks NAME[HEIGHT,WIDTH]")
        return [[Block(*match.groups()) for match in row if match] for row in matches]

    def shape(self, sizes: Mapping[str, int]) -> tuple[int, int]:
        """(height, width) of the whole.

        Raises:
            ShapeError: blocks of one row differ in height, or rows in width.
        """
        heights, widths = [], []
        for number, row in enumerate(self.rows, 1):
            shapes = [shape for block in row if 0 not in (shape := block.shape(sizes))]
            if len({height for height, _ in shapes}) > 1:
                raise ShapeError(f"block row {number} of {self.name} has blocks of heights {_listed(shapes, 0)}")
            if shapes:
                heights.append(shapes[0][0])
                widths.append(sum(width for _, width in shapes))
        if len(set(widths)) > 1:
            raise ShapeError(f"the block rows of {self.name} are {' and '.join(map(str, widths))} wide")
        return sum(heights), widths[0] if widths else 0

    def build(self, x: Arithmetic, sizes: Mapping[str, int], **given: Any) -> Any:
        """The matrix, with the named blocks as given.

        Raises:
            ShapeError: the blocks do not fit, or a given one is not as large as the display says.
        """
        self.shape(sizes)
        rows = []
        for row in self.rows:
            blocks = [self._built(block, x, sizes, given) for block in row if 0 not in block.shape(sizes)]
            rows += [np.concatenate(blocks, axis=1)] if blocks else []
        return np.concatenate(rows, axis=0)

    def _built(self, block: Block, x: Arithmetic, sizes: Mapping[str, int], given: Mapping[str, Any]) -> Any:
        height, width = block.shape(sizes)
        if block.name in ("0", "1"):
            return x.full(height, width, int(block.name))
        if given[block.name].shape != (height, width):
            raise ShapeError(f"{block.name} in {self.name} is {given[block.name].shape}, not {(height, width)}")
        return given[block.name]


def _listed(shapes: list[tuple[int, int]], axis: int) -> str:
    return " and ".join(str(shape[axis]) for shape in shapes)
