"""Attention input from a file or from the package: read safely, checked, and put into the paper's form.

The paper's attention has tokens X and square matrices, no bias and no scaling. A bias is folded in by a
coordinate 1 of every token, the scaling into W_Q; given Q, K, V themselves, a token is (q_i, k_i, v_i) and the
parameters select its parts.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from twoheads.errors import InputError
from twoheads.transformer import Head

__all__ = ["EMBEDDED", "AttentionInput", "embedded_input", "load", "projected_input", "qkv_input"]

EMBEDDED = "minilm"
"""The name under which the packaged input is asked for."""

_EMBEDDED_FILE = Path(__file__).parent / "data" / "minilm_l6_attention.npz"
_EMBEDDED_HEADS = 12
_EMBEDDED_SCALE = 1 / np.sqrt(32)
_MOST_BYTES = 8 * 2**30  # what an archive may unpack to


@dataclass(frozen=True, eq=False)
class AttentionInput:
    """Tokens (N, d) per head and the heads that read them; all heads have the same N.

    With projections all heads share one X; with given Q, K, V each has its own.
    """

    tokens: tuple[np.ndarray, ...]
    heads: tuple[Head, ...]

    @property
    def N(self) -> int:
        """The number of tokens."""
        return len(self.tokens[0])

    def qkv(self, h: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Q, K (N, m) and V (N, d_v) of head h."""
        head = self.heads[h]
        return self.tokens[h] @ head.W_Q, self.tokens[h] @ head.W_K, self.tokens[h] @ head.W_V


def embedded_input(layer: str = "layer0") -> AttentionInput:
    """The packaged real attention: layer0 or layer5 of a sentence encoder, 512 tokens, 12 heads."""
    return load(_EMBEDDED_FILE, layer=layer, heads=_EMBEDDED_HEADS, scale=float(_EMBEDDED_SCALE))


