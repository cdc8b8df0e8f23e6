"""The reconstruction with two calls per block, as B.1.steps, B.5 and D.1 print it.

Step 1 returns R = A/(A+s), with s synthetic tokens of weight 1, and A = s R/(1-R) (B.1.recover). Step 2 returns
B/A, from the same tokens without the leading synthetic one. Where step 2 still holds z synthetic rows of value
0, its output is B/(A+z), and B is that times A+z. In float64, 1-R has no digits left once A passes 2^53.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from twoheads.oracle import Batch
from twoheads.plans import Asked, Plan
from twoheads.reconstruction import Rows, Tokens, contributions, extended_head, portions, sequences
from twoheads.scalars import Array, Domain
from twoheads.schedules import CallFamily, Part
from twoheads.transformer import Head, single_head

__all__ = ["two_call_reconstruction"]


def two_call_reconstruction(
    X: Array,
    head: Head,
    oracle: Asked,
    schedule: Sequence[Part],
    values: Mapping[CallFamily, CallFamily] | None = None,
) -> Plan:
    """Attention of one head over all pairs of the schedule, with each call made twice, as a plan of one round.

    Args:
        X: tokens (N, d).
        head: W_Q, W_K (d, m) and W_V (d, d_v).
        oracle: says what the scalars are.
        schedule: every allowed pair must occur, counted with its family's sign, exactly once. No groups.
        values: families that step 2 uses in place of step 1's; their last rows answer for step 1's rows.

    Returns:
        (N, d_v).
    """
    domain = oracle.domain_for(X, head.W_Q, head.W_K, head.W_V)
    values = values or {}
    layout = Tokens(X.shape[1], 0)
    rows_1 = list(portions(schedule, layout))
    rows_2 = list(portions([Part(values.get(p.family, p.family), p.sizes) for p in schedule], layout))
    weight = single_head(*extended_head(head, domain, layout, "weight"))
    ratio = single_head(*extended_head(head, domain, layout, "ratio"))
    answers = yield [
        *(Batch(sequences(X, rows, layout, domain), weight, domain) for rows in rows_1),
        *(Batch(sequences(X, rows, layout, domain)[:, 1:], ratio, domain) for rows in rows_2),
    ]
    sums = [
        _sums(R[:, 1 + own.sinks :], out, own, other, domain)
        for R, out, own, other in zip(answers[: len(rows_1)], answers[len(rows_1) :], rows_1, rows_2, strict=True)
    ]
    flat = domain.xp.concat([domain.xp.reshape(BA, (-1, BA.shape[-1])) for BA in sums], axis=0)
    flat = domain.xp.concat([flat, domain.number(np.zeros((1, flat.shape[1]), dtype=np.int64))], axis=0)
    places = contributions(np.concatenate([rows.query.ravel() for rows in rows_1]), X.shape[0])
    total = domain.xp.sum(flat[places], axis=1)
    return total[:, :-1] / total[:, -1:]


def _sums(R: Array, out: Array, own: Rows, other: Rows, domain: Domain) -> Array:
    """(B, A) of every row, with the family's sign: (calls, rows, d_v + 1)."""
    count = own.query.shape[1]
    s = domain.number(own.synthetic[..., None])
    z = domain.number(other.synthetic[:, -count:, None] - 1)
    A = s * R / (domain.number([[[1]]]) - R)
    return domain.number([[[own.sign]]]) * domain.xp.concat([out[:, -count:] * (A + z), A], axis=-1)
