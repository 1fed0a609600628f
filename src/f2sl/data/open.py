"""Open a table: the only place that reads data and checks the options of reading."""

from __future__ import annotations

import codecs
import operator
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Never

from f2sl._constants import AUTO
from f2sl._memory import memory_limit
from f2sl._notes import Note, Part, Use
from f2sl._options import choice, flag
from f2sl._owners import refuse_unknown
from f2sl._threads import resolve_jobs
from f2sl.data.asked import ALL, AVAILABLE, Bins, Reading
from f2sl.data.binning import BINNINGS
from f2sl.data.check import Report, check_learnable
from f2sl.data.column import HOLDS, KINDS, MIXED, NUMBER, ReadAs
from f2sl.data.dask.runtime import Cluster
from f2sl.data.dask.table import DaskTable
from f2sl.data.encode import encode
from f2sl.data.kinds import check_kinds
from f2sl.data.notes import remarks, without_aliases
from f2sl.data.table import Table
from f2sl.data.transform import TRANSFORMS, for_learning
from f2sl.data.values import TextOptions
from f2sl.errors import DataError, OptionError, unknown_name

ENGINES = ("auto", "memory", "stream", "dask")
MISSING = (AVAILABLE, "state", "drop", "error")

_DELIMITER_NAMES = {"tab": "\t", "\\t": "\t", "whitespace": " ", "space": " ", "comma": ","}


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
    r"""Open a table of states, of real numbers, or of both.

    Parameters
    ----------
    data : data frame, array, dictionary of columns, list of rows, path or list of paths
        Data frames may come from pandas, Polars, PyArrow or any other library that Narwhals knows. The rows
        of an array are samples. A path may be that of a folder of files: text with any delimiter, Parquet,
        Arrow or JSON lines, workbooks and files of Stata, SPSS and SAS (``pip install "f2sl[files]"``), packed
        or not; ``"-"`` is the standard input. With a cluster, data may be a Dask DataFrame. A
        :class:`f2sl.Table` is returned as it is.
    names : sequence of str, optional
        Names for the columns; by default those of `data`, and ``x0``, ``x1``, ... where it has none.
    kinds : {"auto", "states", "number"} or dict
        Kind of all columns, or of those in a dictionary. By default strings, booleans, categories and
        integers with up to 7 values are states; real numbers, dates and other integers are numbers. If all
        columns are integers that look like codes of states, those with up to 12 values are states, or up to
        32 if there are at least as many rows as the square of that. Floats that are all whole count as
        integers. Dates are read as days since 1970-01-01, times of day and durations as seconds. On request
        any integers and dates become states, but real numbers only if they have few values.
    bins : int, "auto" or dict, optional
        Number of intervals to cut numbers into: one for all columns, or a dictionary by column, in which
        ``"*"`` stands for all others. ``"auto"`` is the fourth root of the number of rows, from 3 to 10.
    binning : {"quantile", "width"}
        Cut into intervals with equally many rows, or of equal width.
    missing : {"available", "state", "drop", "error"}
        Answer each question from the rows that have all of its columns ("available"), make missing values a
        state called ``"<missing>"`` ("state"), drop incomplete rows ("drop"), or raise an error ("error").
    drop : sequence of str
        Columns to leave out.
    keep : sequence of str
        Columns to keep as they are even if they look like identifiers. By default integers and dates that
        count the rows or differ in each, columns with a name like ``id``, and labels with very few rows each
        are left out, and beside numbers only the most frequent of more than 50 labels are states; notes say
        so.
    date_parts : sequence of str
        Columns of dates to read by their parts: ``day`` becomes ``day.year`` (a number), ``day.month`` and
        ``day.weekday`` (states).
    weights : str, optional
        Column with the number of rows that each row stands for, as integers. The result is the same as if
        each row were repeated that often.
    aliases : {"keep", "merge"}
        Columns of states that determine each other one to one: keep all and note it, or learn from the first
        of each group and draw the others beside it.
    transform : {"auto", "ranks", "none"}
        How learners take the numbers of the table, whose own values stay: as normal scores of their ranks
        ("ranks"), so that outliers and the shape of a column do not matter; as values ("none"); or as
        normal scores those that are not normal, unless linear relations of the values explain more ("auto").
        Then a note names them. NOTEARS and DAG-GNN, to which the size of a number matters, read "auto" as
        "none".
    delimiter : str, optional
        Delimiter of a text file; a space stands for any white space. By default it is detected from the first
        lines.
    header : bool
        True if the first line of a text file has the names of the columns.
    encoding : str, optional
        Encoding of a text file, such as ``"latin-1"``; UTF-8 by default, or UTF-16 with a byte order mark.
    comment : str, optional
        Skip lines of a text file that begin with this.
    na : sequence of str
        Further values to read as missing, in files and in data frames. Numbers are compared as numbers:
        ``"-999"`` matches -999.0. A note names values that do not occur. In files, empty cells, ``NA``,
        ``N/A``, ``null``, ``nan`` and ``?`` are missing anyway, and in columns of numbers also ``None``,
        ``-`` and ``.``; a note names those found. In data frames only what the library itself calls missing
        is: ``"?"`` is a state there.
    engine : {"auto", "memory", "stream", "dask"}
        Where to hold the table: in memory, on disk in blocks, or in a Dask cluster. By default in memory,
        unless it comes from files and would take more than `memory`; a note says so.
    memory : int or str, optional
        Memory limit for the table and for learning from it, such as ``"256MB"``; by default half of
        what is free.
    scheduler : str or dask.distributed.Client, optional
        Address or client of the Dask cluster; by default f2sl starts workers on this machine.
    n_jobs : int, optional
        Number of these processes; None for as many as cores.
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
    Table(2 columns of states, 3 rows, in memory)
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
        _check_nothing_asked(asked)
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
    column  kind    values                    missing  action   why
    rain    states  2 states: no, yes         1        states   labels
    mm                                        0        refused  infinite values cannot be used
    day     number  2020-02-01 to 2020-03-31  0        numbers  days since 1970-01-01
    note: 1 value is missing (16.7%), in column 'rain' (1): each question uses all rows that can answer it
    note: column 'day': dates written as day/month/year, read as numbers (days since 1970-01-01); their parts with date_parts=['day']
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
            return replace(reports[0], notes=(*learned.notes, *remarks(table)))
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
    names: Any,
    kinds: Any,
    bins: Any,
    binning: Any,
    missing: Any,
    drop: Any,
    keep: Any,
    date_parts: Any,
    weights: Any,
    aliases: Any,
    transform: Any,
    engine: Any,
    memory: Any,
    scheduler: Any,
    n_jobs: Any,
    **of_text: Any,
) -> Table:
    on_dask = _is_dask_frame(data)
    scheduler = scheduler or (Cluster.current_client() if on_dask else None)
    limit: Callable[[], int] = partial(memory_limit, memory, engine)
    _, n_workers, how, cuts, drop, keep, date_parts, *_ = _all_of(
        lambda: None if memory is None else limit(),
        lambda: resolve_jobs(n_jobs),
        lambda: text_options(**of_text),
        lambda: _checked_bins(bins, kinds),
        lambda: _several("drop", drop),
        lambda: _several("keep", keep),
        lambda: _several("date_parts", date_parts),
        lambda: _check_engine(engine, scheduler, data, on_dask),
        lambda: check_kinds(kinds),
        lambda: _check_known("binning", "way to cut", binning, BINNINGS),
        lambda: _check_missing(missing, kinds),
        lambda: choice("aliases", aliases, ("keep", "merge")),
        lambda: choice("transform", transform, TRANSFORMS),
    )
    kinds = {str(name): kind for name, kind in kinds.items()} if isinstance(kinds, Mapping) else kinds
    weights = None if weights is None else str(weights)
    wanted = None if only is None else frozenset(only)
    how_read = weights, tell, how.na, wanted, learned or {}, one_kind
    reading = Reading(names, kinds, cuts, binning, missing, drop, keep, date_parts, *how_read)
    files = None
    if is_path(data):
        from f2sl.data.files import data_files

        files = data_files(data, how)
    table: Table
    if engine == "dask" or on_dask:
        allowed = limit()
        cluster = Cluster.connect(scheduler, n_workers, allowed)
        try:
            table = _on_cluster(data, files, reading, cluster, allowed, on_dask)
        except BaseException:
            cluster.close()
            raise
    else:
        table = encode(data, reading) if files is None else _of_files(files, reading, engine, limit())
    table = table._with(transform=transform)
    return without_aliases(table) if aliases == "merge" else table


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

    `takes` lists the kinds of columns that the `learner` of that name accepts. For a learner of numbers only,
    all columns are read as numbers; for a learner of one kind at a time, integers with few values become
    numbers if other columns are numbers. Columns of other kinds are refused, and so are fewer than
    `min_variables` columns. For data that are not open yet, `only` restricts reading to some columns, and
    `learned` gives the kinds of columns that no option mentions.
    """
    if isinstance(kinds, str) and kinds in KINDS and kinds not in takes:
        raise OptionError(Use("kinds", kinds), f": {learner} learns only from {HOLDS[takes[0]]}")
    if isinstance(data, Table):
        table = open_table(data, kinds=kinds, **reading)
    else:
        known = reading_defaults()
        refuse_unknown("open_table", (name for name in reading if name not in known), known)
        asked = NUMBER if kinds == AUTO and takes == (NUMBER,) else kinds
        one_kind = NUMBER in takes and MIXED not in takes
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


