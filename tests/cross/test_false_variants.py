"""Every false variant of a running construction is seen: it answers wrongly, or finds that it cannot answer.

So none of the tests that hold a construction against the judge could pass with such a defect in the code.
"""

from __future__ import annotations

import pytest

from tests.false_variants import CODE_MUTANTS, schedule_mutants
from tests.judge import ALLOWED, judged, rational_instance
from twoheads import lemma_3_1, theorem_3_5, theorem_5_1
from twoheads.catalogue import Options
from twoheads.errors import UncoveredQueryError
from twoheads.oracle import Oracle
from twoheads.plans import run
from twoheads.reconstruction import reconstruction
from twoheads.scalars import given_weights
from twoheads.transformer import Head

R2, R2S2 = Options(r=2), Options(r=2, s=2)
CASES = {
    # two sizes each, one that the blocks fill and one that they do not
    "quadratic": ("quadratic", Options(), [(6, lemma_3_1.schedule(6, 4)), (5, lemma_3_1.schedule(5, 4))]),
    "causal": ("causal", Options(), [(9, theorem_3_5.schedule(9, 4)), (7, theorem_3_5.schedule(7, 4))]),
    "window-merged": ("window", R2, [(N, theorem_5_1.schedule(N, 6, 2, 0, "merged")) for N in (9, 8)]),
    "window-separate": ("window", R2, [(N, theorem_5_1.schedule(N, 5, 2, 0, "separate")) for N in (8, 7)]),
    "sink-merged": ("sink", R2S2, [(N, theorem_5_1.schedule(N, 8, 2, 2, "merged")) for N in (11, 10)]),
    "sink-separate": ("sink", R2S2, [(N, theorem_5_1.schedule(N, 7, 2, 2, "separate")) for N in (10, 9)]),
}
SCHEDULES = [(case, name) for case, (_, _, sizes) in CASES.items() for name, _ in schedule_mutants(sizes[0][1])]

HARMLESS_SCHEDULES = {
    # without sinks in the window, there are none to forget
    *((case, name) for case, name in SCHEDULES if case.startswith("window") and name.startswith("sinks forgotten")),
    # and keys before the first position are no keys anyway
    *((case, name) for case, name in SCHEDULES if case.startswith("window") and name.startswith("has_key dropped")),
    # the sinks' one call is all that the first queries have: counted twice, it cancels in the quotient
    *((case, name) for case, name in SCHEDULES if "last call" in name and name.endswith("the sinks with themselves")),
}
HARMLESS_CODE = {
    # only where all pairs are allowed does a query see the rows past the end
    *((case, "padding is not counted as synthetic") for case in CASES if case not in ("quadratic", "sink-merged")),
    # the chunk's first rows are the same synthetic tokens for LEAD and LAG
    ("sink-merged", "padding is not counted as synthetic"),
}


def outputs(case, schedule_of):
    """Per size: the output, or the error that says there is none; with what is right."""
    name, options, sizes = CASES[case]
    for k, (N, schedule) in enumerate(sizes):
        A, V = rational_instance(N, seed=3)
        X, *W = given_weights(A, V)
        oracle = Oracle(N + 12, causal=name != "quadratic")
        try:
            output = run([reconstruction(X, Head(*W), oracle, schedule_of(k, schedule), "stable")], oracle)[0].tolist()
        except (UncoveredQueryError, ZeroDivisionError) as error:
            output = error
        yield output, judged(A, V, ALLOWED[name](options))


@pytest.mark.parametrize("case", CASES)
def test_the_unmutated_construction_is_right(case):
    assert all(output == right for output, right in outputs(case, lambda k, schedule: schedule))


@pytest.mark.parametrize(("case", "mutant"), SCHEDULES)
def test_a_false_schedule_is_seen(case, mutant):
    def mutated(k, schedule):
        return dict(schedule_mutants(schedule))[mutant]

    seen = any(output != right for output, right in outputs(case, mutated))
    assert seen == ((case, mutant) not in HARMLESS_SCHEDULES)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("mutant", CODE_MUTANTS)
def test_a_defect_in_the_reconstruction_is_seen(case, mutant):
    with CODE_MUTANTS[mutant]():
        seen = any(output != right for output, right in outputs(case, lambda k, schedule: schedule))
    assert seen == ((case, mutant) not in HARMLESS_CODE)


@pytest.mark.parametrize("case", CASES)
def test_there_are_at_least_ten(case):
    false = [name for where, name in SCHEDULES if where == case and (case, name) not in HARMLESS_SCHEDULES]
    assert len(false) + sum((case, name) not in HARMLESS_CODE for name in CODE_MUTANTS) >= 10
