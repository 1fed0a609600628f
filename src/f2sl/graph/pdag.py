"""Partially directed graphs over named variables.

A *PDAG* joins any two of its nodes at most once, by a *directed* edge ``a -> b``
(``a`` is a *parent* of ``b``, and ``b`` a *child* of ``a``) or by an *undirected*
edge ``a - b`` (they are *neighbors*). Joined either way they are *adjacent*. The
*skeleton* is the graph with every arrowhead wiped off. Two arrows that meet,
``a -> c <- b``, form a *v-structure* when ``a`` and ``b`` are not adjacent.

Two DAGs express the same independences exactly when they have the same skeleton
and the same v-structures (Verma and Pearl, 1990); such a class of DAGs is drawn as
one PDAG, its *CPDAG*, in which the undirected edges are those that may point either
way.

Internally, names are numbers: edges are rows of sorted integer arrays, and neighborhoods are built on first
use. All choices are made by name, so the order of the nodes has no effect.

References
----------
.. [1] T. Verma, J. Pearl. Equivalence and synthesis of causal models. UAI 1990.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from f2sl.errors import GraphError, unknown_name
from f2sl.graph._arrays import (
    Adjacency,
    FloatArray,
    IntArray,
    adjacency,
    both_ways,
    check_simple,
    checked_nodes,
    edge_rows,
    edge_weights,
    first_topological_order,
    matched_weights,
    numbered_edges,
    pair_keys,
)

if TYPE_CHECKING:
    from f2sl.graph.dag import DAG
    from f2sl.knowledge import Knowledge


class EdgeRecord(NamedTuple):
    """Edge of a graph; `type` is "directed" or "undirected", `weight` is None if it has none."""

    source: str
    target: str
    type: str
    weight: float | None


class PDAG:
    """Graph with directed and undirected edges over named nodes; immutable.

    Two graphs are equal when they have the same nodes and the same edges, however the
    nodes are listed and whatever the weights.

    Parameters
    ----------
    nodes
        The names, distinct and not empty. Their order is kept.
    directed
        Pairs ``(a, b)`` for ``a -> b``.
    undirected
        Pairs ``(a, b)`` for ``a - b``, each edge once, in either order.
    weights
        Strengths of edges, by pair as above; edges may be left out.

    Attributes
    ----------
    knowledge : Knowledge or None
        Knowledge about edges with which the graph was learned; JSON files store it.
    read_as : mapping or None
        The kind of each column that the graph was learned from, or the intervals it was cut into; JSON files
        keep it.
    weak : frozenset of (str, str)
        Arrows that are only weakly decided: a learner did not find them again from resampled rows, or a test
        did not confirm them, or they were not checked. All files but CSV and model strings keep them.
    either_way : frozenset of (str, str)
        Arrows of a DAG that may point the other way in the graph that it stands for. JSON files keep them.
    learned_by : mapping or None
        Name of the learner, its options and options of reading that differ from the defaults, and the number
        of rows: enough to learn the graph again from the same table. JSON files keep it.
    dag : DAG or None
        DAG of this graph that a learner found by its score, or that a JSON file holds; `to_dag` returns it.

    Examples
    --------
    >>> graph = PDAG(["a", "b", "c"], directed=[("a", "b")], undirected=[("c", "b")])
    >>> graph
    PDAG(3 nodes, 1 directed and 1 undirected edges)
    >>> graph.undirected_edges
    [('b', 'c')]
    >>> graph.parents("b"), graph.undirected_neighbors("b"), graph.neighbors("b")
    (['a'], ['c'], ['a', 'c'])
    """

    _nodes: tuple[str, ...]
    _directed: IntArray
    _undirected: IntArray
    _weights_directed: FloatArray | None
    _weights_undirected: FloatArray | None
    knowledge: Knowledge | None = None
    read_as: Mapping[str, str | tuple[str, ...]] | None = None
    learned_by: Mapping[str, Any] | None = None
    weak: frozenset[tuple[str, str]] = frozenset()
    either_way: frozenset[tuple[str, str]] = frozenset()
    dag: DAG | None = None

    def __init__(
        self,
        nodes: Sequence[str],
        directed: Iterable[tuple[str, str]] = (),
        undirected: Iterable[tuple[str, str]] = (),
        *,
        weights: Mapping[tuple[str, str], float] | None = None,
    ) -> None:
        names = checked_nodes(nodes)
        index = {name: i for i, name in enumerate(names)}
        arrows, lines = list(directed), list(undirected)
        rows = (
            numbered_edges(arrows, index, "directed"),
            numbered_edges(lines, index, "undirected"),
        )
        check_simple(names, *rows)
        given = matched_weights(weights, [(a, b) for a, b in arrows], [(a, b) for a, b in lines])
        self._store(names, *rows, *(None if one is None else np.array(one, np.float64) for one in given))

    @classmethod
    def from_arrays(
        cls,
        nodes: Sequence[str],
        directed: ArrayLike | None = None,
        undirected: ArrayLike | None = None,
        weights_directed: ArrayLike | None = None,
        weights_undirected: ArrayLike | None = None,
    ) -> Self:
        """Return a graph from rows of node numbers; fast for large graphs.

        Parameters
        ----------
        nodes
            The names; node ``i`` is ``nodes[i]``.
        directed, undirected
            Integer arrays of shape ``(m, 2)``, in any order.
        weights_directed, weights_undirected
            One weight for each row, NaN where an edge has none.

        Examples
        --------
        >>> PDAG.from_arrays(["a", "b", "c"], directed=[[2, 0]]).directed_edges
        [('c', 'a')]
        """
        names = checked_nodes(nodes)
        arrows = edge_rows(directed, len(names), "directed")
        lines = edge_rows(undirected, len(names), "undirected")
        check_simple(names, arrows, lines)
        weights = (
            edge_weights(weights_directed, len(arrows), "directed"),
            edge_weights(weights_undirected, len(lines), "undirected"),
        )
        return cls._unchecked(names, arrows, lines, *weights)

    @classmethod
    def _unchecked(
        cls,
        nodes: tuple[str, ...],
        directed: IntArray,
        undirected: IntArray,
        weights_directed: FloatArray | None = None,
        weights_undirected: FloatArray | None = None,
    ) -> Self:
        """Return a graph of edges that this package has made, and that need no check."""
        graph = cls.__new__(cls)
        graph._store(nodes, directed, undirected, weights_directed, weights_undirected)
        return graph

    @classmethod
    def from_adjacency(cls, matrix: Any, nodes: Sequence[str] | None = None) -> Self:
        """Return a graph from a square matrix of zeros and ones, dense or sparse.

        ``matrix[i, j] = 1`` means ``i -> j``: rows are parents, columns are children.
        A one in both places means ``i - j``. Without `nodes` the names are the
        columns of a data frame, or else X0, X1, ...

        Examples
        --------
        >>> PDAG.from_adjacency([[0, 1, 0], [0, 0, 1], [0, 1, 0]])
        PDAG(3 nodes, 1 directed and 1 undirected edges)
        """
        from f2sl.graph.convert import from_adjacency

        return from_adjacency(cls, matrix, nodes)

    @classmethod
    def from_networkx(cls, graph: Any) -> Self:
        """Return a graph from a ``networkx`` Graph or DiGraph whose nodes are strings.

        In a DiGraph edges in both directions make one undirected edge. The edge
        attributes ``weight`` and ``weak`` are kept.
        """
        from f2sl.graph.convert import from_networkx

        return from_networkx(cls, graph)

    @classmethod
    def from_causallearn(cls, graph: Any) -> Self:
        """Return a graph from causal-learn's ``GeneralGraph``, or from a result that has one as ``G``.

        Its matrix has ``graph[j, i] = 1`` and ``graph[i, j] = -1`` for ``i -> j``, and -1 in both places for
        ``i - j``. Other edges, such as ``i <-> j`` or those with circles, are refused: a PDAG has none.

        Parameters
        ----------
        graph : object
            Has the matrix ``graph``, and ``get_node_names()`` or ``nodes``.
        """
        from f2sl.graph.convert import from_causallearn

        return from_causallearn(cls, graph)

    def _store(
        self,
        nodes: tuple[str, ...],
        directed: IntArray,
        undirected: IntArray,
        weights_directed: FloatArray | None = None,
        weights_undirected: FloatArray | None = None,
    ) -> None:
        """Store checked edges: sort them, make them read-only, and run a subclass's check."""
        self._nodes = nodes
        rows = (directed, np.sort(undirected, axis=1))
        sorted_rows, sorted_weights = [], []
        for edges, weights in zip(rows, (weights_directed, weights_undirected), strict=True):
            order = np.lexsort((edges[:, 1], edges[:, 0]))
            arranged = edges[order]
            arranged.setflags(write=False)
            sorted_rows.append(arranged)
            # Weights that are all unknown are none, and -0.0 becomes 0.0.
            unknown = weights is None or np.isnan(weights).all()
            sorted_weights.append(None if weights is None or unknown else weights[order] + 0.0)
        self._directed, self._undirected = sorted_rows
        self._weights_directed, self._weights_undirected = sorted_weights
        self._check()

    def _check(self) -> None:
        """Check what a subclass requires beyond a PDAG; nothing here."""

    # -- what the graph consists of --------------------------------------------------

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of the nodes, in the given order."""
        return self._nodes

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self._nodes)

    @property
    def n_edges(self) -> int:
        """Number of edges of both kinds."""
        return len(self._directed) + len(self._undirected)

    @property
    def directed_array(self) -> IntArray:
        """Rows ``[i, j]`` of the edges ``i -> j``, sorted; read-only."""
        return self._directed

    @property
    def undirected_array(self) -> IntArray:
        """Rows ``[i, j]``, ``i < j``, of the edges ``i - j``, sorted; read-only."""
        return self._undirected

    @property
    def directed_edges(self) -> list[tuple[str, str]]:
        """Edges ``(a, b)`` with ``a -> b``, sorted by node order."""
        return self._named(self._directed)

    @property
    def undirected_edges(self) -> list[tuple[str, str]]:
        """Edges ``(a, b)`` with ``a - b`` and ``a`` listed before ``b``, sorted."""
        return self._named(self._undirected)

    @property
    def edges(self) -> list[EdgeRecord]:
        """Edges as records, the directed ones first.

        Examples
        --------
        >>> PDAG(["a", "b", "c"], [("a", "b")], [("b", "c")], weights={("a", "b"): 0.5}).edges[0]
        EdgeRecord(source='a', target='b', type='directed', weight=0.5)
        """
        weights = self.weights or {}
        edge_types = (("directed", self.directed_edges), ("undirected", self.undirected_edges))
        return [EdgeRecord(a, b, label, weights.get((a, b))) for label, edges in edge_types for a, b in edges]

    @property
    def weights(self) -> dict[tuple[str, str], float] | None:
        """Strengths by edge, in the order of `edges`; None if no edge has one.

        Examples
        --------
        >>> PDAG(["a", "b"], undirected=[("b", "a")], weights={("b", "a"): 0.5}).weights
        {('a', 'b'): 0.5}
        """
        if self._weights_directed is None and self._weights_undirected is None:
            return None
        found: dict[tuple[str, str], float] = {}
        for edges, weights in (
            (self._directed, self._weights_directed),
            (self._undirected, self._weights_undirected),
        ):
            if weights is not None:
                known = ~np.isnan(weights)
                found.update(zip(self._named(edges[known]), weights[known].tolist(), strict=True))
        return found

    def _named(self, edges: IntArray) -> list[tuple[str, str]]:
        names = self._nodes
        return [(names[i], names[j]) for i, j in edges.tolist()]

    # -- neighborhoods --------------------------------------------------------------

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self._nodes)}

    @cached_property
    def _rank(self) -> IntArray:
        """Rank of each node among the sorted names, which breaks all ties."""
        rank = np.empty(self.n_nodes, dtype=np.int64)
        rank[sorted(range(self.n_nodes), key=self._nodes.__getitem__)] = np.arange(self.n_nodes)
        return rank

    @cached_property
    def _children(self) -> Adjacency:
        return adjacency(self.n_nodes, self._directed[:, 0], self._directed[:, 1])

    @cached_property
    def _parents(self) -> Adjacency:
        return adjacency(self.n_nodes, self._directed[:, 1], self._directed[:, 0])

    @cached_property
    def _neighbors(self) -> Adjacency:
        return adjacency(self.n_nodes, *both_ways(self._undirected))

    @cached_property
    def _adjacent(self) -> Adjacency:
        return adjacency(self.n_nodes, *both_ways(np.concatenate((self._directed, self._undirected))))

    def _number(self, name: str) -> int:
        try:
            return self._index[name]
        except (KeyError, TypeError):
            raise GraphError(unknown_name("node", name, self._nodes)) from None

    def _names(self, numbers: IntArray) -> list[str]:
        return [self._nodes[i] for i in numbers.tolist()]

    def parents(self, name: str) -> list[str]:
        """Return the nodes with an arrow into `name`, in node order."""
        return self._names(self._parents.of(self._number(name)))

    def children(self, name: str) -> list[str]:
        """Return the nodes that `name` has an arrow into, in node order."""
        return self._names(self._children.of(self._number(name)))

    def undirected_neighbors(self, name: str) -> list[str]:
        """Return the nodes joined to `name` by an undirected edge, in node order."""
        return self._names(self._neighbors.of(self._number(name)))

    def neighbors(self, name: str) -> list[str]:
        """Return the nodes joined to `name` by any edge, in node order."""
        return self._names(self._adjacent.of(self._number(name)))

    def has_directed_edge(self, a: str, b: str) -> bool:
        """Return whether there is an edge ``a -> b``."""
        return self._children.has(self._number(a), self._number(b))

    def has_undirected_edge(self, a: str, b: str) -> bool:
        """Return whether there is an edge ``a - b``."""
        return self._neighbors.has(self._number(a), self._number(b))

    # -- questions about the whole ---------------------------------------------------

    def has_directed_cycle(self) -> bool:
        """Return whether the directed edges contain a cycle."""
        return len(first_topological_order(self.n_nodes, self._directed)) < self.n_nodes

    def is_dag(self) -> bool:
        """Return whether all edges are directed and no directed cycle exists."""
        return not len(self._undirected) and not self.has_directed_cycle()

    def v_structures(self) -> list[tuple[str, str, str]]:
        """Return the triples ``(a, c, b)`` with ``a -> c <- b``, `a` and `b` not adjacent.

        `a` is listed before `b`; the triples are sorted by ``(c, a, b)`` in node order.

        Examples
        --------
        >>> PDAG(["a", "b", "c"], [("a", "c"), ("b", "c")]).v_structures()
        [('a', 'c', 'b')]
        """
        names, adjacent = self._nodes, self._adjacent.sets()
        return [
            (names[a], names[c], names[b])
            for c, parents in enumerate(self._parents.lists())
            for i, a in enumerate(parents)
            for b in parents[i + 1 :]
            if b not in adjacent[a]
        ]

    # -- other graphs made from this one ---------------------------------------------

    def _remarked(self, directed: IntArray, undirected: IntArray) -> PDAG:
        """Return a PDAG with the same adjacencies and weights but other directions."""
        return PDAG._unchecked(
            self._nodes, directed, undirected, self._weights_of(directed), self._weights_of(undirected)
        )

    def _weights_of(self, edges: IntArray) -> FloatArray | None:
        """Return the weights of adjacencies of this graph, given in either direction."""
        if self._weights_directed is None and self._weights_undirected is None:
            return None
        own = np.concatenate((self._directed, self._undirected))
        weights = np.full(len(own), np.nan)
        if self._weights_directed is not None:
            weights[: len(self._directed)] = self._weights_directed
        if self._weights_undirected is not None:
            weights[len(self._directed) :] = self._weights_undirected
        keys = pair_keys(self.n_nodes, own)
        order = np.argsort(keys)
        return weights[order[np.searchsorted(keys[order], pair_keys(self.n_nodes, edges))]]

    def skeleton(self) -> PDAG:
        """Return the same adjacencies, all undirected; weights are kept."""
        none = np.empty((0, 2), dtype=np.int64)
        return self._remarked(none, np.concatenate((self._directed, self._undirected)))

    def reorder(self, nodes: Sequence[str]) -> Self:
        """Return the same graph with its nodes listed in the order of `nodes`."""
        names = tuple(nodes)
        position = {name: i for i, name in enumerate(names)}
        if len(names) != self.n_nodes or position.keys() != set(self._nodes):
            for name in checked_nodes(nodes):
                self._number(name)
            name = next(name for name in self._nodes if name not in position)
            raise GraphError(f"node {name!r} is missing from the new order")
        moved = np.array([position[name] for name in self._nodes], dtype=np.int64)
        graph = type(self)._unchecked(
            names,
            moved[self._directed],
            moved[self._undirected],
            self._weights_directed,
            self._weights_undirected,
        )
        graph.dag = None if self.dag is None else self.dag.reorder(names)
        return graph._learned_like(self)

    def _learned_like(self, other: PDAG) -> Self:
        """Copy from another graph how it was learned."""
        self.knowledge, self.read_as, self.learned_by = other.knowledge, other.read_as, other.learned_by
        self.weak = other.weak.intersection(self.directed_edges) if other.weak else other.weak
        if other.either_way and type(self) is type(other):
            self.either_way = other.either_way.intersection(self.directed_edges)
        return self

    def to_dag(self) -> DAG:
        """Return one DAG that this graph stands for; it obeys the graph's `knowledge`.

        It is the graph's own `dag`, or if there is none that obeys, that of :func:`consistent_extension`.
        """
        from f2sl.graph.extension import consistent_extension

        dag = self.dag
        if dag is None or (self.knowledge and self.knowledge.check(dag)):
            dag = consistent_extension(self)
        dag.either_way = frozenset(dag.directed_edges).difference(self.directed_edges)
        dag.pdag = self
        return dag

    def to_cpdag(self, knowledge: Knowledge | None = None) -> PDAG:
        """Return the CPDAG of the equivalence class of :meth:`to_dag`.

        Parameters
        ----------
        knowledge
            Knowledge about edges; by default what the graph was learned with. Pass ``Knowledge()`` for none.
            The result is directed where all DAGs of the class that obey the knowledge agree (an *MPDAG*). If
            none obeys, an error is raised.

        Examples
        --------
        >>> from f2sl import Knowledge
        >>> chain = PDAG(["a", "b", "c"], undirected=[("a", "b"), ("b", "c")])
        >>> chain.to_cpdag(Knowledge(roots=["a"])).directed_edges
        [('a', 'b'), ('b', 'c')]
        """
        from f2sl.graph.dag import cpdag_of
        from f2sl.graph.meek import narrowed

        known = self.knowledge if knowledge is None else knowledge
        cpdag = cpdag_of(self.to_dag())
        found = (narrowed(cpdag, known) if known else cpdag)._learned_like(self)
        found.knowledge = known or None
        return found

    def to_frame(self) -> Any:
        """Return the edges as a data frame with the columns source, target, type, weight and two more.

        The columns ``weak`` and ``either_way`` are true for the edges in the attributes of these names.

        Returns
        -------
        pandas.DataFrame or pyarrow.Table
            A pandas frame if pandas is installed, otherwise a PyArrow table.

        Examples
        --------
        >>> PDAG(["a", "b"], [("a", "b")]).to_frame().shape
        (1, 6)
        """
        import pyarrow as pa

        kinds = [(field, pa.float64() if field == "weight" else pa.string()) for field in EdgeRecord._fields]
        kinds += [("weak", pa.bool_()), ("either_way", pa.bool_())]
        rows = [
            {**edge._asdict(), "weak": edge[:2] in self.weak, "either_way": edge[:2] in self.either_way}
            for edge in self.edges
        ]
        table = pa.Table.from_pylist(rows, pa.schema(kinds))
        try:
            return table.to_pandas()
        except ImportError:
            return table

    def to_networkx(self) -> Any:
        """Return a ``networkx.DiGraph``; an undirected edge becomes two opposite edges.

        Weights become the edge attribute ``weight``; edges in `weak` get the attribute ``weak``.
        """
        import networkx

        made = networkx.DiGraph()
        made.add_nodes_from(self.nodes)
        lines = self.undirected_edges
        made.add_edges_from(self.directed_edges)
        made.add_edges_from(lines)
        made.add_edges_from((b, a) for a, b in lines)
        for (a, b), weight in (self.weights or {}).items():
            made[a][b]["weight"] = weight
            if made.has_edge(b, a):
                made[b][a]["weight"] = weight
        for a, b in self.weak:
            made[a][b]["weak"] = True
        return made

    def to_causallearn(self) -> Any:
        """Return causal-learn's ``GeneralGraph``, which most of its functions take; weights are left out.

        Raises
        ------
        OptionError
            If causal-learn is not installed.
        """
        from f2sl.graph.convert import to_causallearn

        return to_causallearn(self)

    @overload
    def to_adjacency(self, sparse: Literal[False] = False) -> NDArray[np.uint8]: ...

    @overload
    def to_adjacency(self, sparse: Literal[True]) -> Any: ...

    def to_adjacency(self, sparse: bool = False) -> Any:
        """Return the matrix with ``A[i, j] = 1`` for ``i -> j``, both ones for ``i - j``.

        A dense array of unsigned bytes, or with ``sparse=True`` a SciPy CSR matrix:
        the dense one has as many entries as the square of the nodes.

        Examples
        --------
        >>> PDAG(["a", "b", "c"], [("a", "b")], [("b", "c")]).to_adjacency()
        array([[0, 1, 0],
               [0, 0, 1],
               [0, 1, 0]], dtype=uint8)
        """
        lines = self.undirected_array
        directed_edges = np.concatenate((self.directed_array, lines, lines[:, ::-1]))
        shape = (self.n_nodes, self.n_nodes)
        if sparse:
            from scipy.sparse import csr_matrix

            return csr_matrix(
                (np.ones(len(directed_edges), dtype=np.uint8), (directed_edges[:, 0], directed_edges[:, 1])),
                shape=shape,
            )
        matrix = np.zeros(shape, dtype=np.uint8)
        matrix[directed_edges[:, 0], directed_edges[:, 1]] = 1
        return matrix

    def to_dot(self) -> str:
        """Return the graph in the DOT language of Graphviz.

        Examples
        --------
        >>> print(PDAG(["a", "b", "c"], [("a", "b")], [("b", "c")]).to_dot())
        digraph {
          f2sl_kind="PDAG";
          "a";
          "b";
          "c";
          "a" -> "b";
          "b" -> "c" [dir=none];
        }
        <BLANKLINE>
        """
        from f2sl.graph.formats.dot_file import write_dot

        return "".join(write_dot(self))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the graph to `path`, replacing an existing file; see :func:`save_graph`."""
        from f2sl.graph.formats import save_graph

        save_graph(self, path)

    def show(self, path: str | PathLike[str], **options: Any) -> Path:
        """Write an HTML page to explore the graph; options are those of :func:`f2sl.show`."""
        from f2sl.view.page import show

        return show(self, path, **options)

    def _repr_html_(self) -> str:
        from f2sl.view.notebook import html_of

        return html_of(self)

    # -- the object ------------------------------------------------------------------

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self._nodes)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the nodes."""
        return iter(self._nodes)

    def __contains__(self, name: object) -> bool:
        """Return whether there is a node of this name."""
        return isinstance(name, str) and name in self._index

    @cached_property
    def _canonical(self) -> tuple[tuple[str, ...], bytes, bytes]:
        """Graph written with its nodes sorted by name: equal for equal graphs."""
        rank, n = self._rank, self.n_nodes
        arrows = rank[self._directed]
        return (
            tuple(sorted(self._nodes)),
            np.sort(arrows[:, 0] * n + arrows[:, 1]).tobytes(),
            np.sort(pair_keys(n, rank[self._undirected])).tobytes(),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PDAG):
            return NotImplemented
        same_size = self.n_nodes == other.n_nodes and len(self._directed) == len(other._directed)
        return same_size and self._canonical == other._canonical

    def __hash__(self) -> int:
        return hash(self._canonical)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_nodes} nodes, {self._edges_in_words})"

    @property
    def _edges_in_words(self) -> str:
        """Numbers of edges, and of those whose direction is weakly decided, or may be the other."""
        open_to_doubt = (len(self.weak), "weakly decided"), (len(self.either_way), "either way")
        doubts = ", ".join(f"{number:,} {what}" for number, what in open_to_doubt if number)
        directed = f"{len(self._directed):,} directed{doubts and f' ({doubts})'}"
        return f"{directed} and {len(self._undirected):,} undirected edges"

    def __getstate__(self) -> dict[str, Any]:
        """Leave out attributes that are computed on first use."""
        cls = type(self)
        return {
            key: value
            for key, value in self.__dict__.items()
            if not isinstance(getattr(cls, key, None), cached_property)
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for edges in (self._directed, self._undirected):
            edges.setflags(write=False)
