"""Recovery: what one call returns determines A and B, in each variant (B.1.ratio, B.1.recover).

One call returns averages over the keys that a row sees: data of total weight A and weighted values B, and s
synthetic tokens of weight 1. From R = A/(A+s), O = B/(A+s), w = s/(A+s):

    printed: A = s R/(1-R), B = (B/A) A     merged: with O, and 1-R for w     stable: A = s R/w, B = s O/w

The statements are about one query and one column of the values; A >= 0 and s > 0 are all that is used, so that
they serve every construction whose calls return these numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import z3

from proofs.exact import Witness
from proofs.obligation import Difference, Hypothesis, Kind, Mutant, Obligation
from proofs.one_call import Call, replay_decoded

__all__ = ["recovery_obligations"]

ITEM = "Lemma 3.1"
SCOPE = "all N >= 1, M >= 2; any keys and values, any number s >= 1 of synthetic tokens"
PER_CALL = "a query's row of any one call is an instance: A, B and s are free, whatever the block and its padding"

A, B, s, O, R, w = z3.Reals("A B s O R w")  # noqa: E741 - the value column of a call, named as in twoheads
ratio = z3.Real("ratio")

SOME_SYNTHETIC = Hypothesis("synthetic-mass", s > 0, "the call holds a synthetic token")
NO_NEGATIVE_WEIGHT = Hypothesis("weights", A >= 0, "weights are exponentials; a row may see no key")
SOME_KEY = Hypothesis("weights", A > 0, "the row sees a key")
RETURNS_R = Hypothesis("returns-r", R == A / (A + s), "values 1 for data, 0 for synthetic tokens")
RETURNS_O = Hypothesis("returns-o", O == B / (A + s), "values v_j for data, 0 for synthetic tokens")
RETURNS_W = Hypothesis("returns-w", w == s / (A + s), "values 0 for data, 1 for synthetic tokens")
RETURNS_RATIO = Hypothesis("returns-ratio", ratio == B / A, "step 2: the same call without synthetic tokens")

STABLE = (SOME_SYNTHETIC, NO_NEGATIVE_WEIGHT, RETURNS_R, RETURNS_O, RETURNS_W)
MERGED = STABLE[:-1]
PRINTED = (SOME_SYNTHETIC, SOME_KEY, RETURNS_R, RETURNS_RATIO)

DEFINED = [f"{ITEM}/well-defined-call"]


def recovery_obligations() -> Iterator[Obligation]:
    """Recovery in three variants, and that nothing is divided by zero."""
    yield _recovery("stable", STABLE, s * R / w, s * O / w, _stable_mutants())
    yield _recovery("merged", MERGED, s * R / (1 - R), s * O / (1 - R), _merged_mutants())
    yield _recovery("printed", PRINTED, s * R / (1 - R), ratio * (s * R / (1 - R)), _printed_mutants())
    yield _well_defined()


def _recovery(
    variant: str, hypotheses: Sequence[Hypothesis], weight: Any, values: Any, mutants: Sequence[Mutant]
) -> Obligation:
    return Obligation(
        item=ITEM,
        name=f"recovery-{variant}",
        kind=Kind.RECOVERY,
        scope=SCOPE,
        hypotheses=hypotheses,
        goal=z3.And(weight == A, values == B),
        proves=f"what one call returns determines A and B ({variant}: A = {weight}, B = {values})",
        lifting=PER_CALL,
        depends_on=DEFINED,
        mutants=mutants,
    )


class Returned(NamedTuple):
    """What the calls return: O, R and w of the first, and the ratio B/A of the second; terms or numbers."""

    O: Any  # noqa: E741
    R: Any
    w: Any
    ratio: Any


def _replayed(decode: Callable[..., Any], right: str, with_synthetic: bool) -> Callable[[Witness], Difference]:
    """A call with one data key of weight A and value B/A, and one synthetic token of weight s."""

    def calls(witness: Witness) -> list[Call]:
        weight, mass = Fraction(witness["A"]), Fraction(witness["s"])
        data = [Fraction(witness.get("B", 1)) / weight, Fraction(1), Fraction(0)]
        rows = [(weight, data), (mass, [Fraction(0), Fraction(0), Fraction(1)])]
        chosen = rows if with_synthetic else rows[:1]
        return [Call([a for a, _ in chosen], [v for _, v in chosen]), Call([weight], [data])]

    def decoded(answers: Sequence[Sequence[Any]], known: Sequence[Any]) -> Any:
        (values, data, synthetic), (alone, *_) = answers
        return decode(known[0], Returned(values, data, synthetic, alone))

    return replay_decoded(calls, decoded, lambda witness: Fraction(witness[right]), "s")


def _mutant(
    name: str,
    flaw: str,
    decode: Callable[..., Any],
    right: str = "A",
    changed: Sequence[Hypothesis] = (),
    synthetic: bool = True,
) -> Mutant:
    """A wrong way of decoding; `decode` makes the formula as well as the replay."""
    goal = decode(s, Returned(O, R, w, ratio)) == z3.Real(right)
    # the replay needs a key that has a value
    return Mutant(name, flaw, _replayed(decode, right, synthetic), goal, [*changed, SOME_KEY])


def _without_synthetic() -> list[Hypothesis]:
    return [
        Hypothesis("returns-r", R == 1, "every key is data"),
        Hypothesis("returns-o", O == B / A, "the average over the data"),
    ]


def _stable_mutants() -> list[Mutant]:
    return [
        _mutant("synthetic-not-counted", "s is taken to be 1", lambda s, y: y.R / y.w),
        _mutant("one-synthetic-too-many", "s + 1 tokens counted", lambda s, y: (s + 1) * y.R / y.w),
        _mutant("r-and-w-exchanged", "w/R in place of R/w", lambda s, y: s * y.w / y.R),
        _mutant("r-read-as-a", "R itself taken for A", lambda s, y: s * y.R),
        _mutant("one-minus-w", "1-w in place of w", lambda s, y: s * y.R / (1 - y.w)),
        _mutant("divided-by-r", "O/R taken for B", lambda s, y: y.O / y.R, "B"),
        _mutant("o-not-scaled", "s O taken for B", lambda s, y: s * y.O, "B"),
        _mutant(
            "no-synthetic-token", "the call holds data only", lambda s, y: s * y.O, "B",
            _without_synthetic(), synthetic=False,
        ),
    ]  # fmt: skip


def _merged_mutants() -> list[Mutant]:
    return [
        _mutant("synthetic-not-counted", "s is taken to be 1", lambda s, y: y.R / (1 - y.R)),
        _mutant("one-plus-r", "1+R in place of 1-R", lambda s, y: s * y.R / (1 + y.R)),
        _mutant("inverted", "(1-R)/R in place of R/(1-R)", lambda s, y: s * (1 - y.R) / y.R),
        _mutant("o-not-scaled", "s O taken for B", lambda s, y: s * y.O, "B"),
        _mutant("weight-for-values", "A taken for B", lambda s, y: s * y.R / (1 - y.R), "B"),
    ]


def _printed_mutants() -> list[Mutant]:
    return [
        _mutant("synthetic-not-counted", "s is taken to be 1", lambda s, y: y.R / (1 - y.R)),
        _mutant("r-minus-one", "R-1 in place of 1-R", lambda s, y: s * y.R / (y.R - 1)),
        _mutant("no-division", "R itself taken for A", lambda s, y: s * y.R),
        _mutant("ratio-not-scaled", "B/A taken for B", lambda s, y: y.ratio, "B"),
        _mutant("ratio-times-r", "(B/A) R taken for B", lambda s, y: y.ratio * y.R, "B"),
    ]


def _well_defined() -> Obligation:
    return Obligation(
        item=ITEM,
        name="well-defined-call",
        kind=Kind.WELL_DEFINEDNESS,
        scope=SCOPE,
        hypotheses=[SOME_SYNTHETIC, NO_NEGATIVE_WEIGHT, RETURNS_R, RETURNS_W],
        goal=z3.And(A + s > 0, w > 0, 1 - R > 0, 1 - R == w),
        proves="no recovery divides by zero: A + s, w and 1 - R are positive, and 1 - R is w",
        lifting=PER_CALL,
        mutants=[
            _mutant("data-share", "1-R is R", lambda s, y: 1 - y.R, "R"),
            _mutant("unnormalised", "w is s", lambda s, y: s + 0 * y.w, "w"),
            _mutant("even-shares", "w is 1/2", lambda s, y: (y.w + y.R) / 2, "w"),
        ],
    )
