"""Readings: something that a printed item says, run literally at small places."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

import numpy as np

from proofs.audit.literal import EXACT, FLOATS, Arithmetic, NoValueError
from proofs.audit.shapes import ShapeError
from twoheads.errors import OracleLengthError

__all__ = ["Affects", "AuditError", "Evaluated", "Reading", "Slip", "Undefined", "evaluate", "grid", "shown"]

Case = Mapping[str, Any]
Run = Callable[..., Any]
"""Called with the arithmetic and the case's values by name."""

_ROUNDING = 1e-9  # relative: what two floats may differ by and still be called equal


class AuditError(ValueError):
    """An entry is not well formed; the message names it and the defect."""


class Affects(StrEnum):
    """What a failure touches. The order of the members is how much it matters."""

    NOTHING = "nothing"
    """But the print."""
    PROOF = "proof"
    """The argument as given; the statement may stand."""
    STATEMENT = "statement"
    """The statement needs another range, constant or assumption."""

    @property
    def rank(self) -> int:
        """0 for the least."""
        return list(Affects).index(self)


@dataclass(frozen=True)
class Slip:
    """Why a reading is expected to fail."""

    text: str
    affects: Affects
    extraction: bool = False
    """Whether it may come from the text extraction and not from the paper."""
    theorem: str = ""
    """The theorem of `proofs/coq` that refutes the reading; empty where it is about names or sizes alone."""


@dataclass(frozen=True)
class Undefined:
    """No value: a shape that does not fit, too many tokens, a division by zero."""

    why: str

    def __str__(self) -> str:
        return f"no value ({self.why})"


@dataclass(frozen=True, eq=False)
class Reading:
    """A statement of the printed item, or a remark of ours.

    Args:
        says: the statement, in words.
        cases: the places at which it is run, smallest first.
        printed: what the text gives there.
        due: what it has to be there, by another way.
        relation: how the two have to be related: `=`, `!=`, `<=`, `<`, `>=` or `>`.
        slip: why it is expected to fail; None if it is expected to hold.
    """

    says: str
    cases: Sequence[Case]
    printed: Run
    due: Run
    relation: str = "="
    slip: Slip | None = None


@dataclass(frozen=True, eq=False)
class Evaluated:
    """A reading after it ran: up to the first case at which it fails, in exact arithmetic and then in floats."""

    reading: Reading
    examined: int
    holds: bool
    case: Case
    """The first at which it fails; if it holds, the last."""
    printed: Any
    due: Any
    floats: tuple[Any, Any]
    """The same two in floats."""
    floats_agree: bool
    """Whether floats say the same as exact arithmetic of the case."""

    @property
    def place(self) -> str:
        """The case in words."""
        return ", ".join(f"{_SIGNS.get(name, name)} = {shown(value)}" for name, value in self.case.items())

    @property
    def text(self) -> str:
        """What was found at the case, in one line."""
        at = f"at {self.place}: " if self.case else ""
        sign = self.reading.relation if self.holds else _CONTRARY[self.reading.relation]
        return f"{at}{shown(self.printed)} {sign} {shown(self.due)}"


_SIGNS = {"L_small": "L'", "Ls": "L'", "K": "H'L'", "eps": "ε"}
_CONTRARY = {"=": "≠", "!=": "=", "<=": ">", "<": "≥", ">=": "<", ">": "≤"}


def evaluate(reading: Reading) -> Evaluated:
    """Run a reading.

    Raises:
        AuditError: it has no cases, or what is due has no value.
    """
    if not reading.cases:
        raise AuditError(f"{reading.says!r} has no cases: nothing would be run.")
    examined = 0
    for case in reading.cases:
        examined += 1
        printed, due = _value(reading.printed, EXACT, case), _value(reading.due, EXACT, case)
        if isinstance(due, Undefined):
            raise AuditError(f"{reading.says!r}: what is due has no value at {dict(case)}: {due.why}.")
        holds = _related(reading.relation, printed, due, exact=True)
        if not holds:
            break
    floats = _value(reading.printed, FLOATS, case), _value(reading.due, FLOATS, case)
    agree = holds == _related(reading.relation, *floats, exact=False)
    return Evaluated(reading, examined, holds, case, printed, due, floats, agree)


def grid(where: Callable[..., bool] | None = None, /, **ranges: Iterable[Any]) -> list[dict[str, Any]]:
    """All combinations for which `where` is true, smallest sums of their numbers first."""
    cases = [dict(zip(ranges, values)) for values in itertools.product(*ranges.values())]
    return sorted((case for case in cases if where is None or where(**case)), key=_magnitude)


def shown(value: Any) -> str:
    """A value as a reader would write it."""
    match value:
        case bool():
            return "yes" if value else "no"
        case str() | int() | Fraction() | Undefined():
            return str(value)
        case float():
            return f"{value:.6g}"
        case tuple() | list() if value and isinstance(value[0], tuple | list):
            return "(" + "; ".join(", ".join(map(shown, row)) for row in value) + ")"
        case tuple() | list():
            return "(" + ", ".join(map(shown, value)) + ")"
        case set() | frozenset():
            return "{" + ", ".join(sorted(map(shown, value))) + "}"
    return str(value)


def _magnitude(case: Case) -> int:
    return sum(abs(int(number)) for value in case.values() for number in np.ravel(np.array(value, dtype=object)))


def _value(run: Run, x: Arithmetic, case: Case) -> Any:
    try:
        return _plain(run(x, **case))
    except (NoValueError, ShapeError, OracleLengthError) as error:
        return Undefined(str(error))
    except ZeroDivisionError:
        return Undefined("a division by 0")


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return tuple(_plain(entry) for entry in value)
    return value.item() if isinstance(value, np.generic) else value


def _related(relation: str, printed: Any, due: Any, exact: bool) -> bool:
    if isinstance(printed, Undefined) or isinstance(due, Undefined):
        return relation == "!=" and printed != due
    equal = printed == due if exact else _close(printed, due)
    match relation:
        case "=" | "!=":
            return bool(equal) == (relation == "=")
        case "<=" | ">=":
            return bool(equal or (printed < due) == (relation == "<="))
        case "<" | ">":
            return bool(not equal and (printed < due) == (relation == "<"))
    raise AuditError(f"{relation!r} is no relation: use one of {', '.join(_CONTRARY)}.")


def _close(one: Any, other: Any) -> bool:
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_close, one, other))
    if isinstance(one, float) or isinstance(other, float):
        return math.isclose(one, other, rel_tol=_ROUNDING, abs_tol=_ROUNDING)
    return bool(one == other)
