"""How Lemma 3.3 lays independent instances out in one small transformer; `twoheads.lemma_3_3` says which to use.

Slot k of a call is computed by layer k // lanes, in lane k % lanes; a lane is what B.3 calls head h. Until its
layer an instance waits as its tokens, after it as its output, and the packings differ in how both get past the
layers that are not theirs. A call of one layer has nothing that waits, and there they are all the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from twoheads.errors import InputError
from twoheads.scalars import Array, Domain
from twoheads.transformer import Head, Layer, Mlp, Transformer

__all__ = ["PACKINGS", "Call", "Instance", "Packing", "code_length", "packing", "slices"]


@dataclass(frozen=True, eq=False)
class Instance:
    """One single-layer single-head instance in its place: `head` reads tokens of its own width."""

    head: Head
    slot: int
    layer: int
    lane: int

    def width(self, layer: int) -> int:
        """How many columns it takes in what `layer` reads."""
        W = self.head.W_V
        return int(W.shape[1] if self.layer < layer else W.shape[0])


@dataclass(frozen=True, eq=False)
class Call:
    """What one oracle call holds: its instances, by slot, and what the packing needs to know."""

    instances: tuple[Instance, ...]
    n: int
    """Tokens of the call."""
    domain: Domain
    B: int
    """The factor of the position codes."""

    @property
    def depth(self) -> int:
        """How many layers it uses."""
        return 1 + max(one.layer for one in self.instances)


@dataclass(frozen=True)
class Packing:
    """One way to put instances into the H' heads and L' layers of a call."""

    name: str
    lanes: Callable[[int, int], int]
    """Instances that a layer computes, from H' and L' >= 2; 0 where it cannot be done. Of L' = 1 it is H'."""
    layers: Callable[[int], int]
    """Layers that compute, from L'."""
    feed: Callable[[Call, Sequence[Array]], Array]
    """The call's tokens (C, n, width) from the instances' tokens (C, n, w), by slot."""
    build: Callable[[Call], Transformer]
    """The parameters; the output holds the instances' outputs by slot."""
    exact: bool
    """Whether its result is the instances' in exact arithmetic."""

    def shape(self, H_small: int, L_small: int) -> tuple[int, int]:
        """(lanes, layers): how many instances a layer computes, and how many layers do.

        Raises:
            InputError: an oracle of this shape cannot be packed this way.
        """
        layers = self.layers(L_small)
        lanes = self.lanes(H_small, L_small) if layers > 1 else H_small
        if not lanes:
            raise InputError(f"the packing {self.name} needs H' >= 2 heads where L' >= 2: take the packing residual.")
        return lanes, layers

    def capacity(self, H_small: int, L_small: int) -> int:
        """Instances per call."""
        lanes, layers = self.shape(H_small, L_small)
        return lanes * layers


def slices(widths: Sequence[int], start: int = 0) -> list[slice]:
    """Neighbouring columns of these widths."""
    ends = np.cumsum([start, *widths]).tolist()
    return [slice(a, b) for a, b in itertools.pairwise(ends)]


def code_length(n: int) -> int:
    """Coordinates of a position code for n positions."""
    return int(n - 1).bit_length()


def _by_lane(call: Call) -> list[Instance]:
    """The order of B.3.construction: X_{1,1}, ..., X_{1,L'}, X_{2,1}, ..., X_{H',L'}."""
    return sorted(call.instances, key=lambda one: (one.lane, one.layer))


def _feed_by_lane(call: Call, tokens: Sequence[Array]) -> Array:
    return call.domain.xp.concat([tokens[one.slot] for one in _by_lane(call)], axis=-1)


def _by_slot(order: Sequence[Instance], parts: Sequence[Array], domain: Domain) -> Array:
    found = {one.slot: part for one, part in zip(order, parts, strict=True)}
    return domain.xp.concat([found[slot] for slot in range(len(order))], axis=-1)


def _one_layer(call: Call) -> Transformer:
    """All instances side by side: slots are then the heads' own order."""
    columns = slices([one.width(0) for one in call.instances])
    return Transformer([Layer([_reading(one, own) for one, own in zip(call.instances, columns, strict=True)])])


def _reading(one: Instance, columns: slice) -> Head:
    """The instance's head on its own columns: B.3's W' = [0; W; 0] without its zeros."""
    return Head(one.head.W_Q, one.head.W_K, one.head.W_V, columns=columns)


