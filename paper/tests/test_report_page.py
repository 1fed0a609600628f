"""The page and the files beside it: whole, well formed, escaped, the same each time; and refusals."""

import re
import sqlite3
from contextlib import closing
from html import unescape
from html.parser import HTMLParser
from itertools import islice

import pytest

from cli_process import f2sl
from f2sl.errors import FileError
from f2sl_paper import figures, report
from f2sl_paper.claims import ON_SECONDS, all_claims
from f2sl_paper.differences import SKELETON_OF_MMHC_C, number_of
from f2sl_paper.store import FILE
from store_tools import done, ended, errors, rates, write_store

VOID = {"meta", "br", "link", "img", "input", "hr"}


class Outline(HTMLParser):
    """Reads a page: identifiers, links, numbers of elements; complains of what is not closed."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.count, self.text, self._open = [], [], {}, [], []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag, attributes):
        known = dict(attributes)
        self.ids += [known["id"]] if "id" in known else []
        self.links += [known[name] for name in ("href", "src", "xlink:href") if name in known]
        self.count[tag] = self.count.get(tag, 0) + 1
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def some_results():
    """A little of everything, and strange texts where texts come from outside."""
    yield done("mildew", 500, 1, "gsbn", errors(4, 37, 0), 0.2)
    yield done("mildew", 500, 2, "gsbn", errors(5, 36, 1), 0.1)
    yield done("mildew", 500, 1, "f2sl-s", errors(12, 24, 1), 0.1)
    yield done("munin", 500, 1, "gsbn", errors(4, 240, 8), 2.0)
    yield done("munin", 500, 1, "f2sl-s", errors(60, 150, 90), 1.0)
    yield done("pigs", 500, 1, "fcbf", rates(0.9), 3.0, source="sampled")
    yield done("gene", 1000, 1, "fcbf", rates(0.9), 3.0, source="sampled")
    yield done("mildew", 77, 1, "<b>unknown</b>", rates(0.5))
    yield ended("time", "munin", 500, 1, "ggsl")
    yield ended("failed", "mildew", 500, 1, "mmhc", message="<script>alert('no')</script> & more")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = write_store(tmp_path_factory.mktemp("made") / "results", list(some_results()))
    report(place)
    return place


@pytest.fixture
def without_figures(monkeypatch):
    """Draw nothing, which takes seconds, for tests of something else."""
    monkeypatch.setattr("f2sl_paper.figures.pictures", lambda cells: [])


@pytest.fixture
def one_figure(monkeypatch):
    """Draw the figure of seconds with 500 rows, and no other."""
    plan = figures._plan
    monkeypatch.setattr(figures, "_plan", lambda cells: islice(plan(cells), 1))


@pytest.fixture(scope="module")
def text(folder):
    return (folder / "index.html").read_text(encoding="utf-8")


def test_everything_is_written(folder):
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    tables = [name for name in names if name.startswith("tables/")]
    figures = [name for name in names if name.startswith("figures/")]
    assert len(tables) == 7 * 3 + 2  # and the claims
    assert len(figures) == 12 * 2
    assert sorted({*names} - {*tables, *figures}) == ["index.html", FILE]


def test_the_page_is_well_formed_and_asks_for_nothing_from_elsewhere(folder, text):
    outline = Outline(text)
    assert len(outline.ids) == len(set(outline.ids))
    for link in outline.links:
        if link.startswith("#"):
            assert link[1:] in outline.ids
        else:
            assert (folder / link).is_file()
    assert not re.search(r"(src|href)=\"(https?:)?//", text)
    assert "@import" not in text
    # Only to be read, and only in names of kinds of document.
    assert set(re.findall(r"https?://[^\"' <)]+", text)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert (outline.count["svg"], outline.count["h1"], outline.count["main"]) == (12, 1, 1)
    assert {f"table-{number}" for number in range(1, 8)} <= {*outline.ids}


def test_what_comes_from_data_is_escaped(text):
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(&#x27;no&#x27;)&lt;/script&gt; &amp; more" in text
    assert "<b>unknown" not in text
    assert "made-up &lt;processor&gt;" in text


def test_the_page_says_what_was_run_and_whose_data(text):
    words = " ".join(Outline(text).text)
    assert "Mildew, Munin: the paper's data" in words
    assert "Pigs: sampled Gene: sampled from gene-like" in words
    assert "Not shown Results with 77 rows" in words
    assert "2 cores, 8.0 GiB" in words
    assert "torch missing" in words
    assert "1 for each unit, 2 units at a time" in words
    assert "600 s and 4.0 GiB for each unit" in words
    assert "over the limit of 600 s" in words


def test_the_page_says_how_much_of_everything_it_is(text):
    words = " ".join(Outline(text).text)
    # Three learners on Mildew and on Munin, FCBF on Pigs and on Gene; the paper has no 77 rows.
    assert (
        "This is 4 of 6 networks, 1 to 2 of 10 data sets of each, 5 of 16 learners "
        "(8 of 192 combinations of network, size and learner); the data of Pigs, Gene are "
        "sampled, the others are the paper's."
    ) in words
    assert "one, started 2026-01-02 03:04 UTC" in words


def tiles(text):
    """The large numbers of the page, by their labels."""
    found = re.findall(r"<li><b>([^<]*)</b><span>([^<]*)</span></li>", text)
    return {label: number for number, label in found}


def test_claims_in_large_numbers_add_up(text):
    shown = tiles(text)
    labels = ("hold", "hold so far", "hold in part", "do not hold", "cannot be judged")
    assert sum(int(shown[label]) for label in labels) == len(all_claims())
    assert int(shown["hold so far"]) > 0
    assert "figures on the paper&#x27;s data agree with the paper&#x27;s" in shown


def main_claims():
    """F2SL-c and a rival: faster and as near to the truth on Mildew alone, with a better Ar_F1 on both."""
    for network, seconds, shd in (("mildew", 3.0, 40), ("munin", 0.5, 400)):
        yield done(network, 500, 1, "gsbn", errors(0, 40, 0, f1=0.4), seconds)
        yield done(network, 500, 1, "f2sl-c", errors(0, shd, 0, f1=0.6), 1.0)


@pytest.mark.parametrize(
    ("outcomes", "sentence"),
    [
        ([], "The paper's main claims cannot be judged."),
        (
            list(main_claims())[:2],
            "The paper's main claims hold so far: F2SL is faster than its rivals in 1 of 1 comparison; F2SL "
            "has a higher Ar_F1 than its rivals, except on Pigs, in 1 of 1 comparison; F2SL can compete with "
            "its rivals in SHD in 1 of 1 comparison.",
        ),
        (
            list(main_claims()),
            "The paper's main claims hold in part: F2SL is faster than its rivals in 1 of 2 comparisons "
            "(exceptions on Munin); F2SL has a higher Ar_F1 than its rivals, except on Pigs, in 2 of 2 "
            "comparisons; F2SL can compete with its rivals in SHD in 1 of 2 comparisons (exceptions on "
            "Munin).",
        ),
    ],
)
@pytest.mark.usefixtures("without_figures")
def test_one_sentence_says_how_the_main_claims_came_out(tmp_path, outcomes, sentence):
    page = report(write_store(tmp_path / "results", outcomes))[-1].read_text(encoding="utf-8")
    (said,) = re.findall(r'<p class="conclusion">(.*?)</p>', page)
    assert unescape(said) == sentence


def test_claims_and_networks_without_runs_are_folded(text):
    shown, *folded = text.split("<details><summary>Not run: ")
    assert [part.partition("</summary>")[0] for part in folded[:2]] == [
        "Hailfinder, Link",
        "Hailfinder, Pigs, Link, Gene",
    ]
    before, unjudged = shown.split(" that cannot be judged from these runs</summary>")
    number = tiles(text)["cannot be judged"]
    assert before.endswith(f"<summary>{number} claims")
    assert unjudged.count('<li id="claim-') == int(number)


def test_one_case_is_no_plural(text):
    assert "1 case</summary>" in text
    assert "1 cases" not in text


def lines_drawn(folder, learner_colour):
    """Count the lines of a colour through places in the figure of seconds, its legend included."""
    drawing = (folder / "figures" / "seconds-500.svg").read_text()
    return len(
        re.findall(
            rf'<path d="M[^"]*"[^>]*style="fill: none; stroke: {learner_colour}; stroke-width: 1.4', drawing
        )
    )


@pytest.mark.usefixtures("one_figure")
def test_no_line_is_drawn_through_two_points(tmp_path):
    networks = ("mildew", "munin", "pigs")
    outcomes = [done(network, 500, 1, "gsbn", errors(4, 37, 0), 1.0) for network in networks]
    outcomes += [done(network, 500, 1, "mmhc", errors(4, 37, 0), 2.0) for network in networks[:2]]
    place = write_store(tmp_path / "results", outcomes)
    report(place)
    assert lines_drawn(place, "#8a63d2") == 2  # GSBN: the line, and its sample in the legend
    assert lines_drawn(place, "#2f7fd1") == 0  # MMHC


@pytest.mark.usefixtures("without_figures")
def test_sampled_data_are_not_counted_as_figures_that_agree(tmp_path):
    outcomes = [done("mildew", 500, 1, "gsbn", errors(4, 37, 0), source="sampled")]
    page = report(write_store(tmp_path / "results", outcomes))[-1].read_text(encoding="utf-8")
    assert "0 of 0" not in page
    assert tiles(page)["all data: figures need not agree with the paper&#x27;s"] == "sampled"
    assert "1 of 6 networks, 1 of 2 sizes, 1 of 10 data sets of each, 1 of 16 learners" in page


def test_claims_say_what_to_keep_in_mind(text):
    cards = {card.split('"')[0]: card for card in text.split('<li id="claim-')[1:]}
    assert ON_SECONDS in cards["faster"]
    assert ON_SECONDS not in cards["skeletons"]
    number = number_of(SKELETON_OF_MMHC_C)
    assert f'<a href="#difference-{number}">MMHC-c&#x27;s skeleton</a>' in cards["skeletons"]


def test_shapes_of_normalised_figures_are_named(folder):
    drawing = (folder / "figures" / "time-shd-500.svg").read_text()
    for name in ("GSBN", "Mildew", "Munin"):
        assert f">{name}</text>" in drawing
    assert ">Pigs</text>" not in drawing  # no structure learner was run there


def test_the_same_results_give_the_same_bytes(folder, tmp_path):
    other = write_store(tmp_path / "again", list(some_results())[::-1])
    report(other)
    for path in folder.rglob("*"):
        if path.is_file() and path.name != FILE:
            assert path.read_bytes() == (other / path.relative_to(folder)).read_bytes()


@pytest.mark.usefixtures("one_figure")
@pytest.mark.parametrize("outcomes", [[], [done("mildew", 500, 1, "fcbf", rates(0.5))]])
def test_next_to_nothing_is_enough(tmp_path, outcomes):
    place = write_store(tmp_path / "results", outcomes)
    written = report(place)
    assert written[-1] == place / "index.html"
    Outline(written[-1].read_text(encoding="utf-8"))
    assert "not run yet" in (place / "figures" / "seconds-500.svg").read_text()


def spoiled(folder, change):
    place = write_store(folder / "results", [done("mildew", 500, 1, "fcbf", rates(0.5))])
    (place / "index.html").write_text("mine")
    change(place / FILE)
    return place


def of_another_version(path):
    with closing(sqlite3.connect(path)) as file:
        file.execute("UPDATE about SET value = '99' WHERE key = 'format'")
        file.commit()


def cut_short(path):
    path.write_bytes(path.read_bytes()[:3000])


def no_database(path):
    path.write_text("nothing of the kind\n" * 1000)


@pytest.mark.parametrize("change", [of_another_version, cut_short, no_database, lambda path: path.unlink()])
def test_bad_files_are_refused_and_nothing_is_overwritten(tmp_path, change):
    place = spoiled(tmp_path, change)
    with pytest.raises(FileError, match="results"):
        report(place)
    assert (place / "index.html").read_text() == "mine"
    assert not (place / "tables").exists()


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(FileError, match="no such folder"):
        report(tmp_path / "nowhere")


def test_a_file_in_place_of_a_folder(tmp_path):
    path = tmp_path / "README.md"
    path.write_text("words")
    with pytest.raises(FileError, match=r"README\.md is a file, not a folder with results"):
        report(path)


@pytest.mark.usefixtures("without_figures")
def test_a_place_that_cannot_be_written_to(tmp_path):
    place = write_store(tmp_path / "results", [])
    (place / "tables").write_text("a file, not a folder")
    with pytest.raises(FileError, match="cannot make the folder"):
        report(place)
    assert not (place / "index.html").exists()


def test_the_command(tmp_path):
    place = write_store(tmp_path / "results", [done("mildew", 500, 1, "fcbf", rates(0.5))])
    finished = f2sl("report", place)
    assert (finished.returncode, finished.stderr) == (0, "")
    assert finished.stdout == f"wrote {place / 'index.html'} and 47 files of tables and figures\n"


@pytest.mark.parametrize("command", ["report", "reproduce"])
def test_help_speaks_of_no_option_that_is_not_there(command):
    told = f2sl(command, "--help").stdout
    assert "--quiet" in told
    assert "--json" not in told


def test_the_command_refuses(tmp_path):
    finished = f2sl("report", tmp_path / "nowhere")
    assert (finished.returncode, finished.stdout) == (2, "")
    assert finished.stderr.startswith("f2sl: error: ")
    assert finished.stderr.count("\n") == 1
