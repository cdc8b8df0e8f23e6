"""The derivations of `symbolic`, found by name and turned into plain data."""

from __future__ import annotations

import pkgutil
import re
from functools import cache
from importlib import import_module
from typing import Any

import symbolic
from twoheads.errors import InputError

__all__ = ["derivation", "derivations", "known_items"]


def derivations() -> list[dict[str, Any]]:
    """Every derivation as `item`, `title` and `steps`, a step having `reason`, `text` and `latex`."""
    return [_record(item, found) for item, found in _all().items()]


def derivation(item: str) -> dict[str, Any]:
    """The derivation of one item, named as the paper does or as a module is: "Lemma 3.1", "lemma_3_1".

    Raises:
        InputError: there is none.
    """
    for known, found in _all().items():
        if _plain(item) in (_plain(known), *map(_plain, known.split("/"))):
            return _record(known, found)
    raise InputError(f"there is no derivation of {item!r}: choose from {', '.join(known_items()) or 'none'}.")


def known_items() -> list[str]:
    """The items that have a derivation."""
    return list(_all())


@cache
def _all() -> dict[str, Any]:
    """What the modules' functions `derivations` give, by item, in the modules' order."""
    names = sorted(info.name for info in pkgutil.iter_modules(symbolic.__path__))
    modules = [import_module(f"symbolic.{name}") for name in names]
    makers = [module.derivations for module in modules if callable(getattr(module, "derivations", None))]
    return {item: found for make in makers for item, found in make().items()}


def _record(item: str, found: Any) -> dict[str, Any]:
    return {
        "item": item,
        "title": found.title,
        "steps": [{"reason": step.reason, "text": step.text, "latex": step.latex} for step in found.steps],
    }


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "", name.lower())
