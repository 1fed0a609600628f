"""Tables: named columns, each with a kind; nothing is read or counted here."""

from f2sl.table.column import NUMBER, STATES, Column
from f2sl.table.table import Table

__all__ = ["NUMBER", "STATES", "Column", "Table"]
