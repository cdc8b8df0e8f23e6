"""Recombination: the sums of what the calls return are those of attention, by induction on the calls (B.1.steps).

S-sums are of recovered numbers, T-sums are the true ones. All calls of a query share a factor c > 0, which the
score of the synthetic token and the pivot of a float run make; a call's sums may be subtracted (Theorem 5.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import z3

from proofs.exact import Witness
from proofs.induction import Induction
from proofs.mutation import replay_of
from proofs.obligation import Hypothesis, Kind, Mutant, Obligation
from proofs.one_call import Call, replay_decoded

__all__ = ["recombination_obligations"]

ITEM = "Lemma 3.1"
SCOPE = "all N >= 1, M >= 2; any keys and values"

A, B = z3.Reals("A B")
c, sign = z3.Reals("c sign")
STATE = ("SA", "SB", "TA", "TB")


def recombination_obligations() -> Iterator[Obligation]:
    """The sums over the calls, and their quotient."""
    yield from _sums().obligations()
    yield _quotient()


def _sums() -> Induction:
    return Induction(
        item=ITEM,
        name="sums",
        scope="all numbers of calls that a query's sums are made of",
        proves="the sums of what was recovered are c times sum_j a_ij and sum_j b_ij over the keys met so far",
        statement=lambda n, now: z3.And(now["SA"] == c * now["TA"], now["SB"] == c * now["TB"]),
        state=STATE,
        start=lambda now: [Hypothesis("empty-sums", z3.And(*(now[name] == 0 for name in STATE)))],
        definition=lambda n, now, after: [
            Hypothesis(
                "recovered",
                _grown(now, after, "S", sign * c * A, sign * c * B),
                "recovery gives c A and c B, with the factor c that all calls of a query share",
            ),
            Hypothesis("true-sums", _grown(now, after, "T", sign * A, sign * B), "A and B are the next call's sums"),
        ],
        depends_on=[f"{ITEM}/recovery-stable", f"{ITEM}/recovery-merged", f"{ITEM}/recovery-printed"],
        base_mutants=[_base_mutant()],
        step_mutants=_step_mutants(),
    )


def _grown(now: dict[str, Any], after: dict[str, Any], sums: str, weight: Any, values: Any) -> Any:
    """The sums of weights and of values, after another call."""
    return z3.And(
        after[f"{sums}A"] == now[f"{sums}A"] + weight,
        after[f"{sums}B"] == now[f"{sums}B"] + values,
    )


def _base_mutant() -> Mutant:
    SA, SB, TA, TB = z3.Reals(" ".join(STATE))
    start = z3.And(SA == 1, SB == 0, TA == 0, TB == 0)
    flaw = "the sums start with the synthetic token's weight"
    return Mutant("synthetic-in-sum", flaw, replay_of(c * TA, SA), changed=[Hypothesis("empty-sums", start)])


def _step_mutants() -> list[Mutant]:
    ways: dict[str, tuple[str, Callable[[Any, Any], tuple[Any, Any]]]] = {
        "block-skipped": ("the call is left out", lambda A, B: (0 * A, 0 * B)),
        "counted-twice": ("the call is counted twice", lambda A, B: (2 * A, 2 * B)),
        "values-skipped": ("the weight is added, the values are not", lambda A, B: (A, 0 * B)),
        "weights-skipped": ("the values are added, the weight is not", lambda A, B: (0 * A, B)),
        "unweighted": ("averages of calls are averaged", lambda A, B: (A / A, B / A)),
        "sign-turned": ("the call is subtracted", lambda A, B: (-A, -B)),
    }
    return [_step_mutant(name, flaw, way) for name, (flaw, way) in ways.items()]


def _step_mutant(name: str, flaw: str, way: Callable[[Any, Any], tuple[Any, Any]]) -> Mutant:
    """A call added in the wrong way, after one that was added in the right way: the final quotient is wrong."""
    now = dict(zip(STATE, z3.Reals(" ".join(STATE)), strict=True))
    after = {name: z3.Real(f"{name}_after") for name in STATE}
    weight, values = way(A, B)
    wrong = z3.And(
        _grown(now, after, "S", weight, values), after["SA"] != 0, c == 1, sign == 1, A > 0, now["TA"] > 0
    )  # fmt: skip
    goal = after["SB"] * after["TA"] == after["TB"] * after["SA"]

    def calls(witness: Witness) -> list[Call]:
        blocks = [(Fraction(witness[f"{sums}A"]), Fraction(witness[f"{sums}B"])) for sums in ("T", "")]
        nothing = [Fraction(0), Fraction(0), Fraction(1)]
        return [Call([a, Fraction(1)], [[b / a, Fraction(1), Fraction(0)], nothing]) for a, b in blocks]

    def decode(answers: Sequence[Sequence[Any]], known: Sequence[Any]) -> Any:
        (first_a, first_b), block = [(r / share, o / share) for o, r, share in answers]  # the stable recovery
        a, b = way(*block)
        return (first_b + b) / (first_a + a)

    def right(witness: Witness) -> Fraction:
        return Fraction(witness["TB_after"]) / Fraction(witness["TA_after"])

    return Mutant(name, flaw, replay_decoded(calls, decode, right), goal, [Hypothesis("recovered", wrong)])


def _quotient() -> Obligation:
    SA, SB, TA, TB = z3.Reals(" ".join(STATE))
    return Obligation(
        item=ITEM,
        name="quotient",
        kind=Kind.RECOMBINATION,
        scope=SCOPE,
        hypotheses=[
            Hypothesis("factor", c > 0, "the common factor of a query's calls"),
            Hypothesis("some-key", TA > 0, "the mask allows the query some key"),
            Hypothesis("sums", z3.And(SA == c * TA, SB == c * TB), "what the induction on the calls gives"),
        ],
        goal=z3.And(SA > 0, SB / SA == TB / TA),
        proves="sum B / sum A is attention, sum_j b_ij / sum_j a_ij, and its denominator is positive (B.1.goal)",
        lifting="one query and one column of the values at a time; both are arbitrary",
        depends_on=[f"{ITEM}/sums-base", f"{ITEM}/sums-step"],
        mutants=[
            _quotient_mutant("inverted", "sum A / sum B", SA / SB, SB != 0),
            _quotient_mutant("not-divided", "sum B alone", SB),
            _quotient_mutant("factor-kept", "sum B over the true sum of the weights", SB / TA),
        ],
    )


def _quotient_mutant(name: str, flaw: str, wrong: Any, *more: Any) -> Mutant:
    _, _, TA, TB = z3.Reals(" ".join(STATE))
    changed = [Hypothesis("some-key", z3.And(TA > 0, *more))]
    return Mutant(name, flaw, replay_of(TB / TA, wrong), wrong == TB / TA, changed)
