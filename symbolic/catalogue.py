"""Every derivation, by the paper's item: what `twoheads explain` and the report print."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache

from symbolic import (
    appendix_a,
    claim_b_6,
    lemma_3_1,
    lemma_3_3,
    theorem_3_4,
    theorem_3_5,
    theorem_4_1,
    theorem_4_2,
    theorem_5_1,
)
from symbolic.derivation import Derivation

__all__ = ["BUILDERS", "derivations"]

BUILDERS: dict[str, Callable[[], Derivation]] = {
    "Lemma A.1": appendix_a.constant_block,
    "Lemma A.2": appendix_a.row_sum,
    "Lemma A.3": appendix_a.retrieval,
    "Lemma 3.1": lemma_3_1.build,
    "Lemma 3.3": lemma_3_3.build,
    "Theorem 3.4": theorem_3_4.build,
    "Claim B.6": claim_b_6.build,
    "Theorem 3.5": theorem_3_5.build,
    "Theorem 4.1": theorem_4_1.build,
    "Theorem 4.2": theorem_4_2.build,
    "Theorem 5.1": theorem_5_1.build,
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
