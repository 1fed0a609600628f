"""Counting what a call goes through: on a package that is small enough to count by hand."""

import subprocess
import sys
import textwrap

import pytest

from paths import ROOT

TOOL = ROOT / "tools" / "walk.py"


@pytest.fixture
def walk(monkeypatch):
    monkeypatch.syspath_prepend(str(TOOL.parent))
    import walk

    return walk


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of two parts: `start` calls `twice` and `far`, which calls back into `near`."""
    files = {
        "__init__.py": "",
        "front.py": """
            from walked_package.back.deep import far

            def start():
                return twice(1) + twice(2) + sum(len(str(i)) for i in range(3)) + far()

            def twice(x):
                return (lambda y: 2 * y)(x)

            def near():
                return 0

            def never():
                raise AssertionError
            """,
        "back/__init__.py": "",
        "back/deep.py": """
            def far():
                from walked_package.front import near

                return helper() + near()

            def helper():
                return 1
            """,
    }
    for name, text in files.items():
        path = tmp_path / "walked_package" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text))
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path / "walked_package"


def test_functions_files_depth_and_changes_of_part(walk, package):
    from walked_package.front import start

    start()
    # start, twice, far, helper, near; front.py, deep.py; start > far > near; start > far and far > near.
    assert walk.walked(start, package) == walk.Walk(functions=5, files=2, depth=3, changes=2)


def test_other_code_is_not_counted(walk, package):
    assert walk.walked(lambda: textwrap.dedent("x"), package) == walk.Walk(0, 0, 0, 0)


def test_lines_of_code_leave_out_blank_lines_comments_and_docstrings(walk):
    text = '''"""What it is.

    In several lines.
    """

    # A reason.
    LIST = [
        1,  # one

        2,
    ]
    """Said of the list."""


    def f():
        """Do nothing."""
        text = """
        counts
        """
        return text
    '''
    # LIST = [ to ] without the blank line are 4; def, three lines of text and return are 5.
    assert walk.code_lines(textwrap.dedent(" " * 4 + text)) == 9


def printed(*arguments):
    command = [sys.executable, str(TOOL), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_sizes_of_the_parts_add_up():
    rows = [line.replace(",", "").split() for line in printed("--size")[1:]]
    sums = [sum(int(row[place]) for row in rows[:-1]) for place in (-3, -2, -1)]
    assert rows[-1] == ["all", *map(str, sums)]
    assert int(rows[-1][1]) == len(list((ROOT / "src" / "f2sl").rglob("*.py")))


def test_walks_and_classes_of_this_package():
    _, *rows = printed()
    assert [row.rsplit(maxsplit=4)[0] for row in rows] == ['f2sl.learn("asia.csv")', "F2SLc().fit(table)"]
    whole, fit = ([int(count) for count in row.rsplit(maxsplit=4)[1:]] for row in rows)
    assert all(more > less > 0 for more, less in zip(whole, fit, strict=True))
    names = {line.split()[1]: int(line.split()[0]) for line in printed("--classes")}
    assert {"F2SLc", "F2SLh", "PCStable", "DAGGNN", "FCBF", "IAMB"} <= set(names)
    assert min(names.values()) >= 1
