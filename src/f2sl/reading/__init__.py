"""Reading tables: from a file, a data frame or an array to named columns of states or numbers.

:func:`open_table` is the only entry point. It refuses data that cannot be learned from, with a message that
says what to do; the table's notes list its assumptions.

>>> from f2sl.reading import open_table
>>> table = open_table({"rain": ["no", "yes", "no"], "sprinkler": [True, False, True]})
>>> table.states
(('no', 'yes'), (False, True))
>>> table.column(0).tolist()
[0, 1, 0]
"""

from f2sl.reading.check import Report, check_learnable
from f2sl.reading.open import check, open_table

__all__ = ["Report", "check", "check_learnable", "open_table"]
