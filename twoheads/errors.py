"""The errors a user can cause; each message says in one sentence what to do."""

from __future__ import annotations

__all__ = ["InputError", "MixedScalarsError", "OracleLengthError", "UncoveredQueryError"]


class InputError(ValueError):
    """An argument cannot be used as it is; the message names it and says what to change."""


class MixedScalarsError(InputError):
    """Arrays of different scalars met in one run, for instance a float in an exact one."""


class OracleLengthError(InputError):
    """A sequence longer than the oracle's M tokens was put to it."""


class UncoveredQueryError(InputError):
    """A schedule leaves a query without any call."""
