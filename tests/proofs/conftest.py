"""The compiled Coq model, once for all tests that compute with it."""

from __future__ import annotations

import pytest

from tests.coq_model import compiled


@pytest.fixture(scope="session")
def coq(tmp_path_factory):
    """A folder with the compiled modules of `tests.coq_model.COMPUTED`; only for tests that skip without Coq."""
    return compiled(tmp_path_factory.mktemp("coq"))
