"""Names for the array types that the parts of f2sl pass to each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
