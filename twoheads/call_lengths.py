"""How many calls of which length one head's run makes: what a packing, which packs equal lengths, needs to know."""

from __future__ import annotations

from collections import Counter

import numpy as np

from twoheads import theorem_5_1
from twoheads.catalogue import DEFAULTS, Options, construction
from twoheads.errors import InputError
from twoheads.schedules import block_length, ceil_div

__all__ = ["call_lengths"]


def call_lengths(name: str, variant: str, N: int, M: int, options: Options = DEFAULTS) -> dict[int, int]:
    """Calls by the number of their tokens, in closed form; together they are the construction's `calls`.

    Args:
        name, variant: of `twoheads.catalogue.CONSTRUCTIONS`.
        N, M: tokens, and the oracle's length.
        options: r and s where the construction has a window.

    Raises:
        InputError: the construction does not take these parameters.
    """
    construction(name).checked(variant)
    if name == "quadratic":
        found = _quadratic(N, M, variant)
    elif name == "causal":
        found = _causal(N, M, variant)
    elif name == "average-case":
        found = _average_case(N, M, variant)
    elif name in ("window", "sink"):
        found = _window(N, M, options.r, options.s if name == "sink" else 0, variant)
    else:
        raise InputError(f"no closed form of the lengths of the calls of {name}.")
    return {length: count for length, count in sorted(found.items()) if count}


def _quadratic(N: int, M: int, variant: str) -> Counter[int]:
    n = block_length(N, M)
    T = ceil_div(N, n)
    return Counter({n + 1: T**2, n: T**2 if variant == "printed" else 0})


def _causal(N: int, M: int, variant: str) -> Counter[int]:
    n = block_length(N, M)
    T = ceil_div(N, n)
    pairs = T * (T - 1) // 2
    backwards = pairs if n > 1 else 0
    found = Counter({n + 1: T + pairs})
    found[n] += backwards
    if variant in ("printed", "repaired"):  # step 2, without the synthetic token; as printed, unshifted
        found[n] += T + pairs
        found[n if variant == "printed" else n - 1] += backwards
    return found


def _average_case(N: int, M: int, variant: str) -> Counter[int]:
    n = block_length(N, M) if variant == "printed" else min(M, N)
    T = ceil_div(N, n)
    return Counter({n: T, n + 1: T if variant == "printed" else 0})


def _window(N: int, M: int, r: int, s: int, variant: theorem_5_1.Variant | str) -> Counter[int]:
    found: Counter[int] = Counter()
    for part in theorem_5_1.schedule(N, M, r, s, variant):  # type: ignore[arg-type]  # checked by the construction
        length = 1 + (part.sizes.s if part.family.sinks else 0) + int(np.prod(part.family.rows(part.sizes)))
        found[length] += part.sizes.T
        if variant == "printed":
            found[length - 1] += part.sizes.T
    return found
