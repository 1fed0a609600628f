"""Tables, figures and the page, from the results in a folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from f2sl.errors import FileError
from f2sl.graph.atomic import check_can_write, write_atomically

PAGE: Final = "index.html"
Write = Callable[[Path, str | bytes], None]


def report(folder: str | os.PathLike[str], write: Write = write_atomically) -> list[Path]:
    """Write tables, figures and a page from the results that ``f2sl reproduce`` left in a folder.

    Parameters
    ----------
    folder : path
        Where ``results.sqlite`` is. ``tables/``, ``figures/`` and ``index.html`` are written there.
    write : callable
        Function that writes a file; by default completely or not at all.

    Returns
    -------
    list of Path
        The files written; the page comes last.

    Raises
    ------
    FileError
        If there are no results, they are of another version or damaged, or the folder cannot be written to.
    """
    from f2sl_paper.claims import findings
    from f2sl_paper.figures import pictures
    from f2sl_paper.page import Material, page
    from f2sl_paper.results import cells_of
    from f2sl_paper.store import read_results
    from f2sl_paper.table_text import claims_csv, claims_markdown, comma_separated, latex, markdown
    from f2sl_paper.tables import tables

    place = Path(folder)
    results = read_results(place)
    check_can_write(place / PAGE)
    cells = cells_of(results)
    material = Material(results, tables(cells), pictures(cells), findings(cells))
    contents: dict[Path, str | bytes] = {}
    for table in material.tables:
        for suffix, written in (("md", markdown), ("csv", comma_separated), ("tex", latex)):
            contents[place / "tables" / f"{table.stem}.{suffix}"] = written(table)
    contents[place / "tables" / "claims.md"] = claims_markdown(material.findings)
    contents[place / "tables" / "claims.csv"] = claims_csv(material.findings)
    for picture in material.pictures:
        contents[place / "figures" / f"{picture.name}.svg"] = picture.svg
        contents[place / "figures" / f"{picture.name}.png"] = picture.png
    contents[place / PAGE] = page(material)
    for path in contents:
        _make_folder(path.parent)
    for path, content in contents.items():
        write(path, content)
    return list(contents)


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make the folder {path}: {error.strerror or error}") from None
