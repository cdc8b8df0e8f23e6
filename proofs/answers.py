"""What the solvers answer and the checks find in one run: asked of them, or taken from the cache.

This is the only source from which `proofs.core` takes answers. It is filled by asking alone; there is no way
to put an answer into it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from importlib import metadata
from pathlib import Path
from typing import Any, final

from proofs.cache import Cache, Obsolete
from proofs.evidence import Evidence, from_json, to_json
from proofs.obligation import Check, Obligation, Subject
from proofs.questions import Question, questions_of
from proofs.solvers import ENGINES, Answer, Limits, ask
from proofs.workers import Ended, Task, run_tasks

__all__ = ["Answers", "Progress"]

Progress = Callable[[int, int], None]
"""Called with the number of tasks done and of all tasks."""

_CHECK_SECONDS = 900
_ROOMS = ("twoheads", "symbolic", "numeric", "proofs")
_LIBRARIES = ("numpy", "galois", "python-flint", "sympy", "z3-solver", "cvc5")


@final
class Answers:
    """The answers of one run.

    Args:
        solvers: who is asked.
        limits: what one question may cost.
        cache: where answers are kept; None keeps none.
        fresh: ask everything again, whatever the cache holds.
        jobs: worker processes; 0 works in this process, without a guard against a solver that hangs.
    """

    def __init__(
        self,
        solvers: Sequence[str] = tuple(ENGINES),
        limits: Limits | None = None,
        cache: Cache | None = None,
        fresh: bool = False,
        jobs: int = 0,
    ) -> None:
        self.solvers, self.limits = tuple(solvers), limits or Limits()
        self._cache, self._fresh, self._jobs = cache, fresh, jobs
        self.__answers: dict[tuple[str, str, Fraction], Answer] = {}
        self.__evidence: dict[str, Evidence | Ended] = {}

    def gather(self, subjects: Iterable[Subject], progress: Progress | None = None) -> None:
        """Ask all that the subjects need and that is not known yet.

        Raises:
            SolverError: a solver cannot read a text.
            CacheError: a cached entry is damaged.
        """
        subjects = list(subjects)
        self._ask(_with_equivalences(subjects), progress)
        self._run([subject for subject in subjects if isinstance(subject, Check)], progress)

    def of(self, question: Question) -> dict[str, Answer]:
        """Each solver's answer; one that was not asked has none."""
        keys = {solver: (question.digest, solver, question.effort) for solver in self.solvers}
        return {solver: self.__answers[key] for solver, key in keys.items() if key in self.__answers}

    def evidence_of(self, check: Check) -> Evidence | Ended | None:
        """What the check found; None if it was not run."""
        return self.__evidence.get(check.id)

    def _ask(self, obligations: Iterable[Obligation], progress: Progress | None) -> None:
        tasks: dict[tuple[str, str, Fraction], Task] = {}
        for question in (q for o in obligations for q in questions_of(o).values()):
            for solver in self.solvers:
                key = (question.digest, solver, question.effort)
                if key in self.__answers or key in tasks:
                    continue
                if (known := self._cached(*key)) is not None:
                    self.__answers[key] = known
                else:
                    tasks[key] = partial(ask, solver, question.text, self.limits.scaled(question.effort))
        keys = list(tasks)
        # the worker's own guard ends it only where the solver's has failed
        guard = 1.2 * self.limits.seconds + 10
        for done, (number, result) in enumerate(run_tasks(list(tasks.values()), self._jobs, guard), 1):
            self.__answers[keys[number]] = self._kept(*keys[number], result)
            if progress:
                progress(done, len(tasks))

    def _kept(self, digest: str, solver: str, effort: Fraction, result: Answer | Ended) -> Answer:
        if isinstance(result, Ended):
            return Answer(solver, ENGINES[solver].version(), "unknown", result.why)
        # what the clock cut short says nothing about the next run
        if self._cache and result.reason != "wall-clock limit":
            self._cache.keep(digest, result, self.limits.scaled(effort))
        return result

    def _cached(self, digest: str, solver: str, effort: Fraction) -> Answer | None:
        if self._cache is None or self._fresh:
            return None
        version = ENGINES[solver].version()
        found = self._cache.answer(digest, solver, version, self.limits.scaled(effort))
        if isinstance(found, Obsolete):
            return Answer(solver, version, "unknown", f"obsolete: {found.says} by version {found.version}")
        return found

    def _run(self, checks: Sequence[Check], progress: Progress | None) -> None:
        waiting: list[Check] = []
        for check in checks:
            kept = None if self._fresh or not self._cache else self._cache.evidence(_evidence_key(check))
            if kept is not None:
                self.__evidence[check.id] = from_json(kept)
            elif check.id not in self.__evidence:
                waiting.append(check)
        results = run_tasks([check.run for check in waiting], self._jobs, _CHECK_SECONDS)
        for done, (number, result) in enumerate(results, 1):
            self.__evidence[waiting[number].id] = result
            if self._cache and not isinstance(result, Ended):
                self._cache.keep_evidence(_evidence_key(waiting[number]), to_json(result))
            if progress:
                progress(done, len(waiting))


def _with_equivalences(subjects: Iterable[Subject]) -> list[Obligation]:
    """The obligations, and those by which a mutant is shown to be equivalent."""
    found = [subject for subject in subjects if isinstance(subject, Obligation)]
    for obligation in found:  # grows while it is read
        found += [m.equivalent_because for m in obligation.mutants if m.equivalent_because is not None]
    return found


def _evidence_key(check: Check) -> str:
    """Evidence depends on its scope, on code and data of every room below and on the libraries: its address."""
    return hashlib.sha256(f"{check.id}\n{check.scope}\n{_code_digest()}".encode()).hexdigest()


@lru_cache(maxsize=1)
def _code_digest() -> str:
    root = Path(__file__).resolve().parent.parent
    found = (path for room in _ROOMS for path in (root / room).rglob("*"))
    files = sorted(path for path in found if path.is_file() and path.suffix in (".py", ".npz"))
    parts: list[Any] = [(path.relative_to(root).as_posix(), path.read_bytes()) for path in files]
    parts += [(library, metadata.version(library)) for library in _LIBRARIES]
    return hashlib.sha256(repr(parts).encode()).hexdigest()
