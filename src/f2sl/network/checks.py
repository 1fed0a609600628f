"""Checks of a network's parts, made once, when it is created."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence, Set
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from f2sl._notes import Say, Use
from f2sl.errors import DataError, GraphError, OptionError, shown, shown_list
from f2sl.graph import DAG

FloatArray = NDArray[np.float64]

TOLERANCE = 1e-4 + 1e-12
"""Tolerance of the sum of a distribution; files have rounded numbers."""
MOST_CELLS = 1 << 22
"""The most cells of one table: 32 megabytes. A line of text can ask for more than any memory."""
MOST_PARENTS = 31
"""The most parents of one variable: what every NumPy has axes for."""


class Equation(NamedTuple):
    """Linear equation of a continuous variable, with one array axis for each discrete parent.

    Examples
    --------
    >>> import f2sl
    >>> f2sl.GaussianNetwork(f2sl.DAG(["a"]), {}, {"a": 2.0}).equations["a"].variances.tolist()
    2.0
    """

    intercepts: FloatArray
    """Constant terms."""
    coefficients: FloatArray
    """Coefficients of the numeric parents, along the last axis."""
    variances: FloatArray
    """Variances of the noise."""

    def by_configuration(self) -> Equation:
        """Return the same with one axis for all configurations, numbered as those of tables are."""
        q, m = self.intercepts.size, self.coefficients.shape[-1]
        return Equation(self.intercepts.ravel(), self.coefficients.reshape(q, m), self.variances.ravel())


def check_dag(graph: object) -> None:
    """Raise an error for a graph that is not a DAG."""
    if not isinstance(graph, DAG):
        needs = f"a Bayesian network needs a DAG, not a {type(graph).__name__}; "
        raise GraphError(needs, Say("see to_dag()", "see --dag"))


def checked_name(name: object) -> str:
    """Return the name of a network."""
    if not isinstance(name, str):
        raise OptionError(Use("name"), f" must be a string, not {shown(name)}")
    return name


def check_size(node: str, shape: Sequence[int]) -> None:
    """Raise an error for a table that is too large for memory."""
    if len(shape) - 1 > MOST_PARENTS:
        raise DataError(f"{shown(node)} has {len(shape) - 1} parents; at most {MOST_PARENTS} are possible")
    if prod(shape) > MOST_CELLS:
        raise DataError(
            f"the table of {shown(node)} has {prod(shape):,} cells; at most {MOST_CELLS:,} are possible"
        )


def check_nodes(what: str, given: Any, graph: DAG) -> None:
    """Check that `given` has entries only for nodes of the graph."""
    if not isinstance(given, Mapping):
        raise DataError(f"{what}: must be a mapping from the names of variables, not {shown(given)}")
    known = set(graph.nodes)
    for node in given:
        if node not in known:
            raise DataError(f"{what}: {shown(node)} is not a node of the graph")


def check_covers(what: str, given: Any, graph: DAG, numbers: Mapping[str, Any] | None = None) -> None:
    """Check that `given` has an entry for each node of the graph except `numbers`, and no others."""
    check_nodes(what, given, graph)
    for node in graph.nodes:
        is_number = numbers is not None and node in numbers
        if is_number and node in given:
            raise DataError(f"{what}: {shown(node)} has an equation, so it is continuous")
        if not is_number and node not in given:
            raise DataError(f"{what}: variable {shown(node)} is missing")


def check_edges(graph: DAG, numbers: Container[str]) -> None:
    """Raise one error for all edges from continuous to discrete variables."""
    wrong = [(a, b) for a, b in graph.directed_edges if a in numbers and b not in numbers]
    if wrong:
        listed = shown_list([f"{a} -> {b}" for a, b in wrong])
        cut: dict[str, int] = {}
        waiting = [a for a, _ in wrong]
        while (
            waiting
        ):  # a continuous variable that is cut is discrete, which cannot have continuous parents either
            name = waiting.pop()
            if name not in cut:
                cut[name] = 5
                waiting += [parent for parent in graph.parents(name) if parent in numbers]
        raise DataError(
            f"edges from continuous to discrete variables: {listed}; in a network, discrete variables have "
            "only discrete parents; cut these continuous variables, and those that they depend on, for "
            "instance with ",
            Use("bins", cut if len(cut) <= 3 else 5),
            columns=cut,
        )


def checked_states(node: str, given: object) -> tuple[str, ...]:
    """Return the states of a variable as strings: at least one, no two alike."""
    states = tuple(map(str, _in_order("states", node, given)))
    if not states:
        raise DataError(f"variable {shown(node)} has no states")
    if len(set(states)) < len(states):
        raise DataError(f"variable {shown(node)} has two states of the same name")
    return states


def checked_parents(node: str, graph: DAG, given: Mapping[str, Sequence[str]] | None) -> tuple[str, ...]:
    """Return the parents of a variable in the order of its table's axes."""
    true = tuple(graph.parents(node))
    if given is None or node not in given:
        return true
    listed = _in_order("parents", node, given[node])
    if not all(isinstance(parent, str) for parent in listed) or sorted(listed) != sorted(true):
        message = f"({shown_list(true)}), not ({shown_list(listed)})"
        raise DataError(f"the parents of {shown(node)} in the graph are {message}")
    return listed


