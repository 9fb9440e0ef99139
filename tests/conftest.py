"""What all tests share: Hypothesis without deadlines, since machines are shared; in CI the same examples each time."""

import os

from hypothesis import settings

settings.register_profile("akinai", deadline=None, derandomize="AKINAI_CI" in os.environ)
settings.load_profile("akinai")
