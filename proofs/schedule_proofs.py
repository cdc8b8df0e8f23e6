"""Coverage of a schedule as obligations: every allowed pair is met, no other is, and none twice.

A `ScheduleProof` says once, for a construction, which part meets a given pair and where; the obligations, their
false variants and the replay of witnesses follow from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import z3

from proofs.coverage import meets, unique_division
from proofs.exact import Witness
from proofs.obligation import Difference, Hypothesis, Kind, Mutant, Obligation
from proofs.schedule_replay import Allowed, replayed
from twoheads.schedules import CallFamily, Part, Sizes

__all__ = ["VARIANTS", "Division", "Meeting", "PartProof", "ScheduleProof", "Variant", "moved", "never"]

Term = Any

LIFTING = (
    "By Euclid's division every position has exactly one quotient and one remainder, so the places of i and j are "
    "free constants of the formula; that it is valid is the statement for all of them."
)

DIVISION = "Lemma 3.1/unique-division"
RECOMBINED = ["Lemma 3.1/quotient"]
"""What turns coverage into attention: recovery of every call's sums, their sums over the calls, and the quotient."""


@dataclass(frozen=True)
class Division:
    """A position (or a quotient) as quotient * divisor + remainder."""

    divisor: Term
    quotient: Term
    remainder: Term


@dataclass(frozen=True)
class Meeting:
    """Where a part meets a pair: the call, and the rows of the query and of the key."""

    call: tuple[Term, ...]
    row: tuple[Term, ...]
    column: tuple[Term, ...]


@dataclass(frozen=True)
class PartProof:
    """One part of a schedule: where it meets the pair (i, j) of the proof, and how its places are divisions."""

    name: str
    family: CallFamily
    sizes: Sizes
    where: Meeting
    divisions: Callable[[Meeting], dict[str, Division]]
    """By label; divisions of the same label, of two meetings of the same pair, divide the same number."""
    variants: Mapping[str, Sequence[str]]
    """False variants by what they refute: "exists", "only", "once", or "once-X" against the calls of part X."""

    def meets(self, where: Meeting, i: Term, j: Term, family: CallFamily | None = None) -> Term:
        """That the part, or a false variant of it, meets (i, j) there."""
        return meets(family or self.family, self.sizes, where.call, where.row, where.column, i, j)

    def anywhere(self, tag: str) -> Meeting:
        """Fresh constants for a meeting."""
        count = len(self.where.row)
        return Meeting(
            tuple(z3.Int(f"call_{k}_{tag}") for k in range(self.family.arity)),
            tuple(z3.Int(f"row_{k}_{tag}") for k in range(count)),
            tuple(z3.Int(f"column_{k}_{tag}") for k in range(count)),
        )


