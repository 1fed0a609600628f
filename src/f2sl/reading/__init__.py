"""Tables of discrete or real-valued variables, whatever they come from.

What most learners learn from is a :class:`DiscreteTable`: named variables, the
labels of their states, and one small integer (a *code*) for each cell.
:func:`as_table` makes one from a data frame, an array, a dictionary of columns or a
file, and refuses what is no discrete table with a sentence that says what to do.
Learners for Gaussian variables take a :class:`NumericTable`, made by :func:`as_numeric`.

>>> from f2sl.reading import as_table
>>> table = as_table({"rain": ["no", "yes", "no"], "sprinkler": [True, False, True]})
>>> table.states
(('no', 'yes'), (False, True))
>>> table.codes.tolist()
[[0, 1, 0], [1, 0, 1]]
"""

from f2sl.reading.encode import as_table, check_reading
from f2sl.reading.io import read_table
from f2sl.reading.kinds import as_either, kind_for, kind_of
from f2sl.reading.numeric import as_numeric
from f2sl.storage.memory.table import DiscreteTable, NumericTable

__all__ = [
    "DiscreteTable",
    "NumericTable",
    "as_either",
    "as_numeric",
    "as_table",
    "check_reading",
    "kind_for",
    "kind_of",
    "read_table",
]
