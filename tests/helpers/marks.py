"""Marks and settings for tests that not every run, or not every system, can carry out in full."""

import os

import pytest
from hypothesis import settings
from numba import config


def examples(number):
    """Try so many examples, or more or fewer as F2SL_EXAMPLES says: by default it is 25."""
    return settings(max_examples=max(1, number * settings.default.max_examples // 25))


few_examples = examples(10)
"""For tests that learn many times in each example."""

compiled_only = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="too slow without compiled kernels")
posix_only = pytest.mark.skipif(os.name != "posix", reason="needs signals, pipes or /proc")
