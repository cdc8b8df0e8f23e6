"""Every obligation, check and assumption of the registry as one test, named after the paper's item and itself."""

from __future__ import annotations

import re

import pytest

from proofs.answers import Answers
from proofs.core import Result
from proofs.registry import all_subjects

SUBJECTS = {
    f"{re.sub('[^a-z0-9]+', '_', subject.item.lower()).strip('_')}-{subject.name}": subject
    for subject in all_subjects().values()
}


@pytest.mark.parametrize("subject", SUBJECTS.values(), ids=SUBJECTS.keys())
def test_passes(subject):
    answers = Answers()
    answers.gather([subject])
    result = Result(subject, answers)
    survivors = [f"{m.name}: {m.reason}" for m in result.mutants if m.fate == "survived"]
    assert survivors == []
    assert result.passed, f"{result.verdict}: {result.reason}"


def test_there_is_something_to_test():
    assert len(SUBJECTS) == len(all_subjects())
    for item in ("lemma_3_1", "lemma_3_3", "theorem_3_4", "theorem_3_5", "theorem_4_1", "theorem_4_2", "theorem_5_1"):
        assert sum(name.startswith(f"{item}-") for name in SUBJECTS) >= 5, item
