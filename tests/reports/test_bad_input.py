"""Bad input ends in one sentence that says what to do, exit code 2, and no side effect."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import numpy as np
import pytest


class Hostile:
    """Creates a file when it is unpickled."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self):
        return (Path.touch, (self.target,))


def refused(twoheads, path, *options):
    return twoheads("simulate", path, "--oracle-length", 4, *options).refusal


@pytest.mark.parametrize("missing", ["Q", "K", "V"])
def test_missing_arrays(twoheads, saved, qkv, missing):
    arrays = qkv()
    del arrays[missing]
    assert "give Q, K and V, or X, W_Q, W_K and W_V" in refused(twoheads, saved(**arrays))


@pytest.mark.parametrize(
    ("name", "shape"), [("Q", (9, 3)), ("K", (10, 2)), ("V", (9, 2)), ("V", (2, 10, 2)), ("Q", (10,))]
)
def test_mismatched_shapes(twoheads, saved, qkv, name, shape):
    message = refused(twoheads, saved(**{**qkv(), name: np.ones(shape)}))
    assert str(shape) in message


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"W_Q": np.ones((3, 4))}, "W_Q"),
        ({"W_K": np.ones((4, 2))}, "W_K"),
        ({"b_V": np.ones(3)}, "b_V"),
        ({"X": np.ones((0, 4))}, "X"),
        ({"heads": 3}, "3 heads"),
        ({"heads": 0}, "0 heads"),
        ({"heads": np.ones(2)}, "heads"),
        ({"heads": 1.5}, "heads"),
    ],
)
def test_projections_that_do_not_fit(twoheads, saved, changed, named):
    arrays = {"X": np.ones((5, 4)), **{name: np.eye(4) for name in ("W_Q", "W_K", "W_V")}, **changed}
    assert named in refused(twoheads, saved(**arrays))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["Q", "K", "V"])
def test_entries_that_are_not_finite(twoheads, saved, qkv, name, value):
    arrays = qkv()
    arrays[name][2, 1] = value
    message = refused(twoheads, saved(**arrays))
    assert f"{name} has the entry {value} at (2, 1)" in message


@pytest.mark.parametrize("M", [1, 0, -3])
def test_an_oracle_that_reads_less_than_two_tokens(twoheads, saved, qkv, M):
    message = twoheads("simulate", saved(**qkv()), "--oracle-length", M).refusal
    assert "at least 2" in message


def test_an_oracle_length_that_is_no_integer(twoheads, saved, qkv):
    assert "--oracle-length" in twoheads("simulate", saved(**qkv()), "--oracle-length", "many").refusal


@pytest.mark.parametrize("shape", [(0, 3), (10, 0)])
def test_empty_arrays(twoheads, saved, shape):
    assert "empty" in refused(twoheads, saved(Q=np.ones(shape), K=np.ones(shape), V=np.ones(shape)))


@pytest.mark.parametrize("dtype", [complex, "U3", bool, "M8[s]"])
def test_entries_that_are_not_real_numbers(twoheads, saved, qkv, dtype):
    arrays = {**qkv(), "K": np.zeros((10, 3), dtype=dtype)}
    assert "K holds" in refused(twoheads, saved(**arrays))


def test_a_pickle_in_the_archive_is_never_opened(twoheads, saved, qkv, tmp_path):
    target = tmp_path / "unpickled"
    hostile = np.empty((10, 3), dtype=object)
    hostile[:] = Hostile(target)
    message = refused(twoheads, saved(**{**qkv(), "Q": hostile}))
    assert "pickles are refused" in message
    assert not target.exists()


def test_the_hostile_pickle_would_have_worked(tmp_path):
    """Without this, the test above could pass for the wrong reason."""
    target = tmp_path / "unpickled"
    pickle.loads(pickle.dumps(Hostile(target)))
    assert target.exists()


def test_a_bare_pickle_is_never_opened(twoheads, tmp_path):
    target, path = tmp_path / "unpickled", tmp_path / "input.npz"
    path.write_bytes(pickle.dumps(Hostile(target)))
    assert "not an .npz archive" in refused(twoheads, path)
    assert not target.exists()


@pytest.mark.parametrize("content", [b"", b"Q,K,V\n1,2,3\n", b"PK\x03\x04 and no more"])
def test_no_archive(twoheads, tmp_path, content):
    path = tmp_path / "input.npz"
    path.write_bytes(content)
    assert "not an .npz archive" in refused(twoheads, path)


def test_a_single_array(twoheads, tmp_path):
    np.save(tmp_path / "input.npy", np.ones((4, 2)))
    assert "not an .npz archive" in refused(twoheads, tmp_path / "input.npy")


def test_a_truncated_archive(twoheads, saved, qkv):
    path = saved(**qkv())
    content = path.read_bytes()
    for length in (len(content) // 2, len(content) - 10):
        path.write_bytes(content[:length])
        refused(twoheads, path)


def test_an_archive_with_a_damaged_array(twoheads, saved, qkv):
    path = saved(**qkv())
    content = bytearray(path.read_bytes())
    place = content.index(b"NUMPY")
    content[place : place + 5] = b"XXXXX"
    path.write_bytes(bytes(content))
    refused(twoheads, path)


def test_paths_that_cannot_be_read(twoheads, tmp_path, saved, qkv):
    assert "cannot read" in refused(twoheads, tmp_path / "nowhere.npz")
    assert "cannot read" in refused(twoheads, tmp_path)
    if os.geteuid():  # the superuser reads everything
        path = saved(**qkv())
        path.chmod(0)
        assert "cannot read" in refused(twoheads, path)


@pytest.mark.parametrize(
    "options",
    [
        ["--construction", "cubic"],
        ["--variant", "best"],
        ["--construction", "window"],
        ["--construction", "sink", "--window", "1"],
        ["--window", "2"],
        ["--construction", "window", "--window", "2", "--sinks", "1"],
        ["--construction", "window", "--window", "9"],
        ["--construction", "window", "--window", "0"],
        ["--scale", "nan"],
        ["--synthetic-score", "inf"],
        ["--layer", "layer7"],
        ["--heads", "0"],
        ["--nonsense"],
    ],
)
def test_options_that_do_not_fit(twoheads, saved, options):
    arrays = {"X": np.ones((5, 4)), **{name: np.eye(4) for name in ("W_Q", "W_K", "W_V")}}
    refused(twoheads, saved(**arrays), *options)


def test_an_output_that_cannot_be_written(twoheads, saved, qkv, tmp_path):
    path = saved(**qkv())
    assert "cannot write" in refused(twoheads, path, "--out", tmp_path)
    assert "cannot write" in refused(twoheads, path, "--out", tmp_path / "nowhere" / "out.npz")
    assert "cannot write" in refused(twoheads, path, "--out", path / "out.npz")


@pytest.mark.parametrize("arguments", [[], ["unheard-of"], ["simulate"]])
def test_bad_usage(twoheads, arguments):
    ran = twoheads(*arguments)
    assert ran.code == 2
    assert not ran.out
    assert "Traceback" not in ran.err
