"""Theorem 3.4 / B.4: a whole transformer, layer by layer, all heads of a layer packed into one round.

That a head's calls give its attention is Lemma 3.1, Theorem 3.5 or Theorem 5.1; that a packed call gives its
instances' outputs is Lemma 3.3. What is left is the composition: heads, layers and the number of calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import z3

from proofs.coverage import covers, is_division, unique_division
from proofs.exact import Witness
from proofs.induction import Induction
from proofs.mutation import replay_of
from proofs.obligation import Difference, Hypothesis, Kind, Mutant, Obligation
from twoheads import theorem_3_4

__all__ = ["obligations"]

ITEM = "Theorem 3.4"
PARTS = ["Lemma 3.1/quotient", "Lemma 3.1/coverage-exists", "Lemma 3.1/coverage-once-pairs", "Lemma 3.3/waiting-step"]

H, C, K, P = z3.Ints("H C K P")
h, c, m, g, k = z3.Ints("h c m g k")
h2, c2 = z3.Ints("h2 c2")


def obligations() -> Iterator[Obligation]:
    """Every call of every head is packed once; the layers compose; the calls and their constant."""
    yield _packed()
    yield _packed_once()
    yield from _layers().obligations()
    yield _count()
    yield _constant()


def _sizes() -> list[Hypothesis]:
    return [
        Hypothesis(
            "sizes", z3.And(H >= 1, C >= 1, K >= 1), "H heads of C calls each, K = H'L' instances a packed call"
        ),
        Hypothesis("groups", covers(P, K, H * C), "P packed calls"),
    ]


def _packed() -> Obligation:
    in_call = z3.And(g >= 0, g < P, k >= 0, k < K)
    return Obligation(
        item=ITEM,
        name="heads-packed",
        kind=Kind.COVERAGE,
        scope="all H, L', H', any number of calls a head",
        hypotheses=[
            *_sizes(),
            Hypothesis("call", z3.And(h >= 0, h < H, c >= 0, c < C), "call c of head h"),
            Hypothesis("number", m == h * C + c, "its number in the layer's round"),
            Hypothesis("place", is_division(m, g, k, K), "slot k of packed call g"),
            Hypothesis("order", h * C <= (H - 1) * C, "an instance of Theorem 5.1/monotone-product, since h <= H-1"),
            Hypothesis("last", z3.Implies(g >= P, g * K >= P * K), "and another"),
        ],
        goal=in_call,
        proves="every call of every head is a slot of one of the P packed calls of its layer",
        depends_on=["Theorem 5.1/monotone-product", *PARTS],
        mutants=[
            Mutant(
                "rounded-down",
                "(H C)/K rounded down",
                replay_of(z3.ToReal(g + 1), z3.ToReal(P)),
                changed=[Hypothesis("groups", z3.And(P * K <= H * C, (P + 1) * K > H * C))],
            ),
            Mutant(
                "one-head",
                "packed calls for one head only",
                replay_of(z3.ToReal(g + 1), z3.ToReal(P)),
                changed=[Hypothesis("groups", covers(P, K, C))],
            ),
            Mutant(
                "one-slot-too-few",
                "packed calls with K-1 slots",
                replay_of(z3.ToReal(k + 1), z3.ToReal(K - 1)),
                z3.And(in_call, k < K - 1),
            ),
        ],
    )


def _packed_once() -> Obligation:
    return Obligation(
        item=ITEM,
        name="heads-packed-once",
        kind=Kind.COVERAGE,
        scope="all H, L', H', any number of calls a head",
        hypotheses=[
            Hypothesis("sizes", z3.And(H >= 1, C >= 1, K >= 1)),
            Hypothesis("one", z3.And(h >= 0, c >= 0, c < C, is_division(h * C + c, g, k, K)), "call c of head h"),
            Hypothesis("two", z3.And(h2 >= 0, c2 >= 0, c2 < C, is_division(h2 * C + c2, g, k, K)), "in the same slot"),
            Hypothesis("unique", unique_division(C, (h, c), (h2, c2)), "an instance of Lemma 3.1/unique-division"),
        ],
        goal=z3.And(h == h2, c == c2),
        proves="a slot of a packed call holds one call of one head",
        depends_on=["Lemma 3.1/unique-division"],
        mutants=[
            Mutant(
                "heads-added",
                "calls numbered h + c",
                replay_of(z3.ToReal(h), z3.ToReal(h2)),
                changed=[
                    Hypothesis("one", z3.And(h >= 0, c >= 0, c < C, is_division(h + c, g, k, K))),
                    Hypothesis("two", z3.And(h2 >= 0, c2 >= 0, c2 < C, is_division(h2 + c2, g, k, K))),
                ],
            ),
            Mutant(
                "one-call-more",
                "a head makes C+1 calls",
                replay_of(z3.ToReal(h), z3.ToReal(h2)),
                changed=[
                    Hypothesis("one", z3.And(h >= 0, c >= 0, c <= C, is_division(h * C + c, g, k, K))),
                ],
            ),
        ],
    )


def _layers() -> Induction:
    simulated, simulated_after = z3.Reals("simulated simulated_after")
    direct, direct_after = z3.Reals("direct direct_after")

    def grown(before: dict[str, Any], after: dict[str, Any]) -> Any:
        return z3.Implies(before["simulated"] == before["direct"], after["simulated"] == after["direct"])

    return Induction(
        item=ITEM,
        name="layers",
        scope="all L, any heads and token-wise MLPs, with or without residual layers",
        proves="after n layers the simulated tokens are X^(n), entry by entry",
        statement=lambda n, state: state["simulated"] == state["direct"],
        state=("simulated", "direct"),
        start=lambda state: [
            Hypothesis("input", state["simulated"] == state["direct"], "the input MLP is applied to both")
        ],
        definition=lambda n, before, after: [
            Hypothesis(
                "layer",
                grown(before, after),
                "equal tokens have equal heads' outputs, by the lemmas, and the layer MLP makes equal tokens of them",
            )
        ],
        depends_on=PARTS,
        base_mutants=[
            Mutant(
                "no-input-mlp",
                "the input MLP is left out",
                replay_of(simulated, direct),
                changed=[Hypothesis("input", simulated == direct + 1)],
            )
        ],
        step_mutants=[
            Mutant(
                "mlp-left-out",
                "the layer MLP is left out of the simulation",
                replay_of(simulated_after, direct_after),
                changed=[Hypothesis("layer", simulated_after == direct)],
            ),
            Mutant(
                "off-before",
                "a layer is off even where its input is not",
                replay_of(simulated_after, direct_after),
                changed=[Hypothesis("layer", z3.Implies(simulated == direct, simulated_after >= direct_after))],
            ),
        ],
    )


def _count() -> Obligation:
    return Obligation(
        item=ITEM,
        name="count-layer",
        kind=Kind.COUNT,
        scope="all H, L', H', any number of calls a head",
        hypotheses=_sizes(),
        goal=z3.And(P * K < H * C + K, P * K >= H * C),
        proves="a layer takes P packed calls with H C <= P H'L' < H C + H'L', and the transformer L P",
        mutants=[
            Mutant(
                "no-rounding",
                "H C/(H'L') without rounding up",
                replay_of(z3.ToReal(P * K), z3.ToReal(H * C)),
                P * K <= H * C,
            )
        ],
    )


def _constant() -> Obligation:
    b = z3.Real("b")
    shares = z3.Reals("x1 x2 x3 x4")
    packed = z3.Reals("p1 p2 p3 p4")
    total = z3.Sum(*packed)

    def excess(witness: Witness) -> Difference:
        """Calls of the smallest case: one head, one layer, N = M = 2, a large oracle's packed call per length."""
        made = Fraction(theorem_3_4.calls(2, 2, 1, 1, 1, 1))
        claimed = 3 * Fraction(2, 2) ** 2
        return Difference(made - claimed, float(made - claimed))

    return Obligation(
        item=ITEM,
        name="count-constant",
        kind=Kind.COUNT,
        scope="all 2 <= M <= N and H, L, L', H' with H'L' <= H (N/M)^2",
        hypotheses=[
            Hypothesis("bound", b >= 1, "b = (N/M)^2 H/(H'L'), the paper's bound for a layer, is at least one call"),
            Hypothesis(
                "heads", z3.And(*(x >= 0 for x in shares), z3.Sum(*shares) <= 4 * b), "at most 4 (N/M)^2 calls a head"
            ),
            Hypothesis(
                "rounded", z3.And(*(p < x + 1 for p, x in zip(packed, shares, strict=True))), "each length rounded up"
            ),
        ],
        goal=total <= 8 * b,
        proves="L layers take at most 8 (N/M)^2 HL/(H'L') calls, calls being of at most four lengths",
        depends_on=[f"{ITEM}/count-layer", "Lemma 3.1/count-bound"],
        mutants=[
            Mutant("constant-three", "the constant 3", excess, total <= 3 * b),
            Mutant(
                "large-oracle",
                "an oracle larger than the bound allows: H'L' > H (N/M)^2",
                replay_of(total, 8 * b),
                changed=[Hypothesis("bound", b > 0)],
            ),
        ],
    )
