"""Every derivation, by the paper's item: what `twoheads explain` and the report print."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache

from symbolic import claim_b_6, lemma_3_1, theorem_3_5
from symbolic.derivation import Derivation

__all__ = ["BUILDERS", "derivations"]

BUILDERS: dict[str, Callable[[], Derivation]] = {
    "Lemma 3.1": lemma_3_1.build,
    "Claim B.6": claim_b_6.build,
    "Theorem 3.5": theorem_3_5.build,
}
"""Item to the function that builds, and thereby checks, its derivation."""


class _Derivations(Mapping[str, Derivation]):
    """Each derivation is built when it is first looked up."""

    def __getitem__(self, item: str) -> Derivation:
        return _built(item)

    def __iter__(self) -> Iterator[str]:
        return iter(BUILDERS)

    def __len__(self) -> int:
        return len(BUILDERS)


def derivations() -> Mapping[str, Derivation]:
    """Item to derivation, in the paper's order. Names cost nothing; a derivation takes a second or so to build."""
    return _Derivations()


@cache
def _built(item: str) -> Derivation:
    return BUILDERS[item]()
