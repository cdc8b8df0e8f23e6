"""What a construction may ask of its scalars, and how the scalars of an array are recognised.

A construction never looks at an entry: it asks the `Domain` of its input. The one operation that really
differs between scalars is the exponential in `Domain.weights`; everything else is arithmetic of the arrays
themselves. Each adapter lives in its own module and imports its library only when such an array appears.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol, runtime_checkable

import numpy as np
from array_api_compat import array_namespace, is_array_api_obj

from twoheads.errors import InputError, MixedScalarsError

__all__ = ["Array", "Domain", "domain_of"]

Array = Any
"""An array of any namespace: NumPy (float, object, galois), JAX, PyTorch."""


@runtime_checkable
class Domain(Protocol):
    """Arithmetic of one kind of scalar.

    *Tokens* are what an oracle reads, *outputs* what it returns. They are the same kind of array in every
    domain but the finite field, where tokens are integers and outputs are field elements.
    """

    @property
    def name(self) -> str:
        """What messages call it."""

    @property
    def exact(self) -> bool:
        """True where equal means equal, so that an identity can be tested with `==`."""

    @property
    def xp(self) -> Any:
        """The array namespace of tokens and outputs."""

    def check(self, **arrays: Array) -> None:
        """Raise `MixedScalarsError` for the first array, by name, whose entries are not of this domain."""

    def constant(self, values: Any) -> Array:
        """Integers as tokens of this domain, for the fixed numbers that Processing pads."""

    def number(self, values: Any) -> Array:
        """Integers as outputs of this domain."""

    def coordinates(self, X: Array, W: Array) -> Array:
        """X W as query or key coordinates: (..., n, d) by (d, m) gives (..., n, m)."""

    def values(self, X: Array, W: Array) -> Array:
        """X W as values: (..., n, d) by (d, m) gives (..., n, m)."""

    def weights(self, Q: Array, K: Array, mask: Array | None) -> Array:
        """exp(<q_i, k_j>) as (..., n, n_keys), 0 where the mask is False.

        A domain may divide each row by a positive number of its choice, which softmax cancels.
        """

    def contract(self, weights: Array, V: Array) -> Array:
        """The sums over j of weights[..., i, j] V[..., j, :]."""

    def pivot(self, x: Array, axis: int) -> Array:
        """A positive common factor along an axis that keeps pivot/x in range: the minimum, or 1 if exact."""

    def tokens(self, outputs: Array) -> Array:
        """Outputs as tokens of a further call."""


# element type's top-level module -> adapter; the adapter is imported when it is first needed
_ELEMENT_ADAPTERS = {
    "fractions": "rationals",
    "sympy": "sympy_expressions",
    "z3": "z3_reals",
    "flint": "balls",
}


def domain_of(*arrays: Array) -> Domain:
    """The domain that all the arrays share.

    Raises:
        InputError: an argument is not an array, or holds entries of no known scalar.
        MixedScalarsError: two arrays, or two entries of one, have different scalars.
    """
    found: dict[str, Domain] = {}
    for array in arrays:
        domain = _domain_of_one(array)
        if domain is not None:
            found.setdefault(domain.name, domain)
    if not found:
        raise InputError(
            "no array names its scalars: give at least one array of floats or of exact objects, or name the "
            "domain (integers alone fit every domain)."
        )
    if len(found) > 1:
        raise MixedScalarsError(
            f"scalars {' and '.join(sorted(found))} meet in one run: convert all arrays to one of them first."
        )
    return next(iter(found.values()))


def _domain_of_one(array: Array) -> Domain | None:
    if not is_array_api_obj(array):
        raise InputError(f"an array is needed, not {type(array).__name__}: convert it first.")
    if isinstance(array, np.ndarray) and array.dtype == object:
        return _domain_of_objects(array)
    from twoheads.scalars.floats import Floats

    xp = array_namespace(array)
    if xp.isdtype(array.dtype, "real floating"):
        return Floats.of(array)
    if xp.isdtype(array.dtype, "integral"):
        return None  # integers are fixed numbers, at home in every domain
    raise InputError(f"entries of type {array.dtype} are not scalars: use float32, float64 or exact objects.")


def _domain_of_objects(array: np.ndarray) -> Domain | None:
    from twoheads.scalars.logs import Log

    adapters: dict[str, type] = {}
    for element in array.ravel():
        kind = type(element.weight if isinstance(element, Log) else element)
        root = kind.__module__.partition(".")[0]
        if root in _ELEMENT_ADAPTERS:
            adapters.setdefault(_ELEMENT_ADAPTERS[root], kind)
        elif kind is float or issubclass(kind, np.floating):
            raise MixedScalarsError(
                "a float stands in an array of exact objects: convert it to a Fraction or use a float array."
            )
        elif kind is not int:
            raise InputError(f"an entry of type {kind.__name__} is not a scalar that twoheads knows.")
    if len(adapters) > 1:
        raise MixedScalarsError(
            f"entries of {' and '.join(sorted(adapters))} meet in one array: convert them to one first."
        )
    if not adapters:
        return None
    module = import_module(f"twoheads.scalars.{next(iter(adapters))}")
    domain: Domain = module.DOMAIN
    return domain
