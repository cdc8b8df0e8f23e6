"""Closed forms against the ledger of a run, for hundreds of random settings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.judge import EVERY_VARIANT, admits
from twoheads.catalogue import CONSTRUCTIONS, Options
from twoheads.counts import HeadShape, counts
from twoheads.oracle import Oracle
from twoheads.plans import run
from twoheads.transformer import Head


@pytest.mark.parametrize(("name", "variant"), EVERY_VARIANT)
@settings(max_examples=200, suppress_health_check=[HealthCheck.filter_too_much])
@given(
    N=st.integers(1, 60),
    M=st.integers(2, 20),
    r=st.integers(1, 9),
    s=st.integers(0, 6),
    d=st.integers(1, 4),
    m=st.integers(1, 3),
    d_v=st.integers(1, 3),
)
def test_the_closed_form_is_the_ledger(name, variant, N, M, r, s, d, m, d_v):
    entry, options = CONSTRUCTIONS[name], Options(r=r, s=s)
    assume(admits(entry, N, M, variant, options))
    oracle = Oracle(M, causal=entry.causal)
    head = Head(np.ones((d, m)), np.ones((d, m)), np.ones((d, d_v)))
    run([entry.plan(np.zeros((N, d)), head, oracle, variant, options)], oracle)
    assert counts(name, variant, N, M, HeadShape(d, m, d_v), options) == oracle.ledger
