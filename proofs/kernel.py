"""What Coq's kernel has checked: theorems about whole constructions, beside the obligations about their pieces.

`make kernel` writes its result to build/kernel.json. Where that is missing, or is of other sources than those in
`proofs/coq`, nothing is claimed: the theorems count as not re-checked here, and no other verdict depends on them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from proofs.evidence import KernelProof
from proofs.obligation import Check, Kind

__all__ = [
    "RECORD",
    "TIES",
    "KernelTheorem",
    "Tie",
    "accepted_theorems",
    "kernel_record",
    "kernel_theorems",
    "obligations",
]

RECORD = Path("build/kernel.json")
"""Where `make kernel` leaves its result, from the project's folder."""

_SOURCES = Path(__file__).parent / "coq"

STDLIB_AXIOMS = (
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
)
"""The axioms of the standard library's reals and of its exponential; no theorem may rest on another."""


@dataclass(frozen=True)
class Tie:
    """A Coq theorem that stands for an item of the paper, and its hypotheses held against the paper's."""

    item: str
    theorem: str
    weaker: str
    """What it assumes or covers less of."""
    stronger: str
    """What it says beyond the paper."""


_WEIGHTS = (
    "exact reals; one column of values at a time; positive weights in place of exp of scores, which Tokens.v gives"
)
_ANY = "any N and block length, ragged last block, any weight of the synthetic token, merged and stable alike"

TIES = (
    Tie("Lemma 3.1", "lemma_3_1", _WEIGHTS, _ANY),
    Tie("Lemma 3.1", "lemma_3_1_printed", _WEIGHTS, "two calls a pair, as printed, for any N"),
    Tie("Lemma 3.1", "lemma_3_1_bound", "counts only", "the constant 4, shown to be attained"),
    Tie("Claim B.6", "claim_B_6", _WEIGHTS, "the synthetic token first, so that i <= M-1 data tokens fit M"),
    Tie("Theorem 3.5", "theorem_3_5", f"one head, one layer; {_WEIGHTS}", _ANY),
    Tie("Theorem 5.1", "theorem_5_1_difference", f"one head, one layer; {_WEIGHTS}", "any r and s, sinks counted once"),
    Tie(
        "Theorem 5.1",
        "theorem_5_1_suffix_prefix",
        f"one head, one layer; each group in a call of its own, so about 2N/r calls; {_WEIGHTS}",
        "no subtraction; any r and s",
    ),
    Tie(
        "Lemma 3.3",
        "lemma_3_3",
        "layers see their own input (residual), which the paper's oracle does not have",
        "any L', H'",
    ),
    Tie("Theorem 3.4", "theorem_3_4", "exact reals; MLPs are applied outside the oracle", "any heads, layers, MLPs, N"),
    Tie("Theorem 3.4", "theorem_3_5_transformer", "as theorem_3_4", "the same under a causal mask"),
    Tie("Theorem 3.4", "theorem_5_1_transformer", "as theorem_3_4", "the same with windows and sinks"),
    Tie(
        "Theorem 3.4",
        "theorem_5_1_suffix_prefix_transformer",
        "as theorem_3_4; each group in a call of its own, so about 2N/r calls",
        "the same without a subtraction",
    ),
    Tie("Theorem 3.4", "theorem_3_4_bound", "H'L' at most the calls of a layer's heads", "the constant 8"),
    Tie(
        "Theorem 4.1", "unbiased_permutation", "unbiasedness; the tail bounds are not formalised", "all N! permutations"
    ),
    Tie(
        "Theorem 4.1",
        "estimator_unbiased",
        "unbiasedness; the tail bounds are not formalised",
        "mean over all sets of M keys",
    ),
    Tie("Theorem 4.1", "theorem_4_1_combine", "given the two events", "any norm, every 0 < epsilon <= 2"),
    Tie(
        "Theorem 4.1",
        "theorem_4_1_estimator",
        "given the two events; exact reals; positive weights in place of exp of scores",
        "of what the simulator's own calls return, ragged last chunk included",
    ),
    Tie(
        "Theorem 4.2", "theorem_4_2", "exact reals; absolute error, as in C.2", "any norm; a smaller error than printed"
    ),
    Tie(
        "Theorem 4.2",
        "theorem_4_2_combination_codes",
        "as theorem_4_2",
        "the printed codes exist: any b with binom(2b, b) >= N/M, as the code enumerates them",
    ),
    Tie("Theorem 4.2", "theorem_4_2_bit_codes", "as theorem_4_2", "codes of length 2 log N/M exist and are given"),
)


@dataclass(frozen=True)
class KernelTheorem:
    """A tied theorem as Coq last reported it; without a current report only `tie` says something."""

    tie: Tie
    file: str = ""
    line: int = 0
    statement: str = ""
    axioms: tuple[str, ...] = ()
    coq: str = ""
    accepted: bool = False


def kernel_record(path: Path = RECORD) -> dict[str, Any] | None:
    """The result of `make kernel`, if there is one of exactly these sources."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    parts = [(source.name, source.read_text()) for source in sorted(_SOURCES.glob("*.v"))]
    current = hashlib.sha256(repr(parts).encode()).hexdigest()
    return record if isinstance(record, dict) and record.get("sources") == current else None


def kernel_theorems(path: Path = RECORD) -> list[KernelTheorem]:
    """Every tied theorem, in the order of `TIES`."""
    record = kernel_record(path)
    if record is None:
        return [KernelTheorem(tie) for tie in TIES]
    found = {theorem["name"]: theorem for theorem in record["theorems"]}
    return [_reported(tie, found.get(tie.theorem), record) for tie in TIES]


def accepted_theorems(path: Path = RECORD) -> set[str]:
    """The names of all theorems, tied or not, that the kernel accepted here; none without a current result."""
    record = kernel_record(path)
    if record is None or not record["passed"]:
        return set()
    return {one["name"] for one in record["theorems"] if set(one["assumptions"]) <= set(STDLIB_AXIOMS)}


def obligations() -> Iterator[Check]:
    """A check for every tied theorem that was re-checked here; none without a current result of `make kernel`."""
    record = kernel_record()
    if record is None:
        return
    for tie in TIES:
        yield Check(
            tie.item,
            f"kernel-{tie.theorem.lower().replace('_', '-')}",
            Kind.KERNEL,
            f"Coq {record['coq']}, sources {record['sources'][:12]}",
            f"the theorem {tie.theorem} of proofs/coq; stronger: {tie.stronger}; weaker: {tie.weaker}",
            partial(_evidence, tie.theorem),
        )


def _evidence(theorem: str) -> KernelProof:
    found = next(one for one in kernel_theorems() if one.tie.theorem == theorem)
    return KernelProof(theorem, f"Coq {found.coq}", found.accepted, found.axioms, STDLIB_AXIOMS)


def _reported(tie: Tie, found: dict[str, Any] | None, record: dict[str, Any]) -> KernelTheorem:
    if found is None:
        return KernelTheorem(tie, coq=record["coq"])
    return KernelTheorem(
        tie,
        found["file"],
        found["line"],
        found["statement"],
        tuple(found["assumptions"]),
        record["coq"],
        bool(record["passed"]),
    )