def _of_files(files: Sequence[Any], reading: Reading, engine: str, memory: int) -> Table:
    """Read files into memory, or into blocks on disk."""
    from f2sl.data.files import gaps_of, read_files
    from f2sl.data.formats import naming
    from f2sl.data.stream.reading import read_streamed

    needed = 0
    for file in files if engine == "auto" else ():
        with naming(file.place):
            needed += file.format.bytes_in_memory(file, memory)
    if engine == "stream":
        return read_streamed(files, reading, memory)
    if needed > memory:
        table = read_streamed(files, reading, memory)
        told = f"read in blocks: in memory the table would take {needed / 1e6:,.0f} MB or more"
        note = Note(
            "in-blocks", f"{told}, and {memory / 1e6:,.0f} MB are allowed", needed=needed, memory=memory
        )
        return table.with_notes(note, *table.notes)
    content, notes = read_files(files)
    return encode(content, reading, notes, gaps_of([content.schema]))


def _on_cluster(
    data: Any, files: Any, reading: Reading, cluster: Cluster, memory: int, on_dask: bool
) -> DaskTable:
    """Read files or a Dask DataFrame on a cluster; data in memory are sent to it."""
    from f2sl.data.dask import reading as into_dask

    if files is not None:
        return into_dask.read_files(files, reading, cluster, memory)
    if on_dask:
        return into_dask.read_frame(data, reading, cluster, memory)
    return DaskTable.of_table(encode(data, reading), cluster, memory)


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
        told = f"got a {type(data).__name__} of Dask's"
        raise DataError(f"{told}, which has no named columns; convert it to a Dask DataFrame")
    return True