def checked_table(node: str, given: Any, axes: Sequence[str], shape: tuple[int, ...]) -> FloatArray:
    """Return the table of a variable as a read-only array; `axes` are its variables."""
    check_size(node, shape)
    # Read-only arrays are used as they are, all others are copied.
    frozen = isinstance(given, np.ndarray) and given.base is None and not given.flags.writeable
    try:
        table = (np.asarray if frozen else np.array)(given, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"the table of {shown(node)} is not an array of numbers") from None
    if table.shape != shape:
        expected = f"{shape}: {shown_list(axes)}"
        raise DataError(f"the table of {shown(node)} has the shape {table.shape}, not {expected}")
    if not table.min() >= 0:  # NaN is not
        raise DataError(f"the table of {shown(node)} has probabilities that are not between 0 and 1")
    off = np.abs(table.sum(axis=-1) - 1)
    if not off.max() <= TOLERANCE:
        worst = table.sum(axis=-1).flat[int(off.argmax())]
        raise DataError(f"probabilities of {shown(node)} sum to {worst:.6g}, not to 1")
    table.setflags(write=False)
    return table


def checked_equation(node: str, given: Any, shape: tuple[int, ...], n_numbers: int) -> Equation:
    """Return the equation of a continuous variable, with read-only arrays.

    `shape` holds the numbers of states of the discrete parents. Arrays given without these axes apply to
    all configurations.
    """
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable) or len(parts := tuple(given)) != 3:
        raise DataError(f"the equation of {shown(node)} must be intercepts, coefficients and variances")
    check_size(node, (*shape, n_numbers + 2))
    arrays = []
    for what, part, own in zip(Equation._fields, parts, ((), (n_numbers,), ()), strict=True):
        try:
            array = np.array(part, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise DataError(f"the {what} of {shown(node)} are not numbers") from None
        wanted = (*shape, *own)
        if array.shape not in (wanted, own):
            raise DataError(f"the {what} of {shown(node)} have the shape {array.shape}, not {wanted}")
        if not np.isfinite(array).all():
            raise DataError(f"the {what} of {shown(node)} are not finite")
        if what == "variances" and not (array > 0).all():
            raise DataError(f"the variances of {shown(node)} must be above 0, not {array.min():g}")
        array = np.array(np.broadcast_to(array, wanted))
        array.setflags(write=False)
        arrays.append(array)
    return Equation(*arrays)


def _in_order(what: str, node: str, given: object) -> tuple[Any, ...]:
    """Return the items of an ordered collection; a string is an error."""
    if isinstance(given, str | bytes | Set | Mapping) or not isinstance(given, Iterable):
        raise DataError(f"the {what} of {shown(node)} must be a sequence, not {shown(given)}")
    return tuple(given)
