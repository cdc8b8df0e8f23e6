"""What a whole transformer costs, in closed form: every number that the ledger of a packed run would show."""

from __future__ import annotations

from dataclasses import dataclass

from twoheads.call_lengths import call_lengths
from twoheads.catalogue import DEFAULTS, Options
from twoheads.counts import HeadShape
from twoheads.counts import counts as head_counts
from twoheads.errors import InputError
from twoheads.oracle import Ledger
from twoheads.packings import code_length, packing
from twoheads.schedules import ceil_div

__all__ = ["InstanceShape", "call_size", "packed_counts"]

_RETURNED = {"merged": 1, "stable": 2, "separate": 2}
"""How many numbers beside a value a call of one head returns."""


@dataclass(frozen=True)
class InstanceShape:
    """An instance whose tokens (n, w) are read by W_Q, W_K (w, m) and W_V (w, v)."""

    w: int
    m: int
    v: int

    @property
    def parameters(self) -> int:
        """Its attention parameters."""
        return self.w * (2 * self.m + self.v)

    def width(self, own: int, layer: int) -> int:
        """Columns it takes in what `layer` reads, if it is computed in layer `own`."""
        return self.v if own < layer else self.w


def packed_counts(
    name: str,
    variant: str,
    N: int,
    M: int,
    shape: HeadShape,
    H: int,
    L: int,
    H_small: int,
    L_small: int,
    how: str = "residual",
    options: Options = DEFAULTS,
) -> Ledger:
    """Calls, rounds, tokens, embedding dimension and parameters of L layers of H equal heads.

    Args:
        name, variant: of `twoheads.catalogue.CONSTRUCTIONS`; a variant of one call per block.
        N, M: tokens, and the oracle's length.
        shape: a head's.
        H, L, H_small, L_small: heads and layers, large and small.
        how: a name of `twoheads.packings.PACKINGS`.
        options: r and s where the construction has a window.

    Raises:
        InputError: the construction or the packing does not take these parameters, or the variant makes two
            calls per block, whose instances differ in shape.
    """
    capacity = packing(how).capacity(H_small, L_small)
    lengths = call_lengths(name, variant, N, M, options)
    instance = _instance(head_counts(name, variant, N, M, shape, options), name, variant, shape)
    calls = {n: ceil_div(H * C, capacity) for n, C in lengths.items()}
    sizes = [call_size(how, min(H * C, capacity), n, instance, H_small, L_small) for n, C in lengths.items()]
    return Ledger(
        calls=L * sum(calls.values()),
        rounds=L,
        tokens=L * sum(n * count for n, count in calls.items()),
        width=max(width for width, _ in sizes),
        parameters=max(parameters for _, parameters in sizes),
    )


def call_size(how: str, count: int, n: int, instance: InstanceShape, H_small: int, L_small: int) -> tuple[int, int]:
    """Embedding dimension and attention parameters of a call of n tokens that holds `count` equal instances."""
    lanes, _ = packing(how).shape(H_small, L_small)
    depth = ceil_div(count, lanes)
    width, parameters = count * instance.w, count * instance.parameters
    if depth == 1 or how == "residual":
        return width, parameters
    # the layers of the instances in each lane
    lane_layers = [range(ceil_div(count - lane, lanes)) for lane in range(lanes)]
    if how == "printed":
        return width, sum(_printed(instance, own, layer) for layer in range(depth) for own in lane_layers)
    groups = [[layer for own in lane_layers for layer in own]] if how == "pass_through" else lane_layers
    passing = sum(_passing(instance, own, layer, code_length(n)) for layer in range(depth) for own in groups)
    return width + len(groups) * code_length(n), parameters + passing


def _printed(instance: InstanceShape, own: range, layer: int) -> int:
    """A head with zeros and the identity for what is not this layer's; a lane that is done has scores 0."""
    read, made = (sum(instance.width(one, at) for one in own) for at in (layer, layer + 1))
    return read * (2 * (instance.m if layer in own else 1) + made)


def _passing(instance: InstanceShape, own: range | list[int], layer: int, code: int) -> int:
    """A head that passes on what is not this layer's; none if there is nothing."""
    passed = sum(instance.width(one, layer) for one in own if one != layer)
    return (passed + code) * (2 * code + passed) if passed else 0


def _instance(head: Ledger, name: str, variant: str, shape: HeadShape) -> InstanceShape:
    if variant not in _RETURNED:
        raise InputError(f"the variant {variant} makes calls of two shapes: take one of {', '.join(_RETURNED)}.")
    v = shape.d_v + (0 if name == "average-case" else _RETURNED[variant])
    return InstanceShape(head.width, (head.parameters // head.width - v) // 2, v)
