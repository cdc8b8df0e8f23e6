"""Kernel verdicts come from a result of exactly these sources, or not at all."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from proofs import kernel
from proofs.verdicts import Verdict

SOURCES = Path(kernel.__file__).parent / "coq"


@pytest.fixture
def record():
    """A result as `make kernel` writes it, with every tied theorem accepted."""
    parts = [(source.name, source.read_text()) for source in sorted(SOURCES.glob("*.v"))]
    theorems = [
        {"name": tie.theorem, "file": "A.v", "line": 1, "statement": "True", "assumptions": []} for tie in kernel.TIES
    ]
    digest = hashlib.sha256(repr(parts).encode()).hexdigest()
    return {"coq": "8.16.1", "passed": True, "sources": digest, "theorems": theorems}


def written(folder, record):
    path = folder / "kernel.json"
    path.write_text(json.dumps(record))
    return path


def test_every_tied_theorem_is_in_the_sources():
    sources = "".join(path.read_text() for path in SOURCES.glob("*.v"))
    for tie in kernel.TIES:
        assert f"Theorem {tie.theorem} " in sources, tie.theorem


def test_a_current_result_is_believed(tmp_path, record):
    found = kernel.kernel_theorems(written(tmp_path, record))
    assert len(found) == len(kernel.TIES)
    assert all(row.accepted and row.coq == "8.16.1" for row in found)


def test_what_is_missing_or_failed_is_not_accepted(tmp_path, record):
    record["theorems"].pop()
    assert [row.accepted for row in kernel.kernel_theorems(written(tmp_path, record))][-1] is False
    record["passed"] = False
    assert not any(row.accepted for row in kernel.kernel_theorems(written(tmp_path, record)))


def test_a_theorem_counts_as_accepted_by_its_run_and_its_axioms(tmp_path, record):
    names = [one["name"] for one in record["theorems"]]
    assert kernel.accepted_theorems(written(tmp_path, record)) == set(names)
    record["theorems"][0]["assumptions"] = ["Made.up"]
    assert names[0] not in kernel.accepted_theorems(written(tmp_path, record))
    record["passed"] = False
    assert kernel.accepted_theorems(written(tmp_path, record)) == set()


@pytest.mark.parametrize("text", [None, "", "[]", "{}", '{"sources": "0"}'])
def test_no_result_or_one_of_other_sources_claims_nothing(tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    if text is not None:
        (tmp_path / "build").mkdir()
        (tmp_path / kernel.RECORD).write_text(text)
    assert kernel.kernel_record() is None
    assert list(kernel.obligations()) == []
    assert kernel.accepted_theorems() == set()
    assert not any(row.accepted or row.coq for row in kernel.kernel_theorems())


def test_the_verdict_is_computed_from_acceptance_and_axioms(tmp_path, monkeypatch, record):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "build").mkdir()
    record["theorems"][0]["assumptions"] = ["Made.up"]
    (tmp_path / kernel.RECORD).write_text(json.dumps(record))
    verdicts = [check.run().judged()[0] for check in kernel.obligations()]
    assert verdicts[0] is Verdict.UNKNOWN
    assert set(verdicts[1:]) == {Verdict.KERNEL_CHECKED}