# The check of the options; which columns there are is seen with the table


def _all_of(*checks: Callable[[], Any]) -> list[Any]:
    """Run all checks and return their results, or raise one error about all problems."""
    found: list[Any] = []
    told: list[Note] = []
    for check in checks:
        try:
            found.append(check())
        except OptionError as error:
            told += error.problems
    if told:
        raise OptionError.of(told)
    return found


def _check_known(option: str, what: str, value: Any, known: Iterable[str]) -> None:
    if not isinstance(value, str) or value not in known:
        raise OptionError(Use(option), ": ", unknown_name(what, value, known))


def _check_missing(missing: Any, kinds: Any) -> None:
    _check_known("missing", "way to treat missing values", missing, MISSING)
    if missing == "state" and kinds == NUMBER:
        but = " makes missing values a state, but numbers have no states; use "
        raise OptionError(Use("missing", "state"), but, Use("missing", "drop"))


def _several(option: str, given: Any) -> tuple[str, ...]:
    if isinstance(given, str):
        raise OptionError(Use(option), f" takes a list of names, got the single string {given!r}")
    return tuple(map(str, given))


def text_options(delimiter: Any, header: Any, encoding: Any, comment: Any, na: Any) -> Any:
    """Check how to read text."""
    if encoding is not None:
        try:
            codecs.lookup(encoding)
        except (LookupError, TypeError):
            unknown = f": unknown encoding {encoding!r}; utf-8 and latin-1 are known"
            raise OptionError(Use("encoding"), unknown) from None
    if comment is not None and not (isinstance(comment, str) and comment):
        takes = f" takes the beginning of comment lines, such as #, got {comment!r}"
        raise OptionError(Use("comment"), takes)
    return TextOptions(
        _checked_delimiter(delimiter), flag("header", header), encoding, comment, _several("na", na)
    )


