"""Settings that all tests share."""

from __future__ import annotations

import os

from hypothesis import settings

# No deadlines: a test never asserts a time. On CI the examples are the same on every run, so that a red
# run can be repeated; elsewhere they are fresh, so that new ones are found.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "local"))
