"""The derivations of `symbolic`, found by any spelling of the paper's name."""

from __future__ import annotations

import re
from typing import Any

from symbolic.catalogue import derivations
from symbolic.derivation import Derivation, StepError
from twoheads.errors import InputError

__all__ = ["all_derivations", "derivation"]


def all_derivations() -> list[dict[str, Any]]:
    """Every derivation as plain data, built and thereby checked now; `error` says where one does not follow."""
    found = []
    for item in derivations():
        try:
            found.append({**derivations()[item].as_dict(), "error": None})
        except StepError as error:
            found.append({"item": item, "title": "", "hypotheses": [], "steps": [], "error": str(error)})
    return found


def derivation(name: str) -> Derivation:
    """The derivation of one item, named as the paper does or as a module is: "Lemma 3.1", "lemma_3_1".

    Raises:
        InputError: there is none.
        StepError: a step does not follow.
    """
    for item in derivations():
        if _plain(name) == _plain(item):
            return derivations()[item]
    raise InputError(f"there is no derivation of {name!r}: choose from {', '.join(derivations())}.")


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "", name.lower())
