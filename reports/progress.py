"""Progress on standard error, and only where a person is watching."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as RichProgress

__all__ = ["Progress"]


class Progress:
    """A line that says what is being done, with a bar where the number of steps is known."""

    def __init__(self, total: int | None = None) -> None:
        columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
        console = Console(stderr=True)
        shown = columns if total is not None else [columns[0], columns[-1]]
        self._bar = RichProgress(*shown, console=console, transient=True, disable=not console.is_terminal)
        self._task = self._bar.add_task("starting", total=total)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def of(self, done: int, total: int) -> None:
        """Show how many steps of how many are done."""
        self._bar.update(self._task, completed=done, total=total)

    def say(self, text: str, advance: int = 0) -> None:
        """Show what is being done, and how many steps that finishes."""
        self._bar.update(self._task, description=text, advance=advance)
