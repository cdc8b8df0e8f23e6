"""Every obligation, check and assumption of the registry as one test, named after its module and itself."""

from __future__ import annotations

import pytest

from proofs.answers import Answers
from proofs.core import Result
from proofs.registry import item_modules

SUBJECTS = {
    f"{name}-{subject.name}": subject for name, module in item_modules().items() for subject in module.obligations()
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
    assert {"lemma_3_1"} <= item_modules().keys()
    assert len(SUBJECTS) > 10