def _checked_bins(bins: Any, kinds: Any) -> Bins:
    if bins is not None and kinds == NUMBER:
        cuts = " cuts real numbers into states, which contradicts "
        raise OptionError(Use("bins"), cuts, Use("kinds", NUMBER))
    if bins is None:
        return {}
    given = bins if isinstance(bins, Mapping) else {ALL: bins}
    return {str(column): _bin_count(k, str(column)) for column, k in given.items()}


def _bin_count(k: Any, column: str) -> int | str:
    """Check one number of bins."""
    try:
        count = operator.index(k)
    except TypeError:
        count = 2 if isinstance(k, str) and k == AUTO else 0
    if isinstance(k, bool) or count < 2:
        where = "" if column == ALL else f" for column {column!r}"
        takes = f' takes a whole number of at least 2, or "auto"{where}, got {k!r}'
        raise OptionError(Use("bins"), takes)
    return AUTO if isinstance(k, str) else count


def _check_engine(engine: Any, scheduler: Any, data: Any, on_dask: bool) -> None:
    if engine not in ENGINES:
        known = ", ".join(map(repr, ENGINES))
        raise OptionError(Use("engine"), f" must be one of {known}, not {engine!r}")
    if on_dask and engine not in ("auto", "dask"):
        needs = ": a Dask DataFrame needs "
        raise OptionError(Use("engine", engine), needs, Use("engine", "dask"))
    if engine == "stream" and not is_path(data):
        reads = " reads files, but these data are in memory; pass a path"
        raise OptionError(Use("engine", "stream"), reads)
    if scheduler is not None and engine != "dask" and not on_dask:
        raise OptionError(Use("scheduler"), " needs ", Use("engine", "dask"), ", not ", Use("engine", engine))


def _checked_delimiter(delimiter: Any) -> str | None:
    if delimiter is None:
        return None
    character = _DELIMITER_NAMES.get(delimiter, delimiter) if isinstance(delimiter, str) else ""
    if len(character) != 1 or character in '"\r\n' or not character.isascii():
        raise OptionError(Use("delimiter"), f" takes a single character, got {delimiter!r}")
    return character


def _check_nothing_asked(given: Mapping[str, Any]) -> None:
    """Raise an error for options of a table that is already open."""
    asked = [name for name, default in reading_defaults().items() if not _is_same(given[name], default)]
    if asked:
        named: list[Part] = [part for name in asked for part in (", ", Use(name))][1:]
        raise OptionError(*named, ": these options cannot change a table that is already open")


def reading_defaults() -> dict[str, Any]:
    """Return the options of :func:`open_table` with their defaults."""
    return open_table.__kwdefaults__ or {}


def _is_same(given: Any, default: Any) -> bool:
    """Return whether an option has its default; an array is never a default."""
    return given is default or bool(isinstance(given, type(default)) and given == default)
