"""Lemma 3.3 / B.3 as repaired: packing instances into one call, exactly with a residual, within a bound without.

The slots of `twoheads.packings`: instance m of a round is slot k of call m // capacity, and slot k is computed by
layer k // lanes, in lane k % lanes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import z3

from proofs.coverage import is_division, unique_division
from proofs.induction import Induction
from proofs.mutation import replay_of
from proofs.obligation import Hypothesis, Kind, Mutant, Obligation

__all__ = ["obligations"]

ITEM = "Lemma 3.3"

OUTPUT, TOKENS = z3.Reals("instance_output instance_tokens")
own_layer = z3.Int("own_layer")


def obligations() -> Iterator[Obligation]:
    """Every instance has one slot; its slot holds the right thing after every layer; and the bound without residual."""
    yield _slots()
    yield from _waiting().obligations()
    yield _leak()
    yield from _passing().obligations()
    yield _total()


def _slots() -> Obligation:
    m, lanes, layers, call, slot, layer, lane = z3.Ints("m lanes layers call slot layer lane")
    call2, slot2, layer2, lane2 = z3.Ints("call2 slot2 layer2 lane2")
    one = [is_division(m, call, slot, lanes * layers), is_division(slot, layer, lane, lanes)]
    two = [is_division(m, call2, slot2, lanes * layers), is_division(slot2, layer2, lane2, lanes)]
    unique = z3.And(
        unique_division(lanes * layers, (call, slot), (call2, slot2)),
        unique_division(lanes, (layer, lane), (layer2, lane2)),
    )
    return Obligation(
        item=ITEM,
        name="slots",
        kind=Kind.COVERAGE,
        scope="all numbers of instances, all L' and H'",
        hypotheses=[
            Hypothesis("shape", z3.And(lanes >= 1, layers >= 1, lanes * layers >= 1)),
            Hypothesis("place", z3.And(*one), "a call, layer and lane of instance m"),
            Hypothesis("other-place", z3.And(*two), "and another"),
            Hypothesis("unique", unique, "instances of Lemma 3.1/unique-division"),
        ],
        goal=z3.And(call == call2, layer == layer2, lane == lane2),
        proves="an instance is computed in one call, by one layer, in one lane",
        lifting="and every m has such a place, by Euclid's division twice",
        depends_on=["Lemma 3.1/unique-division"],
        mutants=[
            Mutant(
                "lanes-overlap",
                "a lane index may be H' itself",
                replay_of(z3.ToReal(layer), z3.ToReal(layer2)),
                changed=[
                    Hypothesis(
                        "place",
                        z3.And(one[0], slot == layer * lanes + lane, lane >= 0, lane <= lanes),
                    ),
                    Hypothesis("unique", unique_division(lanes * layers, (call, slot), (call2, slot2))),
                ],
                goal=layer == layer2,
            )
        ],
    )


def _waiting() -> Induction:
    """What the columns of an instance hold after n layers, with layer MLPs that see the layer's input."""

    def content(n: Any) -> Any:
        return z3.If(own_layer < n, OUTPUT, TOKENS)

    def step(before: Any, after: Any, others: Any) -> Any:
        computes = z3.And(z3.Implies(before == TOKENS, after == OUTPUT))
        return z3.If(own_layer == z3.Int("n"), computes, after == others)

    now, after = z3.Real("content"), z3.Real("content_after")
    leak = z3.Real("leak")
    return Induction(
        item=ITEM,
        name="waiting",
        scope="all L', every instance of a call",
        proves="an instance's columns hold its tokens until its layer, and its output from then on",
        statement=lambda n, state: state["content"] == content(n),
        state=("content",),
        start=lambda state: [Hypothesis("fed", state["content"] == TOKENS, "the call is fed the tokens")],
        definition=lambda n, before, later: [
            Hypothesis(
                "layer",
                step(before["content"], later["content"], before["content"]),
                "the layer MLP takes its own instances from the heads, and all others from the layer's input",
            )
        ],
        given=[Hypothesis("own-layer", own_layer >= 0, "layers count from 0")],
        base_mutants=[
            Mutant(
                "fed-nothing",
                "the call is fed zeros",
                replay_of(now, TOKENS),
                changed=[Hypothesis("fed", now == 0)],
            )
        ],
        step_mutants=[
            Mutant(
                "mixed",
                "3.3.sketch: what waits comes back from a head, averaged over the positions",
                replay_of(after, z3.If(own_layer < z3.Int("n") + 1, OUTPUT, TOKENS)),
                changed=[Hypothesis("layer", step(now, after, now + leak), "others are off by a leak")],
            ),
            Mutant(
                "multiplied-by-zero",
                "B.3.construction: W^V = [W^V; 0; ...; 0] takes no column of an instance that waits",
                replay_of(after, z3.If(own_layer < z3.Int("n") + 1, OUTPUT, TOKENS)),
                changed=[Hypothesis("layer", step(now, after, z3.RealVal(0)), "others become 0")],
            ),
            Mutant(
                "one-layer-late",
                "an instance is computed by the layer after its own",
                replay_of(after, z3.If(own_layer < z3.Int("n") + 1, OUTPUT, TOKENS)),
                changed=[Hypothesis("layer", after == now, "no instance is computed")],
            ),
        ],
    )


