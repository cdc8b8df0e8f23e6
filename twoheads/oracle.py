"""The oracle of section 1.1: a small transformer that reads at most M tokens, as a metered black box.

A simulator hands over token sequences and parameters and gets the small transformer's output; it never sees a
score, a weight or a partial sum. Calls come in rounds of independent calls, which is the paper's adaptivity;
equal-length calls of one round that share their parameters are run as one batch.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field

from twoheads.attention import causal_mask
from twoheads.errors import InputError, OracleLengthError
from twoheads.scalars import Array, Domain, domain_of
from twoheads.transformer import Transformer

__all__ = ["Batch", "Ledger", "Oracle"]


@dataclass(frozen=True, eq=False)
class Batch:
    """Independent calls that share their parameters: tokens (C, n, d) are C calls of n tokens each."""

    tokens: Array
    parameters: Transformer
    domain: Domain | None = None
    """The scalars of the run; recognised from tokens and parameters if not given."""


@dataclass
class Ledger:
    """What an oracle was asked: every call count that the project states is read here.

    `tokens` counts the tokens of all calls, `width` is the largest embedding dimension fed, `parameters` the
    largest number of attention parameters of one call.
    """

    calls: int = 0
    rounds: int = 0
    tokens: int = 0
    width: int = 0
    parameters: int = 0

    def as_dict(self) -> dict[str, int]:
        """The counters by name."""
        return asdict(self)


@dataclass(eq=False)
class Oracle:
    """A transformer of at most M tokens, L_small layers and H_small heads, causal or not.

    Args:
        M: the longest sequence it reads, at least 2.
        L_small, H_small: L' and H', the most layers and heads its parameters may have.
        causal: whether its attention is causally masked (Definition 2.3).
        domain: the scalars; recognised from the tokens and parameters if not given.

    Raises:
        InputError: M < 2, or L_small or H_small < 1.
    """

    M: int
    L_small: int = 1
    H_small: int = 1
    causal: bool = False
    domain: Domain | None = None
    ledger: Ledger = field(default_factory=Ledger)

    def __post_init__(self) -> None:
        if self.M < 2:
            raise InputError(f"the oracle length M must be at least 2, not {self.M}.")
        if self.L_small < 1 or self.H_small < 1:
            raise InputError("the oracle needs at least one layer and one head.")

    def domain_for(self, *arrays: Array) -> Domain:
        """The oracle's own domain, or the one that the arrays share."""
        return self.domain or domain_of(*arrays)

    def round(self, batches: Iterable[Batch]) -> list[Array]:
        """One round: answers every batch, (C, n, d) to (C, n, d').

        The batches may come from a generator, so that a long round need not be in memory at once; no answer is
        seen before the round is over.

        Raises:
            OracleLengthError: a sequence has more than M tokens.
            InputError: a sequence is empty, or the parameters have too many layers or heads.
        """
        self.ledger.rounds += 1
        return [self._answer(batch) for batch in batches]

    def _answer(self, batch: Batch) -> Array:
        calls, n, width = batch.tokens.shape
        if n > self.M:
            raise OracleLengthError(f"a sequence of {n} tokens was put to an oracle that reads M = {self.M}.")
        if n < 1:
            raise InputError("an empty sequence was put to the oracle: give it at least one token.")
        if not batch.parameters.fits(self.L_small, self.H_small):
            raise InputError(
                f"parameters of {batch.parameters.L} layers and {batch.parameters.H} heads do not fit an oracle of "
                f"L' = {self.L_small} and H' = {self.H_small}."
            )
        self.ledger.calls += calls
        self.ledger.tokens += calls * n
        self.ledger.width = max(self.ledger.width, width)
        self.ledger.parameters = max(self.ledger.parameters, batch.parameters.parameters)
        first = batch.parameters.layers[0].heads[0]
        domain = batch.domain or self.domain_for(batch.tokens, first.W_Q, first.W_K, first.W_V)
        mask = domain.xp.asarray(causal_mask(n)) if self.causal else None
        return batch.parameters(batch.tokens, mask, domain)
