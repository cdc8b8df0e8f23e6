"""The block matrices of Appendices A and B as they are printed, each transcribed once.

Sizes: N tokens, M oracle tokens, d columns, a x b ones (Lemma A.1), m = d/H columns of an instance, Ls = L'.
"""

from __future__ import annotations

from proofs.audit.shapes import BlockMatrix

__all__ = [
    "A1_U",
    "DIAG_PHI",
    "DIAG_V",
    "DIAG_W",
    "OFF_K",
    "OFF_K_REPAIRED",
    "OFF_PHI",
    "OFF_Q",
    "OFF_Q_REPAIRED",
    "PACKED_X",
    "PREFIX_PHI",
    "PREFIX_V",
    "PREFIX_W",
    "SECOND_K",
    "SECOND_Q",
    "SECOND_V",
    "STEP2_K",
    "STEP2_Q",
]

A1_U = BlockMatrix("U of Lemma A.1", "0[d,b] 0[d,d-b]; 1[1,b] 0[d,d-b]")

DIAG_W = BlockMatrix("W' of B.1.diag", "W[d,d] 0[d,1]; 0[1,d] 1[1,1]")
DIAG_PHI = BlockMatrix("φ(X) of B.1.diag", "X[M,d] 1[M,1]; 0[1,d] 1[1,1]")
DIAG_V = BlockMatrix("V' of B.1.diag", "1[M,d] 0[M,1]; 0[1,d] 0[1,1]")

OFF_PHI = BlockMatrix("φ of B.1.off", "X[M,d] Y[M,d] 1[M,1]; 0[1,d] 0[1,d] 1[1,1]")
OFF_Q = BlockMatrix("W^Q'' of B.1.off", "0[d,d] 0[d,1]; W[d,d] 0[d,1]; 0[1,d] 1[1,d]")
OFF_K = BlockMatrix("W^K'' of B.1.off", "W[d,d] 0[d,1]; 0[d,d] 0[d,1]; 0[1,d] 1[1,d]")
OFF_Q_REPAIRED = BlockMatrix("W^Q'' repaired", "0[d,d] 0[d,1]; W[d,d] 0[d,1]; 0[1,d] 1[1,1]")
OFF_K_REPAIRED = BlockMatrix("W^K'' repaired", "W[d,d] 0[d,1]; 0[d,d] 0[d,1]; 0[1,d] 1[1,1]")

STEP2_Q = BlockMatrix("W^Q''' of B.1.step2", "0[d,d]; W[d,d]")
STEP2_K = BlockMatrix("W^K''' and W^V''' of B.1.step2", "W[d,d]; 0[d,d]")

PACKED_X = BlockMatrix("W' of B.3.construction", "W[m,m]; 0[m*Ls-m,m]")

PREFIX_W = BlockMatrix("W' of B.6.construction", "W[d,d] 0[1,d]; 0[d,1] 1[1,1]")
PREFIX_PHI = BlockMatrix("φ(X) of B.6.construction", "0[1,d] 1[1,1]; X[M,d] 1[M,1]")
PREFIX_V = BlockMatrix("V' of B.6.construction", "0[1,1] 0[1,d]; 0[M,1] 1[M,d]")

SECOND_Q = BlockMatrix("W^Q' of B.5.second", "W[d,d]; 0[d,d]")
SECOND_K = BlockMatrix("W^K' of B.5.second", "0[d,d]; W[d,d]")
SECOND_V = BlockMatrix("V' of B.5.second", "0[1,d] 0[1,1]; 1[M,d] 0[M,1]")
