"""Answers and evidence kept between runs, by the address of what was asked.

An entry is found by the text's digest, the solver, its version and the limits, so that an answer is used only
where the same question would be put again. It carries a digest of itself: an entry that was damaged or edited
stops the run with an error, since an answer that cannot be trusted must not be replaced in silence.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from proofs.solvers import Answer, Limits

__all__ = ["Cache", "CacheError", "Obsolete"]

_FORMAT = 1


class CacheError(RuntimeError):
    """A cache entry is damaged or belongs to another question."""


@dataclass(frozen=True)
class Obsolete:
    """The question was answered, but by another version of the solver."""

    version: str
    says: str


@dataclass(frozen=True)
class Cache:
    """A folder of entries; it is created when the first one is written."""

    folder: Path

    def answer(self, digest: str, solver: str, version: str, limits: Limits) -> Answer | Obsolete | None:
        """What the solver said of the text with this digest.

        Raises:
            CacheError: an entry is damaged.
        """
        place = self._place(digest)
        path = place / _file_name(solver, version, limits)
        if path.exists():
            entry = _read(path, {"digest": digest, "solver": solver, "version": version, "limits": asdict(limits)})
            return Answer(**entry["answer"])
        others = [
            _read(other, {"digest": digest, "solver": solver}) for other in sorted(place.glob(f"{solver}-*.json"))
        ]
        if others and all(entry["version"] != version for entry in others):
            return Obsolete(others[-1]["version"], others[-1]["answer"]["says"])
        return None

    def keep(self, digest: str, answer: Answer, limits: Limits) -> None:
        """Store an answer."""
        _write(
            self._place(digest) / _file_name(answer.solver, answer.version, limits),
            {
                "digest": digest, "solver": answer.solver, "version": answer.version,
                "limits": asdict(limits), "answer": asdict(answer),
            },
        )  # fmt: skip

    def evidence(self, key: str) -> dict[str, Any] | None:
        """The evidence kept under a key that names all it was computed from.

        Raises:
            CacheError: the entry is damaged.
        """
        path = self._place(key) / "evidence.json"
        return _read(path, {"key": key})["evidence"] if path.exists() else None

    def keep_evidence(self, key: str, evidence: Mapping[str, Any]) -> None:
        """Store evidence under its key."""
        _write(self._place(key) / "evidence.json", {"key": key, "evidence": dict(evidence)})

    def _place(self, digest: str) -> Path:
        return self.folder / digest[:2] / digest


def _file_name(solver: str, version: str, limits: Limits) -> str:
    asked = hashlib.sha256(_canonical([version, asdict(limits)])).hexdigest()[:16]
    return f"{solver}-{asked}.json"


def _canonical(record: Any) -> bytes:
    return json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def _integrity(entry: Mapping[str, Any]) -> str:
    return hashlib.sha256(_canonical({k: v for k, v in entry.items() if k != "integrity"})).hexdigest()


def _write(path: Path, record: Mapping[str, Any]) -> None:
    entry = {"format": _FORMAT, **record}
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".draft")
    draft.write_bytes(_canonical({**entry, "integrity": _integrity(entry)}) + b"\n")
    draft.replace(path)  # all of the entry or nothing, should the run be interrupted


def _read(path: Path, expected: Mapping[str, Any]) -> dict[str, Any]:
    entry = _load(path)
    if entry.get("integrity") != _integrity(entry):
        raise _damaged(path, "its content does not match its digest")
    for name, value in {"format": _FORMAT, **expected}.items():
        if entry.get(name) != value:
            raise _damaged(path, f"its {name} is not what was asked for")
    return entry


def _load(path: Path) -> dict[str, Any]:
    try:
        entry = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise _damaged(path, "it cannot be read") from error
    if not isinstance(entry, dict):
        raise _damaged(path, "it is no entry")
    return entry


def _damaged(path: Path, why: str) -> CacheError:
    return CacheError(f"the cached answer {path} is damaged ({why}): delete it, or run with --fresh.")
