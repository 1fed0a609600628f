"""SciPy's special functions without their package."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import special as package

from f2sl.stats.special import special

CODE = """
import sys, threading
from f2sl.stats import special as ours
seen = []
class Watched(ours._Placeholder):
    def __init__(self):
        super().__init__()
        # A thread that imports the package at the worst time, and asks for one of its functions.
        def other():
            import scipy.special
            asks.set()
            seen.append(scipy.special.gamma(5.0))
            from scipy.special import comb
            seen.append(comb(4, 2))
        asks = threading.Event()
        sys.modules["scipy.special"] = self
        thread = threading.Thread(target=other)
        thread.start()
        asks.wait()
        threads.append(thread)
threads = []
ours._Placeholder = Watched
light = ours.special()
print(light.__name__)
threads[0].join()
print([float(value) for value in seen])
import scipy.special, scipy.stats
print(scipy.special._ufuncs is light, type(scipy.special).__name__, scipy.stats.chi2.sf(0.0, 3))
"""


def test_the_package_can_be_imported_during_and_after():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    name, seen, later = done.stdout.splitlines()
    assert name == "scipy.special._ufuncs"
    assert seen == "[24.0, 6.0]"
    assert later == "True module 1.0"


@pytest.mark.parametrize("name", ["gammaincc", "gammainccinv", "gammaln", "erfc", "erfcinv"])
def test_functions_are_those_of_the_package(name):
    x = np.linspace(0.01, 0.99, 50)
    arguments = (3.5, x) if name.startswith("gammainc") else (x,)
    assert np.array_equal(getattr(special(), name)(*arguments), getattr(package, name)(*arguments))