@dataclass(frozen=True)
class ScheduleProof:
    """What a construction's coverage obligations are made of."""

    item: str
    prefix: str
    """Starts every obligation's name."""
    scope: str
    sizes: Sequence[Hypothesis]
    allowed: Callable[[Term, Term], Term]
    """The pairs of the mask, as a formula in i and j; positions are known to be 0, ..., N-1."""
    places: Sequence[Hypothesis]
    """The divisions of i and j that `where` of the parts refers to."""
    parts: Sequence[PartProof]
    concrete: Callable[[Witness, Sequence[CallFamily]], list[Part]]
    """The schedule with these families at a witness's sizes."""
    judge: Callable[[Witness], Allowed]
    """The pairs of the mask at a witness's sizes, in plain Python."""
    small: Term
    """Sizes that are quick to replay."""
    i: Term
    j: Term
    N: Term

    def obligations(self) -> Iterator[Obligation]:
        """exists, then only for every part, then once for every two parts."""
        yield self.exists()
        yield from (self.only(part) for part in self.parts)
        for k, part in enumerate(self.parts):
            yield from (self.once(part, other) for other in self.parts[k:])

    @property
    def in_range(self) -> Term:
        """Both positions of the pair exist."""
        return z3.And(self.i >= 0, self.i < self.N, self.j >= 0, self.j < self.N)

    def exists(self) -> Obligation:
        """Every allowed pair is met."""

        def goal(families: Sequence[CallFamily]) -> Term:
            met = zip(self.parts, families, strict=True)
            return z3.Or(*(part.meets(part.where, self.i, self.j, family) for part, family in met))

        return self._obligation(
            "exists",
            [
                Hypothesis("pair", z3.And(self.in_range, self.allowed(self.i, self.j)), "the mask allows (i, j)"),
                *self.places,
            ],
            goal,
            "every pair that the mask allows is met by a call",
            [change for part in self.parts for change in self._chosen(part, "exists")],
        )

    def only(self, part: PartProof) -> Obligation:
        """Whatever a part meets, the mask allows."""
        where, place = part.anywhere("1"), self.parts.index(part)
        return self._obligation(
            f"only-{part.name}",
            [Hypothesis("met", part.meets(where, self.i, self.j), "the part meets (i, j)")],
            lambda families: self.allowed(self.i, self.j),
            f"a pair that {part.name} calls meet is allowed by the mask",
            self._chosen(part, "only"),
            lambda families: [Hypothesis("met", part.meets(where, self.i, self.j, families[place]))],
        )

    def once(self, part: PartProof, other: PartProof) -> Obligation:
        """Two meetings of one pair are the same meeting; meetings of different parts do not occur."""
        one, two = part.anywhere("1"), other.anywhere("2")
        mine, its = part.divisions(one), other.divisions(two)
        unique = [
            Hypothesis(f"unique-{label}", _unique(a, its[label]), "an instance of unique division")
            for label, a in mine.items()
            if label in its
        ]
        place = self.parts.index(other)
        met_again = other.meets(two, self.i, self.j)
        own = part is other
        same = z3.And(*(x == y for x, y in zip(_flat(one), _flat(two), strict=True))) if own else None

        def goal(families: Sequence[CallFamily]) -> Term:
            return z3.Not(other.meets(two, self.i, self.j, families[place])) if same is None else same

        def met(families: Sequence[CallFamily]) -> list[Hypothesis]:
            one_met = part.meets(one, self.i, self.j, families[place] if own else None)
            again = other.meets(two, self.i, self.j, families[place])
            return [Hypothesis("one", one_met), *([Hypothesis("two", again)] if own else [])]

        return self._obligation(
            f"once-{part.name}" if own else f"once-{part.name}-{other.name}",
            [
                Hypothesis("one", part.meets(one, self.i, self.j), f"{part.name} calls meet (i, j)"),
                *([Hypothesis("two", met_again, "and so does a meeting with other names")] if own else []),
                *unique,
            ],
            goal,
            f"no pair is met twice by {part.name} calls"
            if own
            else f"no pair that {part.name} calls meet is met by {other.name} calls",
            self._chosen(other, "once" if own else f"once-{part.name}"),
            met,
        )

    def _chosen(self, part: PartProof, role: str) -> list[tuple[str, str, int, CallFamily]]:
        """The part's false variants for that role, with the part's place."""
        place = self.parts.index(part)
        return [
            (f"{slug}-{part.name}", VARIANTS[slug].words, place, VARIANTS[slug].change(part.family))
            for slug in part.variants.get(role, ())
        ]

    def _obligation(
        self,
        name: str,
        hypotheses: Sequence[Hypothesis],
        goal: Callable[[Sequence[CallFamily]], Term],
        proves: str,
        changes: Sequence[tuple[str, str, int, CallFamily]],
        changed: Callable[[Sequence[CallFamily]], list[Hypothesis]] = lambda families: [],
    ) -> Obligation:
        own = [part.family for part in self.parts]
        small = Hypothesis("positions", z3.And(self.N >= 1, self.small), "sizes that are quick to replay")
        mutants = []
        for slug, words, place, family in changes:
            families = [*own[:place], family, *own[place + 1 :]]
            mutants.append(Mutant(slug, words, self._replay(families), goal(families), [small, *changed(families)]))
        return Obligation(
            item=self.item,
            name=f"{self.prefix}-{name}",
            kind=Kind.COVERAGE,
            scope=self.scope,
            hypotheses=[Hypothesis("positions", self.N >= 1, "there is a position"), *self.sizes, *hypotheses],
            goal=goal(own),
            proves=proves,
            lifting=LIFTING,
            depends_on=[DIVISION] if name.startswith("once") else RECOMBINED if name == "exists" else [],
            mutants=mutants,
        )

    def _replay(self, families: Sequence[CallFamily]) -> Callable[[Witness], Difference]:
        def replay(witness: Witness) -> Difference:
            schedule = self.concrete(witness, families)
            return replayed(schedule, schedule[0].sizes.N, self.judge(witness))

        return replay


def never(family: CallFamily) -> CallFamily:
    """The family without any call."""
    return replace(family, exists=lambda *_: [False])


def moved(family: CallFamily, keys: int = 0, queries: int = 0) -> CallFamily:
    """The family with its positions shifted."""
    return replace(
        family,
        key=lambda *place: family.key(*place) + keys,
        query=lambda *place: family.query(*place) + queries,
    )


def _flat(where: Meeting) -> tuple[Term, ...]:
    return where.call + where.row + where.column


def _unique(one: Division, other: Division) -> Term:
    return unique_division(one.divisor, (one.quotient, one.remainder), (other.quotient, other.remainder))


@dataclass(frozen=True)
class Variant:
    """A change to a family that makes a schedule wrong."""

    words: str
    change: Callable[[CallFamily], CallFamily]


def _dropped(condition: str) -> Callable[[CallFamily], CallFamily]:
    change: Any = {condition: lambda *_: ()}
    return lambda family: replace(family, **change)


def _not_first(family: CallFamily) -> Callable[..., Sequence[Any]]:
    return lambda sizes, *call: [*family.exists(sizes, *call), call[-1] > 0]


def _overlapping(family: CallFamily) -> CallFamily:
    last = family.arity - 1
    return replace(
        family,
        query=lambda sizes, *place: family.query(sizes, *place) - 2 * place[0],
        key=lambda sizes, *place: family.key(sizes, *place) - 2 * place[last],
    )


VARIANTS: dict[str, Variant] = {
    "without": Variant("the calls are left out", never),
    "block-skipped": Variant(
        "calls whose last index is 0 are left out", lambda family: replace(family, exists=_not_first(family))
    ),
    "keys-later": Variant("keys stand one position later", lambda family: moved(family, keys=1)),
    "keys-earlier": Variant("keys stand one position earlier", lambda family: moved(family, keys=-1)),
    "queries-later": Variant("queries stand one position later", lambda family: moved(family, queries=1)),
    "queries-earlier": Variant("queries stand one position earlier", lambda family: moved(family, queries=-1)),
    "rows-earlier": Variant(
        "queries and keys stand one position earlier", lambda family: moved(family, keys=-1, queries=-1)
    ),
    "overlapping": Variant("blocks overlap by two positions", _overlapping),
    "unconditional": Variant("calls are made whatever their indices", _dropped("exists")),
    "any-key": Variant("keys are not held to the positions after the sinks", _dropped("has_key")),
}
"""Every kind of false variant, by the name that obligations use."""
