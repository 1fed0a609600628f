"""Small tables with known truth, to try f2sl on.

Both were sampled from networks of the Bayesian Network Repository. Their columns are in alphabetical order,
which says nothing about causes.

======== ========= ====== ======================================================================
name     columns   rows   network
======== ========= ====== ======================================================================
alarm    37        2,000  monitoring patients under anaesthesia (Beinlich et al. 1989)
asia     8         5,000  shortness of breath and a trip to Asia (Lauritzen and Spiegelhalter 1988)
======== ========= ====== ======================================================================
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

from f2sl.errors import OptionError, unknown_name
from f2sl.graph import PDAG, load_graph

EXAMPLES = ("alarm", "asia")


def _file(name: str, suffix: str) -> Path:
    if name not in EXAMPLES:
        raise OptionError(unknown_name("example", name, EXAMPLES))
    return Path(str(files(__name__) / f"{name}{suffix}"))


def example_path(name: str) -> Path:
    """Return the path of an example's CSV file.

    Examples
    --------
    >>> example_path("asia").name
    'asia.csv.gz'
    """
    return _file(name, ".csv.gz")


def load_example(name: str) -> Any:
    """Load an example's table: a pandas frame if pandas is installed, otherwise a PyArrow table.

    Examples
    --------
    >>> load_example("asia").shape
    (5000, 8)
    """
    from f2sl.data.files import data_files, read_files

    table, _ = read_files(data_files(example_path(name)))
    try:
        return table.to_pandas()
    except ImportError:
        return table


def load_example_graph(name: str) -> PDAG:
    """Load the network that an example's table was sampled from.

    Examples
    --------
    >>> load_example_graph("asia").parents("dysp")
    ['bronc', 'either']
    """
    return load_graph(_file(name, ".json"))
