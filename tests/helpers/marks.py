"""Marks and settings for tests that not every run, or not every system, can carry out in full."""

import os

import pytest
from hypothesis import settings
from numba import config

few_examples = settings(max_examples=4 if config.DISABLE_JIT else 15)
"""For tests that learn many times in each example."""

compiled_only = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="too slow without compiled kernels")
posix_only = pytest.mark.skipif(os.name != "posix", reason="needs signals, pipes or /proc")
