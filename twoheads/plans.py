"""Simulators as plans, so that independent ones share their rounds.

A plan is a generator: it yields the batches of one round, is sent their answers, and returns its result. `run`
advances several plans together; every step of all of them is one round of the oracle, as the heads of a layer
are computed side by side (section 1.1.f).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Any, Protocol

from twoheads.errors import InputError
from twoheads.oracle import Batch
from twoheads.scalars import Array, Domain
from twoheads.transformer import Head, single_head

__all__ = ["Asked", "Plan", "checked_domain", "run"]

Plan = Generator[Iterable[Batch], list[Array], Array]


class Asked(Protocol):
    """What a plan may know of its oracle, and `run` may ask of it."""

    M: int
    causal: bool

    def domain_for(self, *arrays: Array) -> Domain:
        """The scalars of a run on these arrays."""

    def round(self, batches: Iterable[Batch]) -> list[Array]:
        """The answers to one round of independent calls."""


def run(plans: Sequence[Plan], oracle: Asked) -> list[Array]:
    """The plans' results; their k-th rounds are one round of the oracle."""
    results: list[Any] = [None] * len(plans)
    waiting = {k: asked for k, plan in enumerate(plans) if (asked := _advance(plan, None, results, k)) is not None}
    while waiting:
        owners: list[int] = []
        answers: dict[int, list[Array]] = {k: [] for k in waiting}
        for owner, answer in zip(owners, oracle.round(_merged(waiting, owners)), strict=False):
            answers[owner].append(answer)
        waiting = {k: asked for k, own in answers.items() if (asked := _advance(plans[k], own, results, k)) is not None}
    return results


def checked_domain(X: Array, head: Head, oracle: Asked) -> Domain:
    """The scalars of a run of one head on tokens X (N, d), once shapes and scalars are known to fit.

    Raises:
        InputError: X is not (N, d) with N >= 1 and the head's d, or the head's matrices do not fit one another.
        MixedScalarsError: the arrays do not share one kind of scalar.
    """
    single_head(head.W_Q, head.W_K, head.W_V)
    if X.ndim != 2 or X.shape[1] != head.W_Q.shape[0]:
        raise InputError(f"X must be (N, d) with d = {head.W_Q.shape[0]} as in W_Q, not {tuple(X.shape)}.")
    if X.shape[0] < 1:
        raise InputError("the input is empty: give at least one token.")
    arrays = {"X": X, "W_Q": head.W_Q, "W_K": head.W_K, "W_V": head.W_V}
    domain = oracle.domain_for(*arrays.values())
    domain.check(**arrays)
    return domain


def _merged(waiting: dict[int, Iterable[Batch]], owners: list[int]) -> Iterator[Batch]:
    """All batches of a round, noting in `owners` whose each is."""
    for k, batches in waiting.items():
        for batch in batches:
            owners.append(k)
            yield batch


def _advance(plan: Plan, answers: list[Array] | None, results: list[Any], k: int) -> Iterable[Batch] | None:
    try:
        return next(plan) if answers is None else plan.send(answers)
    except StopIteration as end:
        results[k] = end.value
        return None
