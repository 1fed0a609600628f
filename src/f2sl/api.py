"""Learn by the name of an algorithm, in one call.

All options are keyword arguments here. Each is passed on to the part that it belongs to: the learner, the
learner of neighbors inside it, or `open_table`, which reads the data.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Container, Mapping
from contextlib import nullcontext
from typing import Any, NamedTuple, overload

from f2sl._ahead import HELPERS, announce_first_run
from f2sl._notes import Use, left_out
from f2sl._options import checked, flag, refuse
from f2sl._progress import stage
from f2sl._reading import READING
from f2sl._registry import Registry, unknown_option
from f2sl._synonyms import SAME_OPTIONS
from f2sl.data.engines import open_engine
from f2sl.data.notes import warn_of_identifiers
from f2sl.data.open import open_for
from f2sl.data.table import Table
from f2sl.data.transform import for_learning
from f2sl.errors import DataError, F2SLWarning, Interrupted, OptionError, unknown_name
from f2sl.learners.base import StructureLearner
from f2sl.learners.fit import display_for, fit_learner
from f2sl.learners.local.base import (
    LocalLearner,
    apply_constraints,
    apply_constraints_to_one,
    check_required_parents,
)
from f2sl.learners.local.found import FoundSet, FoundSets
from f2sl.learners.registries import LOCAL, MARKOV_BLANKET, STRUCTURE


class SplitOptions(NamedTuple):
    """Options by owner, unknown ones as given; `taken` has the names of all options of the learner."""

    learner: dict[str, Any]
    reading: dict[str, Any]
    unknown: list[str]
    taken: list[str]


def by_our_names(options: Mapping[str, Any], taken: Container[str]) -> dict[str, Any]:
    """Return options with the names of f2sl in place of their synonyms, unless these are `taken`.

    Examples
    --------
    >>> by_our_names({"seed": 1, "alpha": 0.1}, ["random_state", "alpha"])
    {'random_state': 1, 'alpha': 0.1}
    """
    renamed: dict[str, Any] = {}
    for name, value in options.items():
        ours = name if name in taken else SAME_OPTIONS.get(name, name)
        if ours in renamed or (ours != name and ours in options):
            raise OptionError(Use(ours), f" is given twice: {name!r} means the same")
        renamed[ours] = value
    return renamed


def split_options(registry: Registry, algorithm: str, options: Mapping[str, Any]) -> SplitOptions:
    """Sort options by owner.

    Examples
    --------
    >>> options = {"pc": "mrmr", "k": 3, "bins": 5, "delta": 0.1}
    >>> split_options(STRUCTURE, "local-to-global", options)[:3]
    ({'pc': 'mrmr', 'pc_options': {'k': 3}}, {'bins': 5}, ['delta'])
    """
    taken = registry.load(algorithm).option_defaults()
    given_as = {SAME_OPTIONS.get(name, name): name for name in options}
    options = by_our_names(options, taken)
    own = {name: value for name, value in options.items() if name in taken}
    reading = {name: value for name, value in options.items() if name in READING}
    others = {name: value for name, value in options.items() if name not in own and name not in reading}
    names = list(taken)
    given = own.get("pc_options") or {}
    if "pc_options" in taken and others and isinstance(given, Mapping):
        # What is not the learner's own may be meant for the learner of neighbors that it is made of.
        inner = LOCAL.load(own.get("pc", taken["pc"])).option_defaults()
        names += inner
        passed_on = {name: others.pop(name) for name in list(others) if name in inner}
        own["pc_options"] = {**given, **passed_on}
    return SplitOptions(own, reading, [given_as.get(name, name) for name in others], names)


def make_learner(
    registry: Registry, algorithm: str, options: Mapping[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """Create the learner of that name; return it, and the given options that belong to `open_table`.

    One error names all options that are unknown or have a wrong value.
    """
    if registry is STRUCTURE:
        HELPERS.start()  # before the learner's module, which imports Numba
    problems = checked(READING, {name: value for name, value in options.items() if name in READING})[1]
    try:
        handed = split_options(registry, algorithm, options)
    except OptionError as error:
        refuse([*error.problems, *problems])
        raise
    known = [*handed.taken, *READING]
    unknown = [unknown_option(algorithm, name, known, registry) for name in handed.unknown]
    learner = registry.create(algorithm, handed.learner)
    if unknown or problems:  # those of the learner alone are reported when it is fitted
        refuse([*unknown, *learner._problems(), *problems])
    return learner, handed.reading


def learn(data: Any, algorithm: str = "f2sl-h", **options: Any) -> StructureLearner:
    """Learn a graph from a table, and return the fitted learner.

    Parameters
    ----------
    data : data frame, array, dict of columns, path, list of paths or Table
        One row for each sample, one column for each variable; see :func:`open_table`. A path may also name a
        folder of files.
    algorithm : str
        Name of the learner: ``"f2sl-h"`` by default. ``f2sl algorithms`` lists all names.
    **options
        Options of the learner (such as ``knowledge``, ``score`` or ``alpha``), and options of
        :func:`open_table` (such as ``kinds``, ``bins``, ``missing`` or ``drop``).

    Returns
    -------
    StructureLearner
        Its ``graph_`` is the learned graph, with the directions that the data decide, and ``dag_`` one DAG
        of it. ``notes_`` says what was assumed.

    Examples
    --------
    >>> import f2sl
    >>> model = f2sl.learn(f2sl.load_example("asia"))
    >>> model.graph_
    PDAG(8 nodes, 5 directed (3 weakly decided) and 3 undirected edges)
    >>> model.graph_.parents("either")
    ['lung', 'tub']
    >>> f2sl.learn(f2sl.load_example("asia"), "f2sl-s", score="bic").graph_.n_edges
    6
    """
    learner, reading = make_learner(STRUCTURE, algorithm, options)
    fitted: StructureLearner = fit_learner(learner, data, reading)
    return fitted


@overload
def learn_pc(data: Any, target: str, algorithm: str = ..., **options: Any) -> FoundSet: ...


@overload
def learn_pc(data: Any, target: None = None, algorithm: str = ..., **options: Any) -> FoundSets: ...


def learn_pc(
    data: Any,
    target: str | None = None,
    algorithm: str = "fcbf",
    *,
    n_jobs: int | None = None,
    verbose: bool = False,
    **options: Any,
) -> FoundSet | FoundSets:
    """Find the parents and children of one variable, or of all.

    Parameters
    ----------
    data : data frame, array, dict of columns, path, list of paths or Table
        One row for each sample, one column for each variable; see :func:`open_table`.
    target : str, optional
        Column to find the neighbors of; all columns by default.
    algorithm : str
        Name of the learner, such as ``"fcbf"``, ``"mmpc"`` or ``"hiton-pc"``.
    n_jobs : int, optional
        Threads; None for all cores.
    verbose : bool
        Show progress on the terminal.
    **options
        Options of the learner, such as ``delta`` and ``ties``, and of reading, as in :func:`learn`.

    Returns
    -------
    FoundSet, or FoundSets by name for all columns
        A dictionary of the names found, strongest first, each with the strength of its edge to the target:
        symmetrical uncertainty, or squared correlation of continuous variables, with ``"fcbf"``; with the
        learners by independence tests, minus the decimal logarithm of the largest p-value of the edge's
        tests; with the learners by score, the loss in log score without it. Attributes have the separating
        sets of other variables and the number of tests. A search that reaches its ``time_limit`` returns the
        partial result with a warning.

    Examples
    --------
    >>> import f2sl
    >>> asia = f2sl.load_example("asia")
    >>> list(f2sl.learn_pc(asia, target="smoke"))
    ['bronc', 'lung']
    >>> found = f2sl.learn_pc(asia, target="smoke", algorithm="mmpc")
    >>> found.separating_sets["xray"]
    ('lung',)
    >>> list(f2sl.learn_pc(asia)["xray"])
    ['either']
    """
    learner, reading = make_learner(LOCAL, algorithm, options)
    return find_sets(learner, algorithm, data, target, n_jobs, reading, verbose=verbose)


@overload
def learn_mb(data: Any, target: str, algorithm: str = ..., **options: Any) -> FoundSet: ...


@overload
def learn_mb(data: Any, target: None = None, algorithm: str = ..., **options: Any) -> FoundSets: ...


def learn_mb(
    data: Any,
    target: str | None = None,
    algorithm: str = "iamb",
    *,
    n_jobs: int | None = None,
    verbose: bool = False,
    **options: Any,
) -> FoundSet | FoundSets:
    """Find the Markov blanket of one variable, or of all: parents, children, their other parents.

    Given its blanket, a variable is independent of all others: for predicting it, the blanket is enough.

    Parameters
    ----------
    data, target, n_jobs, verbose
        As in :func:`learn_pc`.
    algorithm : str
        Name of the learner, such as ``"iamb"`` or ``"hiton-mb"``.
    **options
        Options of the learner, such as ``alpha``, and of reading, as in :func:`learn`.

    Returns
    -------
    FoundSet, or FoundSets by name for all columns
        As in :func:`learn_pc`. The strength of a spouse is that of its dependence on the target given their
        common child; with several children, the largest.

    Examples
    --------
    >>> import f2sl
    >>> sorted(f2sl.learn_mb(f2sl.load_example("asia"), target="dysp"))
    ['bronc', 'either']
    """
    learner, reading = make_learner(MARKOV_BLANKET, algorithm, options)
    return find_sets(learner, algorithm, data, target, n_jobs, reading, verbose=verbose)


def find_sets(
    learner: LocalLearner,
    algorithm: str,
    data: Any,
    target: str | None,
    n_jobs: int | None,
    reading: Mapping[str, Any],
    *,
    verbose: bool = False,
    on_open: Callable[[Table], Table] | None = None,
) -> FoundSet | FoundSets:
    """Read the table, and find the set of one variable or of all; `on_open` is as in `fit_learner`."""
    learner.check_options()
    with display_for(flag("verbose", verbose)):
        announce_first_run()
        with stage("reading the table"):
            table = open_for(learner._takes, algorithm, data, n_jobs, **reading)
        with nullcontext() if table is data else table:
            warn_of_identifiers(table, stacklevel=4)
            with for_learning(table, n_jobs) as learned:
                learned = learned if on_open is None else on_open(learned)
                found = _found(learner.resolve_auto(learned.kind), learned, target, n_jobs)
    for note in found.notes:
        warnings.warn(note, F2SLWarning, stacklevel=3)
    return found


def _found(
    learner: LocalLearner, table: Table, target: str | None, n_jobs: int | None
) -> FoundSet | FoundSets:
    """Find the set of one variable, or of all, in a table."""
    if target is not None and str(target) not in table.names:
        why = left_out(table.notes).get(str(target))
        raise DataError(unknown_name("column", str(target), table.names, why))
    ordered = table.in_name_order()
    rules = learner.knowledge.constraints(ordered.names, table) if learner.knowledge else None
    blankets = learner.finds_blankets
    if rules:
        check_required_parents(learner, rules, ordered.names)
        learner.with_constraints(rules)
    with open_engine(ordered, n_jobs) as engine:
        if target is not None:
            position = ordered.names.index(str(target))
            found = learner.learn_one(engine, position)
            found = apply_constraints_to_one(found, position, rules, blankets) if rules else found
            return FoundSet.of(found, position, ordered.names)
        try:
            sets, interrupt = learner.learn_all(engine), False
        except Interrupted as error:
            sets, interrupt = error.finished, True
    sets = apply_constraints(sets, rules, blankets) if rules else sets
    named = FoundSets.of(sets, ordered.names, table.names)
    if interrupt:
        raise Interrupted(named)
    return named