def _leak() -> Obligation:
    others, q, count, share = z3.Reals("others q count share")
    return Obligation(
        item=ITEM,
        name="leak",
        kind=Kind.ANALYSIS,
        scope="all sequence lengths",
        hypotheses=[
            Hypothesis(
                "others", z3.And(others >= 0, others <= count * q), "each other token weighs at most q = e^(-2B)"
            ),
            Hypothesis("signs", z3.And(q >= 0, count >= 0), "n-1 others"),
            Hypothesis("share", share * (1 + others) == others, "of the whole, with the own weight as 1"),
        ],
        goal=z3.And(share >= 0, share <= count * q),
        proves="a passing head gives the other tokens at most (n-1) e^(-2B) = eps of the weight",
        lifting="so it returns x_i + sum_j share_j (x_j - x_i), which is off by at most 2 eps X",
        mutants=[
            Mutant(
                "one-fewer",
                "one token fewer leaks",
                replay_of(share, (count - 1) * q),
                share <= (count - 1) * q,
            )
        ],
    )


def _passing() -> Induction:
    eps, X, off, off_after = z3.Reals("eps X off off_after")
    n = z3.Int("n")
    return Induction(
        item=ITEM,
        name="passing",
        scope="all L'",
        proves="tokens that passed n layers are off by at most 2 n eps X",
        kind=Kind.ANALYSIS,
        statement=lambda n, state: state["off"] <= 2 * (z3.ToReal(n) * (eps * X)),
        state=("off",),
        start=lambda state: [Hypothesis("fed", state["off"] == 0)],
        definition=lambda n, before, later: [
            Hypothesis(
                "passed",
                later["off"] <= before["off"] + 2 * (eps * X),
                "convex combinations do not enlarge what is off, and add at most 2 eps X",
            )
        ],
        given=[Hypothesis("signs", z3.And(eps >= 0, X >= 0))],
        depends_on=[f"{ITEM}/leak"],
        base_mutants=[
            Mutant(
                "off-at-first",
                "tokens may be off by 1",
                replay_of(off, z3.RealVal(0)),
                changed=[Hypothesis("fed", off == 1)],
            )
        ],
        step_mutants=[
            Mutant(
                "doubling",
                "what is off doubles",
                replay_of(off_after, 2 * ((z3.ToReal(n) + 1) * (eps * X))),
                changed=[Hypothesis("passed", off_after <= 2 * off + 2 * (eps * X))],
            )
        ],
    )


def _total() -> Obligation:
    eps, X, V, W, own, last, growth, error = z3.Reals("eps X V W own last growth error")
    bound = eps * V * X * (2 * last + 16 * (own * W) * (X * X))
    return Obligation(
        item=ITEM,
        name="error-without-residual",
        kind=Kind.ANALYSIS,
        scope="all L' and H' >= 2, tokens of norm at most X",
        hypotheses=[
            Hypothesis("signs", z3.And(eps >= 0, X >= 0, V >= 0, W >= 0, own >= 0, last >= own), "layers own <= L'-1"),
            Hypothesis("softmax", growth <= 16 * (own * W) * ((X * X) * eps), "e^(2s) - 1 <= 4s, for 2s <= 1"),
            Hypothesis(
                "error",
                error == V * (X * growth + 2 * (own * eps) * X) + V * (2 * (last - own) * (eps * X)),
                "weights off, tokens off, and the output passed through the later layers",
            ),
        ],
        goal=error <= bound,
        proves="error <= eps |W_V| X (2 (L'-1) + 16 l |W_Q W_K^T| X^2)",
        lifting=(
            "tokens off by delta = 2 l eps X move scores by s = 2 |W_Q W_K^T| X delta and weights by e^(2s) - 1; "
            "e^x - 1 <= 2x for 0 <= x <= 1"
        ),
        depends_on=[f"{ITEM}/passing-step", f"{ITEM}/leak"],
        mutants=[
            Mutant(
                "weights-forgotten",
                "softmax weights taken as they were",
                replay_of(error, eps * V * X * (2 * last)),
                error <= eps * V * X * (2 * last),
            ),
            Mutant(
                "one-layer",
                "only one layer passes",
                replay_of(error, eps * V * X * (2 + 16 * (own * W) * (X * X))),
                error <= eps * V * X * (2 + 16 * (own * W) * (X * X)),
            ),
        ],
    )