def _or_one_layer(build: Callable[[Call], Transformer]) -> Callable[[Call], Transformer]:
    return lambda call: build(call) if call.depth > 1 else _one_layer(call)


# residual: the layer MLP sees the layer's input and takes from it what is not this layer's


def _residual(call: Call) -> Transformer:
    return Transformer([_residual_layer(call, layer) for layer in range(call.depth)])


def _residual_layer(call: Call, layer: int) -> Layer:
    order, domain = _by_lane(call), call.domain
    columns = slices([one.width(layer) for one in order])
    own = [k for k, one in enumerate(order) if one.layer == layer]
    outputs = dict(zip(own, slices([order[k].width(layer + 1) for k in own]), strict=True))
    last = layer == call.depth - 1

    def kept(X: Array) -> Array:
        # an output that has waited as a token is read as a value again
        return domain.values(X, domain.constant(np.eye(X.shape[-1], dtype=np.int64))) if last else X

    def mlp(joined: Array, positions: Array, X: Array) -> Array:
        new = joined if last else domain.tokens(joined)
        parts = [new[..., outputs[k]] if k in outputs else kept(X[..., columns[k]]) for k in range(len(order))]
        return _by_slot(order, parts, domain) if last else domain.xp.concat(parts, axis=-1)

    return Layer([_reading(order[k], columns[k]) for k in own], mlp, residual=True)


# printed: value weights that are the identity on what is not this layer's


def _printed(call: Call) -> Transformer:
    order, domain = _by_lane(call), call.domain
    ends = slices([one.width(call.depth) for one in order])

    def mlp(joined: Array, positions: Array) -> Array:
        return _by_slot(order, [joined[..., own] for own in ends], domain)

    layers = [Layer(_printed_heads(call, layer)) for layer in range(call.depth)]
    return Transformer([*layers[:-1], Layer(layers[-1].heads, mlp)])


def _printed_heads(call: Call, layer: int) -> list[Head]:
    heads, start = [], 0
    for lane in range(1 + max(one.lane for one in call.instances)):
        own = [one for one in _by_lane(call) if one.lane == lane]
        width = sum(one.width(layer) for one in own)
        heads.append(_printed_head(own, layer, call.domain, slice(start, start + width)))
        start += width
    return heads


def _printed_head(own: Sequence[Instance], layer: int, domain: Domain, columns: slice) -> Head:
    """W_Q' = [0; W_Q; 0], W_K' alike, and W_V' = [I, 0, 0; 0, W_V, 0; 0, 0, I]; only W_V' if the lane is done."""
    xp = domain.xp
    mine = [one for one in own if one.layer == layer]
    m = mine[0].head.W_Q.shape[1] if mine else 1

    def zeros(a: int, b: int) -> Array:
        return domain.constant(np.zeros((a, b), dtype=np.int64))

    def value(one: Instance) -> Array:
        return one.head.W_V if one in mine else domain.constant(np.eye(one.width(layer), dtype=np.int64))

    W_Q = xp.concat([one.head.W_Q if one in mine else zeros(one.width(layer), m) for one in own], axis=0)
    W_K = xp.concat([one.head.W_K if one in mine else zeros(one.width(layer), m) for one in own], axis=0)
    rows = [
        xp.concat(
            [value(one) if one is other else zeros(one.width(layer), other.width(layer + 1)) for other in own], -1
        )
        for one in own
    ]
    return Head(W_Q, W_K, xp.concat(rows, axis=0), columns=columns)


# pass_through, paired: further heads whose attention is close to the identity pass on what is not this layer's


