"""False variants of the constructions, made systematically: of the schedule, and of what is done with answers.

A schedule mutant changes one part of a schedule: calls left out or made twice, positions shifted by one, a
condition dropped, a sign turned, sinks forgotten. A code mutant replaces one function of the reconstruction while
a simulator runs: synthetic tokens miscounted, values or recovery mixed up, blocks combined wrongly. Each is a
construction that should not work; whoever uses them must show that it does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np

from twoheads import reconstruction
from twoheads.schedules import CallFamily, Part

__all__ = ["CODE_MUTANTS", "schedule_mutants"]


def schedule_mutants(schedule: Sequence[Part]) -> Iterator[tuple[str, list[Part]]]:
    """Names and schedules, each with one change to one part.

    A change that leaves every pair of this schedule where it was is made all the same: it is for the refutation to
    find out.
    """
    if len(schedule) > 1:
        for k, part in enumerate(schedule):
            yield f"skip: {part.family.name}", [*schedule[:k], *schedule[k + 1 :]]
    for k, part in enumerate(schedule):
        rest = list(schedule)
        last = replace(part, family=replace(part.family, exists=_last_only(part.family)))
        yield f"last call twice: {part.family.name}", [*rest, last]
        yield (
            f"last call taken back: {part.family.name}",
            [*rest, replace(last, family=replace(last.family, sign=-2))],
        )
        for change, family in _family_mutants(part.family):
            yield f"{change}: {part.family.name}", [*rest[:k], replace(part, family=family), *rest[k + 1 :]]
        if part.sizes.T > 1:
            fewer = replace(part, sizes=replace(part.sizes, T=part.sizes.T - 1))
            yield f"last index skipped: {part.family.name}", [*rest[:k], fewer, *rest[k + 1 :]]


def _family_mutants(family: CallFamily) -> Iterator[tuple[str, CallFamily]]:
    yield "keys one later", replace(family, key=_moved(family.key, 1))
    yield "keys one earlier", replace(family, key=_moved(family.key, -1))
    yield "queries one later", replace(family, query=_moved(family.query, 1))
    yield "queries one earlier", replace(family, query=_moved(family.query, -1))
    for condition in ("exists", "has_query", "has_key"):
        if getattr(family, condition) is not CallFamily.__dataclass_fields__[condition].default:
            dropped: Any = {condition: lambda *_: ()}
            yield f"{condition} dropped", replace(family, **dropped)
    if family.sinks:
        yield "sinks forgotten", replace(family, sinks=False)


def _last_only(family: CallFamily) -> Callable[..., Sequence[Any]]:
    """Only the call of the largest first index, and of the smallest second one."""
    return lambda sizes, *call: [*family.exists(sizes, *call), call[0] == sizes.T - 1, *(x == 0 for x in call[1:])]


def _moved(position: Callable[..., Any], by: int) -> Callable[..., Any]:
    return lambda *arguments: position(*arguments) + by


@contextmanager
def _patched(name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Iterator[None]:
    original = getattr(reconstruction, name)
    with mock.patch.object(reconstruction, name, make(original)):
        yield


def _rows_changed(change: Callable[[Any], Any]) -> AbstractContextManager[None]:
    """Every `Rows` of the run changed after it was placed, so that the answers are read by wrong numbers."""

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        return lambda answers, rows, *rest: original(answers, [change(part) for part in rows], *rest)

    return _patched("_combine", make)


def _answers_changed(change: Callable[[Any, Any], Any]) -> AbstractContextManager[None]:
    """Every answer changed before it is read; the last axis is (O, R, w)."""

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def combined(answers: Any, rows: Any, N: int, domain: Any, variant: Any) -> Any:
            return original([change(answer, domain) for answer in answers], rows, N, domain, variant)

        return combined

    return _patched("_combine", make)


def _tokens_changed(change: Callable[[Any, int], Any]) -> AbstractContextManager[None]:
    """Every token array changed before it is fed; the flags are columns 2d and 2d + 1."""

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        return lambda X, rows, layout, domain: change(original(X, rows, layout, domain), 2 * layout.d)

    return _patched("sequences", make)


def _with_columns(array: Any, columns: dict[int, Any]) -> Any:
    changed = array.copy()
    for column, values in columns.items():
        changed[..., column] = values
    return changed


def _every_other(part: Any) -> np.ndarray:
    """1 for every other call of a part that is added, else 0: what all calls of a query share would cancel."""
    return (np.arange(len(part.synthetic)) % 2 == 0) & (part.sign > 0)


CODE_MUTANTS: dict[str, Callable[[], AbstractContextManager[None]]] = {
    "one synthetic token too many is counted in every other call": lambda: _rows_changed(
        lambda part: replace(part, synthetic=part.synthetic + _every_other(part)[:, None])
    ),
    "padding is not counted as synthetic": lambda: _rows_changed(
        lambda part: replace(part, synthetic=np.ones_like(part.synthetic))
    ),
    "no synthetic token": lambda: _tokens_changed(
        lambda tokens, flag: np.concatenate([0 * tokens[:, :1] + tokens[:, 1:2], tokens[:, 1:]], axis=1)
    ),
    "the synthetic token counts as data": lambda: _tokens_changed(
        lambda tokens, flag: _with_columns(tokens, {flag: 1})
    ),
    "data and synthetic flags exchanged": lambda: _tokens_changed(
        lambda tokens, flag: _with_columns(tokens, {flag: tokens[..., flag + 1], flag + 1: tokens[..., flag]})
    ),
    "w is read as R": lambda: _answers_changed(lambda answer, domain: _with_columns(answer, {-1: answer[..., -2]})),
    "1 - w in place of w": lambda: _answers_changed(
        lambda answer, domain: _with_columns(answer, {-1: domain.number(1) - answer[..., -1]})
    ),
    "R is read as A": lambda: _answers_changed(
        lambda answer, domain: _with_columns(answer, {-1: domain.number(np.ones(answer.shape[:-1], dtype=np.int64))})
    ),
    "key and query tokens exchanged": lambda: _tokens_changed(
        lambda tokens, flag: np.concatenate(
            [tokens[..., flag // 2 : flag], tokens[..., : flag // 2], tokens[..., flag:]], axis=-1
        )
    ),
}
"""By name, a context in which the one-call reconstruction of `twoheads` has that defect. For the stable variant."""
