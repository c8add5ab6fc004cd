"""
How much Hypothesis tries: `quick` by default and always the same, by chance with HYPOTHESIS_PROFILE=thorough.
"""

import os

from hypothesis import HealthCheck, settings

# Time says nothing about a shared machine. Large sessions are slow to draw, and that is their point.
_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}

settings.register_profile("quick", max_examples=60, derandomize=True, **_COMMON)
settings.register_profile("thorough", max_examples=2000, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))
