"""Tables of discrete variables, whatever they come from.

Everything that f2sl learns from is a :class:`DiscreteTable`: named variables, the
labels of their states, and one small integer (a *code*) for each cell.
:func:`as_table` makes one from a data frame, an array, a dictionary of columns or a
file, and refuses what is no discrete table with a sentence that says what to do.

>>> from f2sl.data import as_table
>>> table = as_table({"rain": ["no", "yes", "no"], "sprinkler": [True, False, True]})
>>> table.states
(('no', 'yes'), (False, True))
>>> table.codes.tolist()
[[0, 1, 0], [1, 0, 1]]
"""

from f2sl.data.encode import as_table, check_reading
from f2sl.data.io import read_table
from f2sl.data.table import DiscreteTable

__all__ = ["DiscreteTable", "as_table", "check_reading", "read_table"]
