"""Open a table: the only place that reads data and checks the options of reading."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any, Never, TypeVar

from f2sl._constants import AUTO
from f2sl._memory import LEAST_MEMORY, memory_limit
from f2sl._notes import Note, Use, joined
from f2sl._options import checked, problems_with, refuse
from f2sl._reading import READING
from f2sl._registry import refuse_unknown
from f2sl._synonyms import kind_meant
from f2sl._threads import resolve_jobs
from f2sl.data.check import Report, check_learnable
from f2sl.data.column import CONTINUOUS, KINDS, MIXED, ReadAs
from f2sl.data.dask.runtime import Cluster
from f2sl.data.encode import encode
from f2sl.data.names import AVAILABLE, Reading
from f2sl.data.notes import without_aliases
from f2sl.data.table import Table
from f2sl.data.transform import for_learning
from f2sl.data.values import TextOptions
from f2sl.errors import DataError, OptionError

Opening = TypeVar("Opening", bound=Callable[..., Table])


def documented(function: Opening) -> Opening:
    """Insert the options of reading into a docstring, behind `data`."""
    text, behind = str(function.__doc__), "        :class:`f2sl.Table` is returned as it is.\n"
    defaults = function.__kwdefaults__ or {}
    lines = [
        f"    {line}\n"
        for option in READING.values()
        for line in option.documented(function.__annotations__[option.name], defaults[option.name])
    ]
    function.__doc__ = text.replace(behind, behind + "".join(lines))
    return function


@documented
def open_table(
    data: Any,
    *,
    names: Sequence[str] | None = None,
    kinds: str | Mapping[str, str] = "auto",
    bins: int | str | Mapping[str, int | str] | None = None,
    binning: str = "quantile",
    missing: str = AVAILABLE,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    date_parts: Sequence[str] = (),
    weights: str | None = None,
    aliases: str = "keep",
    transform: str = "auto",
    delimiter: str | None = None,
    header: bool = True,
    encoding: str | None = None,
    comment: str | None = None,
    na: Sequence[str] = (),
    engine: str = "auto",
    memory: int | str | None = None,
    scheduler: Any = None,
    n_jobs: int | None = None,
    **unknown: Never,
) -> Table:
    r"""Open a discrete, continuous or mixed table.

    Parameters
    ----------
    data : data frame, array, dictionary of columns, list of rows, path or list of paths
        Data frames may come from pandas, Polars, PyArrow or any other library that Narwhals knows. The rows
        of an array are samples. A path may be that of a folder of files: text with any delimiter, Parquet,
        Arrow or JSON lines, workbooks and files of Stata, SPSS and SAS (``pip install "f2sl[files]"``), packed
        or not; ``"-"`` is the standard input. With a cluster, data may be a Dask DataFrame. A
        :class:`f2sl.Table` is returned as it is.
    n_jobs : int, optional
        Number of processes that f2sl starts for a Dask cluster; None for as many as cores.
    **unknown
        Refused, with a hint at where an option belongs.

    Returns
    -------
    Table
        Its `notes` say what was assumed, cut, dropped or replaced. Close it, or use it in a ``with`` block, to
        free what it holds on disk or on a cluster.

    Raises
    ------
    DataError
        If the data cannot be read; names all the columns at fault.
    OptionError
        If options have invalid values; names all of them.
    FileError
        If a path cannot be read.

    Examples
    --------
    >>> table = open_table({"rain": ["no", "yes", "no"], "sprinkler": [True, False, True]})
    >>> table
    Table(2 discrete columns, 3 rows, in memory)
    >>> table.states
    (('no', 'yes'), (False, True))
    >>> open_table({"rain": ["no", "yes", None], "mm": [0.0, float("inf"), 3.1]})
    Traceback (most recent call last):
        ...
    f2sl.errors.DataError: column 'mm': infinite values cannot be used; replace them, or leave out with drop=['mm']
    """  # noqa: E501
    refuse_unknown("open_table", unknown, reading_defaults())
    asked = {name: value for name, value in locals().items() if name not in ("data", "unknown")}
    if isinstance(data, Table):
        changed = [
            Note("option", Use(name))
            for name, default in reading_defaults().items()
            if asked[name] is not default
            and not (isinstance(asked[name], type(default)) and asked[name] == default)
        ]
        if changed:
            message = ": these options cannot change a table that is already open"
            raise OptionError(joined(changed, ", "), message)
        return data
    return _opened(data, **asked)


def check(data: Any, **options: Any) -> Report:
    """Report how each column of a table is read, and all problems.

    Parameters
    ----------
    data
        As in :func:`open_table`.
    **options
        Options of :func:`open_table`.

    Returns
    -------
    Report
        It has `columns`, `problems` and `notes`, prints as a table, and :meth:`Report.to_frame` returns a data
        frame.

    Examples
    --------
    >>> days = ["1/2/2020", "1/3/2020", "31/3/2020"]
    >>> check({"rain": ["no", "yes", None], "mm": [0.0, 12.5, float("inf")], "day": days})
    column  kind        values                    missing  action      why
    rain    discrete    2 states: no, yes         1        discrete    labels
    mm                                            0        refused     infinite values cannot be used
    day     continuous  2020-02-01 to 2020-03-31  0        continuous  days since 1970-01-01
    note: 1 value is missing (16.7%), in column 'rain' (1): each question uses all rows that can answer it
    note: column 'day': dates written as day/month/year, read as continuous (days since 1970-01-01); their parts with date_parts=['day']
    problem: column 'mm': infinite values cannot be used; replace them, or leave out with drop=['mm']
    """  # noqa: E501
    refuse_unknown("check", (name for name in options if name not in reading_defaults()), reading_defaults())
    if isinstance(data, Table):
        raise OptionError("check takes data; a table that is already open has been checked")
    reports: list[Report] = []
    try:
        with (
            _opened(data, tell=reports.append, **{**reading_defaults(), **options}) as table,
            for_learning(table) as learned,
        ):
            return replace(reports[0], notes=(*learned.notes, *table.remarks))
    except (DataError, OptionError):
        if not reports:
            raise
        return reports[0]


def _opened(
    data: Any,
    *,
    tell: Callable[[Report], None] | None = None,
    learned: ReadAs | None = None,
    one_kind: bool = False,
    only: Iterable[str] | None = None,
    n_jobs: Any,
    **asked: Any,
) -> Table:
    on_dask = _is_dask_frame(data)
    engine, memory = asked["engine"], asked["memory"]
    scheduler = asked["scheduler"] or (Cluster.current_client() if on_dask else None)
    given, problems = checked(READING, asked)
    if memory is not None:
        problems += problems_with(memory_limit, memory, engine)
    problems += problems_with(resolve_jobs, n_jobs)
    refuse([*problems, *_contradictions(asked, scheduler, data, on_dask)])
    limit: Callable[[], int] = partial(memory_limit, memory, engine)
    how = TextOptions(**{field.name: given[field.name] for field in fields(TextOptions)})
    reading = Reading(
        **{field.name: given[field.name] for field in fields(Reading) if field.name in given},
        tell=tell,
        only=None if only is None else frozenset(only),
        learned=learned or {},
        one_kind=one_kind,
    )
    files = None
    if is_path(data):
        from f2sl.data.files import data_files

        files = data_files(data, how)
    table: Table
    if engine == "dask" or on_dask:
        allowed = limit()
        cluster = Cluster.connect(scheduler, resolve_jobs(n_jobs), allowed)
        try:
            from f2sl.data.dask import reading as on_workers
            from f2sl.data.dask.table import DaskTable

            if files is not None:
                table = on_workers.read_files(files, reading, cluster, allowed)
            elif on_dask:
                table = on_workers.read_frame(data, reading, cluster, allowed)
            else:
                table = DaskTable.of_table(encode(data, reading), cluster, allowed)
        except BaseException:
            cluster.close()
            raise
    else:
        table = encode(data, reading) if files is None else _of_files(files, reading, engine, limit)
        if memory is not None and table.memory is None:
            table = table._with(allowed=limit())
    table = table._with(transform=given["transform"])
    return without_aliases(table) if given["aliases"] == "merge" else table


def open_for(
    takes: tuple[str, ...],
    learner: str,
    data: Any,
    n_jobs: int | None = None,
    *,
    kinds: str | Mapping[str, str] = AUTO,
    min_variables: int = 2,
    only: Iterable[str] | None = None,
    learned: ReadAs | None = None,
    **reading: Any,
) -> Table:
    """Open data for a learner, with options of :func:`open_table`, or check a table that is open already.

    `takes` lists the kinds of columns that the `learner` of that name accepts. For a learner of continuous
    variables only, all columns are read as continuous; for a learner of one kind at a time, integers with few
    values become numbers if other columns are continuous. Columns of other kinds are refused, and so are
    fewer than `min_variables` columns. For data that are not open yet, `only` restricts reading to some
    columns, and `learned` gives the kinds of columns that no option mentions.
    """
    kinds = kind_meant(kinds)
    if isinstance(kinds, str) and kinds in KINDS and kinds not in takes:
        raise OptionError(Use("kinds", kinds), f": {learner} learns only from {takes[0]} columns")
    if isinstance(data, Table):
        table = open_table(data, kinds=kinds, **reading) if reading or kinds != AUTO else data
    else:
        known = reading_defaults()
        refuse_unknown("open_table", (name for name in reading if name not in known), known)
        asked = CONTINUOUS if kinds == AUTO and takes == (CONTINUOUS,) else kinds
        one_kind = CONTINUOUS in takes and MIXED not in takes
        table = _opened(
            data,
            one_kind=one_kind,
            only=only,
            learned=learned,
            **{**known, **reading, "kinds": asked, "n_jobs": n_jobs},
        )
    try:
        check_learnable(table, takes, learner, min_variables)
    except BaseException:
        if not isinstance(data, Table):
            table.close()
        raise
    return table


def _of_files(files: Sequence[Any], reading: Reading, engine: str, limit: Callable[[], int]) -> Table:
    """Read files into memory, or into blocks on disk."""
    from f2sl.data.files import missing_of, read_files
    from f2sl.data.formats import naming
    from f2sl.data.reading import read_streamed

    def needs(most: int) -> int:
        needed = 0
        for file in files:
            with naming(file.location):
                needed += file.format.bytes_in_memory(file, most)
        return needed

    if engine == "stream":
        return read_streamed(files, reading, limit())
    # A small table fits whatever the limit is, and asking the system takes longer than learning from it.
    if (
        engine == "auto"
        and needs(LEAST_MEMORY) > LEAST_MEMORY
        and (needed := needs(memory := limit())) > memory
    ):
        table = read_streamed(files, reading, memory)
        message = f"read in blocks: in memory the table would take {needed / 1e6:,.0f} MB or more"
        note = Note(
            "in-blocks", f"{message}, and {memory / 1e6:,.0f} MB are allowed", needed=needed, memory=memory
        )
        return table.with_notes(note, *table.notes)
    content, notes = read_files(files)
    return encode(content, reading, notes, missing_of([content.schema]))


def is_path(data: Any) -> bool:
    """Return whether data are a path or a list of paths."""
    if isinstance(data, (list, tuple)):
        return bool(data) and all(isinstance(one, (str, os.PathLike)) for one in data)
    return isinstance(data, (str, os.PathLike))


def _is_dask_frame(data: Any) -> bool:
    """Return whether data are a Dask DataFrame; other Dask collections are an error."""
    if type(data).__module__.partition(".")[0] != "dask":
        return False
    if not hasattr(data, "columns") or data.ndim != 2:
        message = f"got a {type(data).__name__} of Dask's"
        raise DataError(f"{message}, which has no named columns; convert it to a Dask DataFrame")
    return True


def text_options(**given: Any) -> TextOptions:
    """Check how to read text."""
    options, problems = checked(READING, given)
    refuse(problems)
    return TextOptions(**options)


def _contradictions(asked: Mapping[str, Any], scheduler: Any, data: Any, on_dask: bool) -> Iterator[Note]:
    """Yield the problems of options that do not go together, or not with the data."""
    engine, all_numbers = asked["engine"], kind_meant(asked["kinds"]) == CONTINUOUS
    if asked["bins"] is not None and all_numbers:
        cuts = " cuts continuous columns into states, which contradicts "
        yield Note("option", Use("bins"), cuts, Use("kinds", CONTINUOUS))
    elif asked["bins"] is None and asked["binning"] != "quantile":
        yield Note("no-effect", Use("binning"), " has no effect without ", Use("bins"))
    if asked["missing"] == "state" and all_numbers:
        but = " makes missing values a state, but numbers have no states; use "
        yield Note("option", Use("missing", "state"), but, Use("missing", "drop"))
    if on_dask and engine in ("memory", "stream"):
        yield Note("option", Use("engine", engine), ": a Dask DataFrame needs ", Use("engine", "dask"))
    elif engine == "stream" and not is_path(data):
        reads = " reads files, but these data are in memory; pass a path"
        yield Note("option", Use("engine", "stream"), reads)
    elif scheduler is not None and engine != "dask" and not on_dask:
        needs = " needs ", Use("engine", "dask"), ", not ", Use("engine", engine)
        yield Note("option", Use("scheduler"), *needs)


def reading_defaults() -> dict[str, Any]:
    """Return the options of :func:`open_table` with their defaults."""
    return open_table.__kwdefaults__ or {}