@dataclass(frozen=True)
class _Passing:
    """Every head that computes has a passing head for its group of lanes; heads read disjoint columns.

    What a layer reads is, group by group, its own instances, the others, and the position code.
    """

    group: Callable[[int], int]
    """Of a lane."""

    def groups(self, call: Call) -> list[list[Instance]]:
        """The instances by group."""
        numbers = sorted({self.group(one.lane) for one in call.instances})
        return [[one for one in _by_lane(call) if self.group(one.lane) == number] for number in numbers]

    def order(self, call: Call, layer: int) -> list[list[Instance]]:
        """By group, those of the layer first."""
        return [sorted(group, key=lambda one: one.layer != layer) for group in self.groups(call)]

    def feed(self, call: Call, tokens: Sequence[Array]) -> Array:
        """The tokens as layer 0 reads them."""
        if call.depth == 1:
            return _feed_by_lane(call, tokens)
        return self.arranged(call, 0, dict(enumerate(tokens)), np.arange(call.n))

    def arranged(self, call: Call, layer: int, parts: dict[int, Array], positions: np.ndarray) -> Array:
        """Parts by slot as the layer reads them: the MLP pads the code of the token's place in the call."""
        code = _code(call, positions, parts[0].shape[:-1])
        rows = [[*(parts[one.slot] for one in group), code] for group in self.order(call, layer)]
        return call.domain.xp.concat([part for row in rows for part in row], axis=-1)

    def build(self, call: Call) -> Transformer:
        """All layers."""
        return Transformer([Layer(self.heads(call, layer), self.mlp(call, layer)) for layer in range(call.depth)])

    def heads(self, call: Call, layer: int) -> list[Head]:
        """By group, the layer's instances and the head that passes the others on."""
        heads, start, bits = [], 0, code_length(call.n)
        for group in self.order(call, layer):
            own = [one for one in group if one.layer == layer]
            widths = [one.width(layer) for one in group]
            heads += [_reading(one, own) for one, own in zip(own, slices(widths[: len(own)], start), strict=True)]
            start += sum(widths[: len(own)])
            passed = sum(widths[len(own) :])
            if passed:
                heads.append(_passing_head(call, passed, slice(start, start + passed + bits)))
            start += passed + bits
        return heads

    def mlp(self, call: Call, layer: int) -> Mlp:
        """What the heads return, in the order that the next layer reads, or by slot after the last."""
        order = [one for group in self.order(call, layer) for one in group]
        columns = slices([one.width(layer + 1) for one in order])
        domain = call.domain

        def mlp(joined: Array, positions: np.ndarray) -> Array:
            parts = [joined[..., own] for own in columns]
            if layer == call.depth - 1:
                return _by_slot(order, parts, domain)
            return self.arranged(call, layer + 1, {one.slot: x for one, x in zip(order, parts, strict=True)}, positions)

        return mlp


def _code(call: Call, positions: np.ndarray, shape: tuple[int, ...]) -> Array:
    """The positions in binary, as signs: (*shape, bits), shape ending in the positions."""
    signs = 2 * ((positions[:, None] >> np.arange(code_length(call.n))) & 1) - 1
    return call.domain.constant(np.broadcast_to(signs, (*shape, signs.shape[1])).copy())


def _passing_head(call: Call, passed: int, columns: slice) -> Head:
    """Scores B <code_i, code_j>: on itself a token scores at least 2B more than on any other."""
    bits, constant = code_length(call.n), call.domain.constant
    query = np.concatenate([np.zeros((passed, bits), dtype=np.int64), call.B * np.eye(bits, dtype=np.int64)])
    key = np.concatenate([np.zeros((passed, bits), dtype=np.int64), np.eye(bits, dtype=np.int64)])
    value = np.eye(passed + bits, passed, dtype=np.int64)
    return Head(constant(query), constant(key), constant(value), columns=columns)


_ONE_GROUP = _Passing(group=lambda lane: 0)
_PAIRS = _Passing(group=lambda lane: lane)

PACKINGS: dict[str, Packing] = {
    entry.name: entry
    for entry in (
        Packing("printed", lambda H, L: H, lambda L: L, _feed_by_lane, _or_one_layer(_printed), exact=False),
        Packing("residual", lambda H, L: H, lambda L: L, _feed_by_lane, _or_one_layer(_residual), exact=True),
        Packing(
            "pass_through",
            lambda H, L: H - 1,
            lambda L: L,
            _ONE_GROUP.feed,
            _or_one_layer(_ONE_GROUP.build),
            exact=False,
        ),
        Packing("paired", lambda H, L: H // 2, lambda L: L, _PAIRS.feed, _or_one_layer(_PAIRS.build), exact=False),
        Packing("one_layer", lambda H, L: H, lambda L: 1, _feed_by_lane, _one_layer, exact=True),
    )
}


def packing(name: str) -> Packing:
    """The packing of that name.

    Raises:
        InputError: there is none.
    """
    if name not in PACKINGS:
        raise InputError(f"there is no packing {name!r}: choose one of {', '.join(PACKINGS)}.")
    return PACKINGS[name]
