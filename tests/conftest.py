"""Settings of the two ways that the tests are run: compiled, and with kernels as plain Python."""

from hypothesis import settings
from numba import config

# Kernels are compiled during some example; how long that takes says nothing about the example.
settings.register_profile("f2sl", deadline=None, max_examples=15 if config.DISABLE_JIT else 60)
settings.load_profile("f2sl")
