"""Where obligations come from: every module of this room that has a function `obligations`.

Such a module is named after the paper's item. Importing it does no work; `obligations()` yields obligations,
checks and assumptions.
"""

from __future__ import annotations

import pkgutil
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from importlib import import_module
from types import ModuleType

import proofs
from proofs.obligation import ObligationError, Subject
from twoheads.errors import InputError

__all__ = ["all_subjects", "item_modules", "select", "with_dependencies"]

_SUBPACKAGES = ("coq",)


@lru_cache(maxsize=1)
def item_modules() -> dict[str, ModuleType]:
    """The modules that have obligations, by name."""
    names = [info.name for info in pkgutil.iter_modules(proofs.__path__) if info.name not in _SUBPACKAGES]
    modules = {name: import_module(f"proofs.{name}") for name in sorted(names)}
    return {name: module for name, module in modules.items() if callable(getattr(module, "obligations", None))}


@lru_cache(maxsize=1)
def all_subjects() -> dict[str, Subject]:
    """Every obligation, check and assumption by id.

    Raises:
        ObligationError: two have the same id.
    """
    found = [subject for module in item_modules().values() for subject in module.obligations()]
    if twice := [name for name, count in Counter(subject.id for subject in found).items() if count > 1]:
        raise ObligationError(f"these ids occur twice: {', '.join(sorted(twice))}.")
    return {subject.id: subject for subject in found}


def select(items: Sequence[str]) -> list[Subject]:
    """What belongs to the given items, ids or module names ("Lemma 3.1", "lemma_3_1"), with all it depends on.

    Raises:
        InputError: a name fits nothing.
    """
    if not items:
        return list(all_subjects().values())
    chosen: dict[str, Subject] = {}
    for name in items:
        fitting = {k: s for k, s in all_subjects().items() if _plain(name) in (_plain(s.item), _plain(s.id))}
        if not fitting:
            known = ", ".join(sorted({subject.item for subject in all_subjects().values()}))
            raise InputError(f"there is nothing to verify for {name!r}: choose from {known}.")
        chosen |= fitting
    return with_dependencies(chosen.values())


def with_dependencies(subjects: Iterable[Subject]) -> list[Subject]:
    """The subjects and all that they depend on, in the registry's order; a name that is not there is left out."""
    everything = all_subjects()
    found: dict[str, Subject] = {}
    waiting = list(subjects)
    while waiting:
        subject = waiting.pop()
        if subject.id not in found:
            found[subject.id] = subject
            waiting += _named(subject.depends_on, everything.values())
    return [*(s for k, s in everything.items() if k in found), *(s for k, s in found.items() if k not in everything)]


def _named(names: Sequence[str], subjects: Iterable[Subject]) -> Iterator[Subject]:
    wanted = set(names)
    return (subject for subject in subjects if subject.id in wanted or subject.item in wanted)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
