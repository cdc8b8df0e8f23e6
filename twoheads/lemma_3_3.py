"""Lemma 3.3 / B.3: independent single-head instances packed into calls of an oracle with L' layers and H' heads.

`PackedOracle` stands before such an oracle and is asked like one of one layer and one head; it puts the instances of
a round, sequence length by sequence length, into as few calls as they fill. The packings, with w the embedding
dimension of an instance (d/H up to a constant) and c = ceil(log2 n) the length of a position code:

*printed* (B.3.construction, 3.3.sketch): the value weights are the identity on the columns of other instances. But a
head mixes all its value columns with one attention matrix, so what waits for layer 2 leaves layer 1 averaged over
the positions. Right only for L' = 1.

*residual*: the layer MLP also sees the layer's input, as in real models, and takes the other instances from there.
H'L' instances per call, embedding dimension H'L'w, exact over every scalar. It changes the oracle, not the counts.

*pass_through*: the paper's oracle without residual connection. One head of every layer scores B <code_i, code_j> for
position codes of signs, so that a token attends to any other with a weight of at most e^(-2B) of its own; it passes on
what is not this layer's. (H'-1) L' instances per call. It needs no change to the oracle, but passes all columns
through one head, and with heads of equal width d/H (section 2.1.layer) that costs a factor H' in the embedding
dimension.

*paired*: the same with one passing head for every computing one. floor(H'/2) L' instances per call; the heads of a
pair read at most (L'-1) w + c columns, so that even heads of equal width keep the statement's embedding dimension
O(d H'L'/H), up to the codes.

*one_layer*: the other layers stay unused. H' instances per call, exact; no worse than pass_through if H' = L' = 2.

A further way, to give the instances different tokens of one sequence and part them by codes (Theorem 4.2), is not
built: sequences of M/L' tokens make L'^2 times as many instances, more than the L' that a call then holds.

Error of the passing packings. With eps = (n-1) e^(-2B) and all tokens of an instance of norm at most X, a passing
head returns convex combinations of its tokens, at most 2 eps X from them, and none longer than X. So an instance
of layer l (from 0) reads tokens at most delta = 2 l eps X off; its scores are at most s = 2 |W_Q W_K^T| X delta off,
its softmax weights at most e^(2s) - 1 in sum, its output at most |W_V| (X (e^(2s) - 1) + delta), and passing that on
through the L'-1-l later layers adds 2 eps |W_V| X for each. As e^x - 1 <= 2x for x <= 1,

    error <= eps |W_V| X (2 (L'-1) + 16 l |W_Q W_K^T| X^2)    if 8 l |W_Q W_K^T| X^2 eps <= 1.

A causal mask only takes terms away. The bound is about real numbers; a floating-point run rounds besides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from twoheads.errors import InputError
from twoheads.oracle import Batch, Ledger, Oracle
from twoheads.packings import PACKINGS, Call, Instance, code_length, packing, slices
from twoheads.scalars import Array, Domain
from twoheads.transformer import Head

__all__ = ["B_DEFAULT", "PackedOracle", "PackingRow", "error_factor", "least_B", "packings"]

B_DEFAULT = 750
"""e^(-2B) is 0 in float64, where the passing heads are then exact."""


@dataclass(frozen=True, eq=False)
class _Piece:
    """Calls of one batch that fill one slot: tokens (C, n, w)."""

    owner: int
    tokens: Array
    head: Head


@dataclass(frozen=True, eq=False)
class _Filled:
    """Whose the slots of some equally filled calls are, and how wide their outputs."""

    owners: list[int]
    widths: list[int]
    xp: Any

    def by_owner(self, answer: Array) -> Iterator[tuple[int, Array]]:
        """Outputs (calls, n, d') of each owner, in its own order."""
        C, n, _ = answer.shape
        if C == 1:
            yield from zip(self.owners, [answer[..., own] for own in slices(self.widths)], strict=True)
            return
        # one owner: slot k holds its calls k, k + capacity, ...
        by_slot = self.xp.reshape(answer, (C, n, len(self.widths), -1))
        yield self.owners[0], self.xp.reshape(self.xp.permute_dims(by_slot, (0, 2, 1, 3)), (-1, n, self.widths[0]))


@dataclass(eq=False)
class PackedOracle:
    """An oracle of one layer and one head to those who ask, backed by one of L' layers and H' heads.

    Args:
        oracle: the one that is called and keeps the ledger.
        packing: a name of `twoheads.packings.PACKINGS`.
        B: factor of the position codes, for the passing packings.

    Raises:
        InputError: no such packing, or the oracle has too few heads for it, or B < 1.
    """

    oracle: Oracle
    packing: str = "residual"
    B: int = B_DEFAULT

    def __post_init__(self) -> None:
        if self.B < 1:
            raise InputError(f"the factor B of the position codes must be a positive integer, not {self.B}.")
        self.M, self.causal = self.oracle.M, self.oracle.causal
        self.lanes, self.layers = packing(self.packing).shape(self.oracle.H_small, self.oracle.L_small)

    @property
    def domain(self) -> Domain | None:
        """The scalars, if the oracle fixes them."""
        return self.oracle.domain

    @property
    def ledger(self) -> Ledger:
        """What the oracle behind it was asked."""
        return self.oracle.ledger

    @property
    def capacity(self) -> int:
        """Instances per call."""
        return self.lanes * self.layers

    def domain_for(self, *arrays: Array) -> Domain:
        """The oracle's own domain, or the one that the arrays share."""
        return self.oracle.domain_for(*arrays)

    def round(self, batches: Iterable[Batch]) -> list[Array]:
        """One round: answers every batch, (C, n, d) to (C, n, d').

        Raises:
            OracleLengthError: a sequence has more than M tokens.
            InputError: a batch is empty, its parameters are not one layer with one head and no MLP, or a passing
                packing meets an exact scalar.
        """
        filled: list[_Filled] = []
        answers = self.oracle.round(self._packed(batches, filled))
        found: dict[int, list[Array]] = {}
        for call, answer in zip(filled, answers, strict=True):
            for owner, part in call.by_owner(answer):
                found.setdefault(owner, []).append(part)
        return [filled[0].xp.concat(found[owner], axis=0) for owner in sorted(found)]

    def _packed(self, batches: Iterable[Batch], filled: list[_Filled]) -> Iterator[Batch]:
        """The oracle's batches, noting in `filled` whose slots they are.

        A batch fills whole calls by itself; what is left over waits for others of its length.
        """
        waiting: dict[int, list[_Piece]] = {}
        domain: Domain | None = None
        for owner, batch in enumerate(batches):
            head, domain = self._instance(batch)
            tokens = head.own(batch.tokens)
            C, n = tokens.shape[:2]
            queue = waiting.setdefault(n, [])
            start = min(-len(queue) % self.capacity, C)
            queue += [_Piece(owner, tokens[k : k + 1], head) for k in range(start)]
            if len(queue) == self.capacity:
                yield self._call(queue, domain, filled)
                queue.clear()
            end = C - (C - start) % self.capacity
            if end > start:
                slots = [tokens[start + k : end : self.capacity] for k in range(self.capacity)]
                yield self._call([_Piece(owner, slot, head) for slot in slots], domain, filled)
            queue += [_Piece(owner, tokens[k : k + 1], head) for k in range(end, C)]
        for queue in waiting.values():
            if queue and domain is not None:
                yield self._call(queue, domain, filled)

    def _instance(self, batch: Batch) -> tuple[Head, Domain]:
        layers = batch.parameters.layers
        plain = batch.parameters.input_mlp is None and layers[0].mlp is None
        if batch.parameters.L > 1 or batch.parameters.H > 1 or not plain:
            raise InputError("only instances of one layer and one head without MLPs can be packed: apply MLPs outside.")
        if not batch.tokens.shape[0]:
            raise InputError("a batch without calls was put to the oracle: leave it out.")
        head = layers[0].heads[0]
        domain = batch.domain or self.domain_for(batch.tokens, head.W_Q, head.W_K, head.W_V)
        if domain.exact and self.layers > 1 and self.packing in ("pass_through", "paired"):
            raise InputError(
                f"the packing {self.packing} is not exact over {domain.name}: take residual or one_layer there."
            )
        return head, domain

    def _call(self, pieces: list[_Piece], domain: Domain, filled: list[_Filled]) -> Batch:
        """One piece to a slot; all of them hold equally many calls."""
        instances = tuple(Instance(one.head, k, *divmod(k, self.lanes)) for k, one in enumerate(pieces))
        call = Call(instances, pieces[0].tokens.shape[1], domain, self.B)
        filled.append(_Filled([one.owner for one in pieces], [one.width(call.depth) for one in instances], domain.xp))
        how = packing(self.packing)
        return Batch(how.feed(call, [one.tokens for one in pieces]), how.build(call), domain)


def error_factor(tokens: np.ndarray, head: Head, layer: int, layers: int) -> float:
    """f with error <= f e^(-2B) for an instance of `layer` (from 0) in a call of `layers` layers (see the module).

    Args:
        tokens: the instance's (n, w), floats.
        head: its W_Q, W_K, W_V, floats.

    Returns:
        The factor; the bound needs B >= log(8 l |W_Q W_K^T| X^2 (n-1)) / 2 besides.
    """
    X, scores, values = _sizes(tokens, head)
    return (len(tokens) - 1) * values * X * (2 * (layers - 1) + 16 * layer * scores * X**2)


def least_B(tokens: np.ndarray, head: Head, layers: int, error: float) -> int:
    """The least B for which the bound holds and is at most `error`, whatever layer the instance is in."""
    X, scores, _ = _sizes(tokens, head)
    validity = 8 * (layers - 1) * scores * X**2 * (len(tokens) - 1)
    factor = error_factor(tokens, head, layers - 1, layers)
    return max(1, int(np.ceil(np.log(max(validity, factor / error, 1)) / 2)))


def _sizes(tokens: np.ndarray, head: Head) -> tuple[float, float, float]:
    """The largest token's norm, and the spectral norms of W_Q W_K^T and W_V."""
    X = float(np.linalg.norm(tokens, axis=1).max())
    return X, float(np.linalg.norm(head.W_Q @ head.W_K.T, 2)), float(np.linalg.norm(head.W_V, 2))


@dataclass(frozen=True)
class PackingRow:
    """What a packing offers for one shape of oracle and instance."""

    name: str
    instances: int | None
    """Per call; None where the oracle cannot be packed this way."""
    embedding_dimension: int | None
    """Of a full call, heads being free to read any columns."""
    equal_heads: int | None
    """The same if every head reads 1/H' of the columns and no column twice (section 2.1.layer)."""
    residual: bool
    """Whether the oracle's layers must see their own input."""
    error: str


def packings(w: int, n: int, H_small: int, L_small: int) -> list[PackingRow]:
    """Every packing side by side, for instances of n tokens and embedding dimension w, with outputs no wider.

    Raises:
        InputError: a size is below 1.
    """
    if min(w, n, H_small, L_small) < 1:
        raise InputError(f"sizes must be at least 1, not w = {w}, n = {n}, H' = {H_small}, L' = {L_small}.")
    return [_row(name, w, n, H_small, L_small) for name in PACKINGS]


def _row(name: str, w: int, n: int, H_small: int, L_small: int) -> PackingRow:
    error = {
        "printed": "wrong for L' > 1" if L_small > 1 else "exact",
        "pass_through": "O(n e^(-2B))" if L_small > 1 else "exact",
        "paired": "O(n e^(-2B))" if L_small > 1 else "exact",
    }.get(name, "exact")
    residual = name == "residual" and L_small > 1
    try:
        lanes, layers = packing(name).shape(H_small, L_small)
    except InputError:
        return PackingRow(name, None, None, None, residual, error)
    instances = lanes * layers
    if layers == 1 or name in ("printed", "residual"):
        return PackingRow(name, instances, instances * w, instances * w, residual, error)
    passing = 1 if name == "pass_through" else lanes
    width = instances * w + passing * code_length(n)
    widest_head = max(w, lanes // passing * (layers - 1) * w + code_length(n))
    return PackingRow(name, instances, width, H_small * widest_head, residual, error)
