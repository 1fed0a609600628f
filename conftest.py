"""Settings of all tests, in the two ways that they are run: compiled, and with kernels as plain Python.

Modules that import PyTorch, which takes seconds, are left out when pytest collects.
`tests/learners/test_dag_gnn.py` runs their examples, so that no other process of tests imports it.
"""

import os

from hypothesis import settings
from numba import config

import f2sl._jit

collect_ignore_glob = ["src/f2sl/search/dag_gnn.py"]

# Kernels are compiled during some example; how long that takes says nothing about the example.
# F2SL_EXAMPLES=500 looks longer for an example that fails.
EXAMPLES = int(os.environ.get("F2SL_EXAMPLES", "25"))
settings.register_profile(
    "f2sl", deadline=None, max_examples=max(1, EXAMPLES // 2) if config.DISABLE_JIT else EXAMPLES
)
settings.load_profile("f2sl")

# They are compiled by whatever command runs first, which need not say so: a test of its own looks at that.
f2sl._jit.note = lambda text: True
