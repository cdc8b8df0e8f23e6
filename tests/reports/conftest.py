"""Running the command line as a script would, and input files to give to it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reports.cli import main


@dataclass(frozen=True)
class Ran:
    """What a script sees of one run."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        def refuse(constant: str) -> None:
            raise AssertionError(f"{constant} is not JSON")

        return json.loads(self.out, parse_constant=refuse)

    @property
    def refusal(self) -> str:
        """The one line of a refusal, after checking that it is one."""
        assert self.code == 2, (self.code, self.err)
        assert not self.out
        assert "Traceback" not in self.err
        lines = self.err.splitlines()
        assert len(lines) == 1
        assert lines[0].startswith("twoheads: ")
        return lines[0]


@pytest.fixture
def twoheads(capsys) -> Callable[..., Ran]:
    def call(*arguments: Any) -> Ran:
        with pytest.raises(SystemExit) as end:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        code = end.value.code
        assert isinstance(code, int | None)
        return Ran(code or 0, captured.out, captured.err)

    return call


@pytest.fixture
def saved(tmp_path) -> Callable[..., Path]:
    """Writes arrays to an .npz file and gives its path."""

    def save(name: str = "input", **arrays: Any) -> Path:
        path = tmp_path / f"{name}.npz"
        np.savez(path, **arrays)
        return path

    return save


@pytest.fixture
def qkv() -> Callable[..., dict[str, np.ndarray]]:
    """Random Q, K, V (N, m), or (H, N, m) with `H`."""

    def make(N: int = 10, m: int = 3, H: int | None = None, d_v: int = 2) -> dict[str, np.ndarray]:
        random = np.random.default_rng(5)
        lead = () if H is None else (H,)
        shapes = {"Q": (N, m), "K": (N, m), "V": (N, d_v)}
        return {name: random.normal(size=(*lead, *shape)) for name, shape in shapes.items()}

    return make
