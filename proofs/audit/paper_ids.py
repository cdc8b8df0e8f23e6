"""The paper's items in the paper's order: what the ledger has to have an entry for."""

from __future__ import annotations

__all__ = ["PAPER_IDS", "PENDING", "SECTIONS"]

SECTIONS: dict[str, tuple[str, ...]] = {
    "§1.1 Model of computation": tuple(f"§1.1.{letter}" for letter in "abcdefghi"),
    "§1.2 Statements": (
        "Theorem 1.1",
        "Theorem 1.2",
        "Theorem 1.3",
        "Theorem 1.4",
        "§1.2.tight",
        "§1.2.hierarchical",
    ),
    "§2 Preliminaries": (
        "Definition 2.1",
        "§2.1.mlp",
        "§2.1.layer",
        "Definition 2.2",
        "Definition 2.3",
        "Definition 2.4",
        "Definition 2.5",
    ),
    "Appendix A: transformers as basic functions": ("Lemma A.1", "Lemma A.2", "Lemma A.3"),
    "§3 and Appendix B: quadratic simulation": (
        "Lemma 3.1 / B.1",
        "B.1.wlog",
        "B.1.goal",
        "B.1.steps",
        "B.1.diag",
        "B.1.ratio",
        "B.1.recover",
        "B.1.off",
        "B.1.step2",
        "Corollary 3.2 / B.2",
        "Lemma 3.3 / B.3",
        "3.3.sketch",
        "B.3.construction",
        "Theorem 3.4 / B.4",
        "Claim B.6",
        "B.6.construction",
        "B.6.scores",
        "B.6.ratio",
        "Theorem 3.5 / B.5",
        "B.5.goal",
        "B.5.split",
        "B.5.first",
        "B.5.second",
        "B.5.second-values",
        "B.5.count",
    ),
    "§4 and Appendix C: average case and converse": (
        "Theorem 4.1 / C.1",
        "C.1.wlog",
        "C.1.permute",
        "C.1.step1",
        "C.1.unbiased",
        "C.1.hoeffding",
        "C.1.step2",
        "C.1.vector",
        "C.1.combine",
        "Theorem 4.2 / C.2",
        "C.2.bounds",
        "C.2.codes",
        "C.2.concat",
        "C.2.error",
    ),
    "§5 and Appendix D: sliding window and sinks": (
        "Theorem 5.1 / D.1",
        "5.sketch",
        "D.1.difference",
        "D.1.first",
        "D.1.chunks",
        "D.1.calls",
        "D.1.sinks",
    ),
}
"""Ids by section."""

PAPER_IDS: tuple[str, ...] = tuple(name for ids in SECTIONS.values() for name in ids)

PENDING: frozenset[str] = frozenset()
"""Items without an entry so far; must become empty."""
