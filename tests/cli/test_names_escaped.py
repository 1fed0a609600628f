"""Names with control characters are escaped wherever text is printed."""

import csv

import pytest

import f2sl
from cli_process import f2sl as command

NAMES = ["red\x1b[31m", "two\nlines", "back\u202ewards"]
ROWS = [(a, b, (a + b) % 2 if n % 5 else a) for n, (a, b) in enumerate([(0, 0), (0, 1), (1, 0), (1, 1)] * 50)]


@pytest.fixture(scope="module")
def columns():
    return {name: [row[position] for row in ROWS] for position, name in enumerate(NAMES)}


def test_texts_of_results(columns):
    model = f2sl.learn(columns)
    a, b, c = NAMES
    texts = [
        str(model.explain(a, b)),
        str(f2sl.check(columns)),
        str(model.summary()),
        str(f2sl.Knowledge(required=[(a, b)], roots=[c])),
        *model.notes_,
    ]
    for text in texts:
        assert all(line.isprintable() for line in text.split("\n"))
        assert not any(line.startswith("lines") for line in text.split("\n"))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda columns: f2sl.learn(columns, drop=["no\x1b"]),
        lambda columns: f2sl.learn(columns, knowledge=f2sl.Knowledge(required=[("no\x1b", "two\nlines")])),
        lambda columns: f2sl.learn_pc(columns, target="two"),
        lambda columns: f2sl.learn("no\x1b[31m.csv"),
        lambda columns: f2sl.load_graph("no\x00thing.json"),
        lambda columns: f2sl.DAG(NAMES, [("red\x1b[31m", "red")]),
    ],
)
def test_messages_of_errors(columns, wrong):
    with pytest.raises(f2sl.F2SLError) as error:
        wrong(columns)
    assert str(error.value).isprintable()


def test_the_command_that_explains(tmp_path):
    path = tmp_path / "t.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([NAMES, *ROWS])
    for a, b in [NAMES[:2], NAMES[1:]]:
        printed = command("why", path, a, b).stdout
        assert all(line.isprintable() for line in printed.splitlines())
        assert r"two\nlines" in printed.splitlines()[0]
