"""Tasks run by worker processes that may be ended: a solver that hangs or crashes costs one task, not the run."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

__all__ = ["Ended", "Task", "run_tasks"]

Task = Callable[[], Any]
"""Something that can be pickled: a module's function, or a partial of one."""


@dataclass(frozen=True)
class Ended:
    """A task without a result; `why` says how it ended."""

    why: str


def run_tasks(tasks: Sequence[Task], jobs: int, seconds: float) -> Iterator[tuple[int, Any]]:
    """The tasks' results as they come, each with its task's number.

    Args:
        tasks: independent of one another.
        jobs: worker processes; 0 runs the tasks here, one after another, where they cannot be ended.
        seconds: a task that takes longer is ended with its worker.

    Raises:
        Exception: whatever a task raised.
    """
    if jobs == 0:
        yield from ((number, task()) for number, task in enumerate(tasks))
        return
    waiting = list(enumerate(tasks))[::-1]
    workers = [_Worker() for _ in range(min(jobs, len(tasks)))]
    try:
        while waiting or any(worker.busy for worker in workers):
            for worker in workers:
                if waiting and not worker.busy:
                    worker.start(*waiting.pop())
            wait([worker.pipe for worker in workers if worker.busy], timeout=1)
            for worker in workers:
                if (finished := worker.finished(seconds)) is not None:
                    yield finished
    finally:
        for worker in workers:
            worker.end()


class _Worker:
    """One process, replaced by a new one when it dies or has to be ended."""

    def __init__(self) -> None:
        self.number: int | None = None
        self.since = 0.0
        self._open()

    @property
    def busy(self) -> bool:
        return self.number is not None

    def start(self, number: int, task: Task) -> None:
        self.number, self.since = number, time.monotonic()
        self.pipe.send(task)

    def finished(self, seconds: float) -> tuple[int, Any] | None:
        """The task's number and result, once there is one."""
        if self.number is None:
            return None
        if self.pipe.poll():
            return self._received()
        if time.monotonic() - self.since > seconds:
            return self._replaced("wall-clock limit")
        return None

    def end(self) -> None:
        self.process.terminate()
        self.process.join()
        self.pipe.close()

    def _received(self) -> tuple[int, Any]:
        try:
            failed, result = self.pipe.recv()
        except (EOFError, OSError):
            return self._replaced("the process crashed")
        if failed:
            raise result
        return self._free(), result

    def _replaced(self, why: str) -> tuple[int, Any]:
        self.end()
        self._open()
        return self._free(), Ended(why)

    def _free(self) -> int:
        number = self.number
        self.number = None
        assert number is not None
        return number

    def _open(self) -> None:
        context = multiprocessing.get_context("spawn")  # the solvers' threads do not survive a fork
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()


def _serve(pipe: Connection) -> None:
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send((False, task()))
        except Exception as error:  # noqa: BLE001 - raised again by whoever asked
            pipe.send((True, error))