def load(path: str | Path, layer: str | None = None, heads: int | None = None, scale: float = 1.0) -> AttentionInput:
    """Read Q, K, V of shape (N, m) or (H, N, m), or X (N, d), W_Q, W_K, W_V (d, d) and optional biases (d,).

    Args:
        path: an .npz archive; pickled objects in it are refused.
        layer: prefix of the arrays' names, `layer` + "_".
        heads: into how many heads the columns of W are split; the array `heads`, else 1, if not given.
        scale: factor on the scores.

    Raises:
        InputError: the file cannot be read or does not hold such arrays.
    """
    if not np.isfinite(scale):
        raise InputError(f"the scale must be a finite number, not {scale}.")
    arrays = _read(Path(path))
    if layer is not None:
        prefix = f"{layer}_"
        own = {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
        if not own:
            known = sorted({name.rpartition("_W_Q")[0] for name in arrays if name.endswith("_W_Q")})
            raise InputError(f"no arrays of layer {layer!r} in {path}: it has {', '.join(known) or 'no layers'}.")
        arrays = own
    if all(name in arrays for name in "QKV"):
        Q, K, V = (_floats(name, arrays[name]) for name in "QKV")
        return qkv_input(Q, K, V, scale)
    needed = ("X", "W_Q", "W_K", "W_V")
    missing = [name for name in needed if name not in arrays]
    if missing:
        raise InputError(f"{path} has no {', '.join(missing)}: give Q, K and V, or X, W_Q, W_K and W_V.")
    count = heads if heads is not None else _integer("heads", arrays["heads"]) if "heads" in arrays else 1
    matrices = {name: _floats(name, arrays[name]) for name in needed}
    biases: dict[str, np.ndarray] = {b: _floats(b, arrays[b]) for b in ("b_Q", "b_K", "b_V") if b in arrays}
    return projected_input(**matrices, biases=biases, heads=count, scale=scale)


def qkv_input(Q: np.ndarray, K: np.ndarray, V: np.ndarray, scale: float = 1.0) -> AttentionInput:
    """Input from Q, K (N, m) and V (N, d_v), or one such triple per head with a leading axis H."""
    if Q.ndim not in (2, 3) or Q.ndim != K.ndim or Q.ndim != V.ndim:
        raise InputError(f"Q, K and V must all be (N, m) or all (H, N, m), not {Q.shape}, {K.shape} and {V.shape}.")
    if Q.shape != K.shape or V.shape[:-1] != Q.shape[:-1]:
        raise InputError(f"Q, K and V must agree in shape, but are {Q.shape}, {K.shape} and {V.shape}.")
    if 0 in Q.shape or 0 in V.shape:
        raise InputError(f"Q, K and V are empty (Q is {Q.shape}): give at least one token and one coordinate.")
    Q, K, V = (x if x.ndim == 3 else x[None] for x in (Q, K, V))
    m, d_v = Q.shape[-1], V.shape[-1]
    select = np.eye(2 * m + d_v)
    head = Head(scale * select[:, :m], select[:, m : 2 * m], select[:, 2 * m :])
    tokens = tuple(np.concatenate(parts, axis=-1) for parts in zip(Q, K, V, strict=True))
    return AttentionInput(tokens, (head,) * len(tokens))


def projected_input(
    X: np.ndarray,
    W_Q: np.ndarray,
    W_K: np.ndarray,
    W_V: np.ndarray,
    biases: Mapping[str, np.ndarray] | None = None,
    heads: int = 1,
    scale: float = 1.0,
) -> AttentionInput:
    """Input from tokens X (N, d) and matrices (d, H m) whose columns are split into H heads."""
    biases = biases or {}
    if X.ndim != 2 or 0 in X.shape:
        raise InputError(f"X must be (N, d) with at least one token and one coordinate, not {X.shape}.")
    matrices = {"W_Q": W_Q, "W_K": W_K, "W_V": W_V}
    for name, W in matrices.items():
        if W.ndim != 2 or W.shape[0] != X.shape[1] or W.shape[1] == 0:
            raise InputError(f"{name} must be (d, d') with d = {X.shape[1]} as in X, not {W.shape}.")
        if heads < 1 or W.shape[1] % heads:
            raise InputError(f"the {W.shape[1]} columns of {name} cannot be split into {heads} heads.")
        bias = biases.get("b" + name[1:])
        if bias is not None and bias.shape != (W.shape[1],):
            raise InputError(f"b{name[1:]} must be ({W.shape[1]},) as {name} has columns, not {bias.shape}.")
    if W_Q.shape != W_K.shape:
        raise InputError(f"W_Q and W_K must have the same shape, not {W_Q.shape} and {W_K.shape}.")
    X = np.concatenate([X, np.ones((len(X), 1))], axis=1)
    folded = {name: np.vstack([W, biases.get("b" + name[1:], np.zeros(W.shape[1]))]) for name, W in matrices.items()}
    folded["W_Q"] = scale * folded["W_Q"]
    parts = {name: np.split(W, heads, axis=1) for name, W in folded.items()}
    own = tuple(Head(*matrices) for matrices in zip(parts["W_Q"], parts["W_K"], parts["W_V"], strict=True))
    return AttentionInput((X,) * heads, own)


def _read(path: Path) -> dict[str, np.ndarray]:
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from None
    except zipfile.BadZipFile:
        raise InputError(f"{path} is not an .npz archive: write it with numpy.savez.") from None
    if size > _MOST_BYTES:
        raise InputError(f"{path} would unpack to {size} bytes: give at most {_MOST_BYTES}.")
    try:
        with np.load(path, allow_pickle=False) as archive:
            loaded = {name: archive[name] for name in archive.files}
    except Exception as error:  # noqa: BLE001  a hostile archive can fail anywhere inside the reader
        raise InputError(
            f"{path} does not hold plain numeric arrays (pickles are refused): {_first_line(error)}."
        ) from None
    bad = [name for name, array in loaded.items() if not isinstance(array, np.ndarray)]
    if bad:
        raise InputError(f"{path} holds {bad[0]}, which is not an array: write it with numpy.savez.")
    return loaded


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")


def _floats(name: str, array: np.ndarray) -> np.ndarray:
    if array.dtype.kind not in "fiu":
        raise InputError(f"{name} holds {array.dtype}: give real numbers.")
    values = array.astype(np.float64)
    if not np.isfinite(values).all():
        place = tuple(int(x) for x in np.argwhere(~np.isfinite(values))[0])
        raise InputError(f"{name} has the entry {values[place]} at {place}: replace it by a finite number.")
    return values


def _integer(name: str, array: np.ndarray) -> int:
    if array.shape != () or array.dtype.kind not in "iu":
        raise InputError(f"{name} must be one integer, not an array of shape {array.shape} and type {array.dtype}.")
    return int(array)
