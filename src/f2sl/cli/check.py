"""``f2sl check``: show how a table is read, and all its problems."""

from __future__ import annotations

from f2sl.cli import output
from f2sl.cli.options import AsJson, records, texts
from f2sl.cli.output import count
from f2sl.cli.program import examples
from f2sl.cli.reading import TableOptions, with_reading_options
from f2sl.errors import DataError, printable

EXAMPLES = examples(
    "f2sl check people.csv",
    "f2sl check people.csv --bins 5 --discrete region --drop id --json",
)


@with_reading_options
def check(reading: TableOptions, as_json: AsJson = False) -> None:
    """Show how each column of a table is read, and all problems, each with the option that solves it.

    Nothing is written. The exit code is 2 if there are problems.
    """
    reading.check()
    from f2sl.data.open import check as check_table

    report = check_table(reading.data, **reading.options())
    problems = texts(report.problems)
    notes = reading.with_names(report.notes, [column.name for column in report.columns if column.kind])
    if as_json:
        columns = [column._asdict() for column in report.columns]
        found = {"notes": records(notes), "problems": records(report.problems)}
        output.show_json({"rows": report.n_rows, "columns": columns, **found})
    else:
        rows = [tuple(printable(str(cell)) for cell in column) for column in report.columns]
        title = f"{printable(reading.data)}: {count(report.n_rows, 'row')}, {count(len(rows), 'column')}"
        headings = ("column", "kind", "values", "missing", "read as", "why")
        output.show(output.columns(title, headings, rows, right=[3]))
        lines = [("Note", note) for note in texts(notes)]
        lines += [("Problem", problem) for problem in problems]
        if lines:
            output.show(output.pairs((label, printable(text)) for label, text in lines))
    if problems:
        raise DataError(
            f"{count(len(problems), 'problem')}: {problems[0]}"
            if as_json
            else f"{count(len(problems), 'problem')}; see above"
        )
