"""The page in a real browser: every interaction, and nothing to complain of."""

from __future__ import annotations

import json
import shlex
import xml.etree.ElementTree as ElementTree
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

import f2sl
from chromium import BROWSER, WHY_NONE, Chromium
from f2sl import random_network

pytestmark = pytest.mark.skipif(BROWSER is None, reason=WHY_NONE)

DENSE = f2sl.PDAG(
    [f"v{i}" for i in range(25)],
    undirected=(pairs := list(combinations([f"v{i}" for i in range(25)], 2))),
    weights={pair: (k + 1) / 300 for k, pair in enumerate(pairs)},
)
"""All 300 pairs of 25 variables."""
HOSTILE = (
    "</script><script>document.title='caught'</script>",
    '<img src=x onerror="document.title=`caught`">',
    "\"quotes' & <b>bold</b>",
    "two\nlines\tand\u2028more",
    "年齢と性別",
    "عمر",
    "🙂 mood",
    "x" * 500,
    "__proto__",
    "@@data@@",
)
NAMES = "[...f2slPage.visible().nodes].map((i) => f2slPage.cy.getElementById('n' + i).data('label'))"
ASK = "document.querySelector('#details .ask').textContent"
PANEL = "document.getElementById('details').innerText"
ROWS = (
    "[...document.querySelectorAll('#list tbody tr')].map((tr) => [...tr.cells].map((td) => td.textContent))"
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Chromium(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="module")
def table():
    return f2sl.load_example("alarm")


@pytest.fixture(scope="module")
def model(table):
    return f2sl.F2SLc().fit(table)


@pytest.fixture(scope="module")
def rich(model):
    """Networks, graphs learned instead of theirs with edges of all kinds and strengths, two explanations."""
    wide = random_network(variables=400, edges=600, max_parents=3, states=(2, 2), random_state=1)
    arrows, leaves = (
        wide.graph.directed_edges,
        {name for name in wide.variables if not wide.graph.children(name)},
    )
    ends = [edge for edge in arrows if edge[1] in leaves and len(wide.graph.parents(edge[1])) == 1][:16]
    others = [edge for edge in arrows if edge not in ends]
    learned = f2sl.PDAG(
        wide.variables,
        [*others[:-160], *((b, a) for a, b in ends)],
        others[-160:-80],
        weights={edge: 1 / k for k, edge in enumerate([*others[:-80], *((b, a) for a, b in ends)], 1)},
    )
    found = {}
    for name, network, graph in (
        ("alarm", f2sl.load_network("alarm"), model.graph_),
        ("wide", wide, learned),
    ):
        a, b = graph.directed_edges[0]
        far = next(other for other in reversed(graph.nodes) if other not in (a, *graph.neighbors(a)))
        found[name] = network, graph, {(a, b): "Because of this.", (a, far): "For want of that."}
    return found


@pytest.fixture(scope="module")
def pages(tmp_path_factory, model, table, rich):
    """Pages by what they show."""
    folder, alarm = tmp_path_factory.mktemp("pages"), f2sl.load_network("alarm")
    a, b = model.graph_.directed_edges[0]
    strange = f2sl.PDAG(
        [*HOSTILE, "plain"], [(HOSTILE[i], HOSTILE[i + 1]) for i in range(9)], [("plain", HOSTILE[0])]
    )
    return {
        "model": model.show(folder / "model.html", data=table, explanations={(b, a): "Because <b>so</b>."}),
        "compared": model.show(folder / "compared.html", truth=alarm),
        "explained": model.show(folder / "explained.html", data=table),
        "network": alarm.show(folder / "network.html"),
        **{
            name: f2sl.show(network, folder / f"{name}.html", graph=graph, truth=network, explanations=why)
            for name, (network, graph, why) in rich.items()
        },
        "dense": DENSE.show(folder / "dense.html"),
        "strange": strange.show(folder / "strange.html", title=HOSTILE[0], ask="f2sl why 'my data.csv'"),
        "sure": model.graph_.show(
            folder / "sure.html",
            confidence={
                **dict.fromkeys(model.graph_.directed_edges, 0.5),
                **dict.fromkeys(model.graph_.undirected_edges, 0.25),
            },
        ),
        "empty": f2sl.PDAG(["a", "b"]).show(folder / "empty.html"),
    }


@pytest.fixture
def opened(browser, pages):
    """Open a page; in the end, see that it complained of nothing and asked for nothing."""

    def open_page(name, width=1280, dark=False):
        browser.complaints.clear()
        browser.requests.clear()
        browser.open(pages[name], width, 800, dark)
        assert browser.ask("document.documentElement.dataset.ready") == "yes"
        return browser

    yield open_page
    assert browser.complaints == []
    assert {url for url in browser.requests if not url.startswith(("data:", "blob:"))} <= {
        path.as_uri() for path in pages.values()
    }


def find(browser, name):
    """Search for a variable and choose it, by keys alone."""
    browser.press("/")
    browser.type(name)
    browser.press("Enter")


def click_on(browser, element, shift=False):
    """Click on a node, or on an edge's middle, by its number."""
    middle = "renderedPosition" if element.startswith("n") else "renderedMidpoint"
    x, y = browser.ask(
        f"(() => {{ const at = f2slPage.cy.getElementById('{element}').{middle}(), "
        "box = document.getElementById('cy').getBoundingClientRect(); "
        "return [at.x + box.x, at.y + box.y]; })()"
    )
    browser.click(x, y, shift)


def number(graph, name):
    return f"n{graph.nodes.index(name)}"


def set_value(browser, element, value):
    browser.ask(
        f"(() => {{ const e = document.getElementById('{element}'); e.value = {value}; "
        "e.dispatchEvent(new Event('input', { bubbles: true })); })()"
    )


def click(browser, selector):
    browser.ask(f"document.querySelector({selector!r}).click()")


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True), (320, False)])
@pytest.mark.parametrize("name", ["model", "compared", "strange", "empty"])
def test_every_page_opens_without_a_complaint_and_fits_the_window(opened, name, width, dark):
    page = opened(name, width, dark)
    assert page.ask("document.documentElement.scrollWidth") <= width
    ground = page.ask("getComputedStyle(document.body).backgroundColor")
    light = sum(map(int, ground[4:-1].split(","))) / 3
    assert (light < 60) if dark else (light > 240)
    assert page.ask("f2slPage.cy.nodes().length") == page.ask("JSON.parse(data.textContent).nodes.length")


def test_search_marks_and_chooses(opened, model):
    page = opened("model")
    page.press("/")
    page.type("hr")
    wanted = [name for name in model.graph_.nodes if "HR" in name]
    hits = page.ask("[...document.querySelectorAll('#hits li')].map((li) => li.textContent)")
    assert sorted(hits) == sorted(wanted)
    assert hits[0] == "HR"
    page.wait_for(lambda: page.ask("f2slPage.cy.nodes('.hit').length") == len(wanted))
    page.press("ArrowDown")
    page.press("Enter")
    assert page.ask(PANEL).splitlines()[0] == hits[1]
    page.press("/")
    page.type("no such thing")
    assert "No variable" in page.ask("document.getElementById('hits').innerText")


def test_a_variable_shows_states_and_shares(opened, model, table):
    page = opened("model")
    click_on(page, number(model.graph_, "HR"))
    shown = page.ask(PANEL)
    counts = Counter(np.asarray(table["HR"]).tolist())
    lines = shown.splitlines()
    for state, count in counts.items():
        told = lines[lines.index(state) + 1]
        assert float(told.removesuffix("%")) == pytest.approx(100 * count / len(table), abs=0.051)
    for parent in model.graph_.parents("HR"):
        assert parent in shown.split("PARENTS")[1].split("CHILDREN")[0]


def test_an_edge_shows_strength_direction_and_why(opened, model):
    page = opened("model")
    a, b = model.graph_.directed_edges[0]
    click_on(page, "e0")
    shown = page.ask(PANEL)
    assert shown.splitlines()[0] == f"{a} → {b}"
    assert f"{model.graph_.weights[a, b]:.3f}".rstrip("0") in shown
    assert "Because <b>so</b>." in shown
    forks = [triple for triple in model.v_structures_ if triple[1] == b and a in triple]
    assert ("v-structure" in shown) == bool(forks)


def test_a_pair_without_an_edge_shows_what_separates_it(opened, model):
    page = opened("model")
    (a, b), given = next((pair, given) for pair, given in model.separating_sets_.items() if given)
    click_on(page, number(model.graph_, a))
    click_on(page, number(model.graph_, b), shift=True)
    shown = page.ask(PANEL)
    assert "no edge" in shown
    assert f"Separated by\n{', '.join(given)}" in shown
    find(page, a)
    page.ask(
        f"(() => {{ const e = document.getElementById('other'); e.value = '{b}'; "
        "e.dispatchEvent(new Event('change')); })()"
    )
    assert "no edge" in page.ask(PANEL)


def test_any_pair_is_explained(opened, model, table):
    page, graph = opened("explained"), model.graph_
    for a, b in [("HR", "CO"), ("HR", "HISTORY"), ("CVP", "LVEDVOLUME"), ("PAP", "SHUNT")]:
        click_on(page, number(graph, a))
        click_on(page, number(graph, b), shift=True)
        i, j = sorted((a, b), key=graph.nodes.index)
        shown = page.ask("[...document.querySelectorAll('#details .why p')].map((p) => p.textContent)")
        assert shown == [reason.text for reason in model.explain(i, j, table).reasons]
        assert page.ask("document.querySelector('#details .ask')") is None


def test_pairs_that_are_not_explained_say_how_to_ask(opened, model):
    page = opened("model")  # with an explanation of one edge alone
    click_on(page, number(model.graph_, "HR"))
    click_on(page, number(model.graph_, "HISTORY"), shift=True)
    assert page.ask(ASK) == 'model.explain("HR", "HISTORY", data)'
    page = opened("strange")
    for i in range(len(HOSTILE)):
        page.ask(f"f2slPage.pick([{i}, 10])")
        assert shlex.split(page.ask(ASK)) == ["f2sl", "why", "my data.csv", HOSTILE[i], "plain"]


def test_focus_on_neighborhoods_and_blankets(opened):
    page = opened("network")
    truth = f2sl.load_network("alarm").graph
    find(page, "HR")
    page.press("n")
    assert sorted(page.ask(NAMES)) == sorted(["HR", *truth.neighbors("HR")])
    page.press("]")
    wider = {other for name in ["HR", *truth.neighbors("HR")] for other in truth.neighbors(name)}
    assert set(page.ask(NAMES)) == wider | {"HR"}
    page.press("[")
    page.press("m")
    assert sorted(page.ask(NAMES)) == sorted(["HR", *truth.markov_blanket("HR")])
    page.press("a")
    assert len(page.ask(NAMES)) == truth.n_nodes
    click(page, "#focus input[value=near]")
    set_value(page, "depth", 2)
    assert set(page.ask(NAMES)) == wider | {"HR"}
    page.press("Escape")
    assert len(page.ask(NAMES)) == truth.n_nodes


def test_nothing_overlaps_in_a_focused_picture(opened):
    page = opened("network")
    find(page, "CATECHOL")
    page.press("m")
    page.press("]")
    boxes = page.ask(
        "[...f2slPage.visible().nodes].map((i) => f2slPage.cy.getElementById('n' + i).boundingBox())"
        ".map((b) => [b.x1, b.y1, b.x2, b.y2])"
    )
    assert len(boxes) > 10
    for i, one in enumerate(boxes):
        for two in boxes[:i]:
            assert one[2] <= two[0] or two[2] <= one[0] or one[3] <= two[1] or two[3] <= one[1]


def test_the_slider_hides_weak_edges(opened, model):
    page = opened("model")
    values = sorted(model.graph_.weights.values())
    set_value(page, "cut", 10)
    page.wait_for(lambda: page.ask("f2slPage.visible().edges.size") == len(values) - 10)
    assert f"{len(values) - 10} of {len(values)}" in page.ask(
        "document.getElementById('cut-text').textContent"
    )
    assert len(page.ask(ROWS)) == len(values) - 10
    page.wait_for(lambda: page.ask("f2slPage.cy.edges(':visible').length") == len(values) - 10)


def test_a_slider_over_confidence_comes_first_where_there_is_any(opened, model):
    page = opened("sure")
    assert page.ask("[...document.querySelectorAll('#measure option')].map((o) => o.textContent)") == [
        "confidence",
        "strength",
    ]
    assert page.ask("f2slPage.visible().edges.size") == len(model.graph_.directed_edges)
    click_on(page, "e0")
    assert "Confidence\n50%" in page.ask(PANEL)


def test_the_list_sorts_and_filters_with_the_picture(opened, model):
    page, graph = opened("model"), model.graph_
    page.press("e")
    strengths = [float(row[3]) for row in page.ask(ROWS)]
    assert strengths == sorted(strengths, reverse=True)
    click(page, "#list th:nth-child(4) button")
    assert [float(row[3]) for row in page.ask(ROWS)] == strengths[::-1]
    click(page, "#list th:nth-child(1) button")
    assert [row[0] for row in page.ask(ROWS)] == sorted(
        [a for a, _ in graph.directed_edges + graph.undirected_edges]
    )
    set_value(page, "filter", "'hr'")
    kept = [(row[0], row[2]) for row in page.ask(ROWS)]
    assert sorted(kept) == sorted(
        edge for edge in graph.directed_edges + graph.undirected_edges if "HR" in edge[0] + " " + edge[1]
    )
    click(page, "#list tbody tr")
    page.wait_for(lambda: page.ask("f2slPage.cy.edges('.picked').length") == 1)
    assert sorted(page.ask("f2slPage.cy.nodes('.picked').map((n) => n.data('label'))")) == sorted(kept[0])
    set_value(page, "filter", "''")
    click_on(page, "e3")
    page.press("e")
    chosen = page.ask(
        "[...document.querySelectorAll('#list tr[aria-selected=true]')]"
        ".map((tr) => [tr.cells[0].textContent, tr.cells[2].textContent])"
    )
    assert chosen == [list((graph.directed_edges + graph.undirected_edges)[3])]


def test_kinds_of_edges_can_be_hidden(opened, model):
    page = opened("model")
    click(page, "#legend input[value=undirected]")
    assert page.ask("f2slPage.visible().edges.size") == len(model.graph_.directed_edges)
    arrows = page.ask(
        "f2slPage.cy.edges().map((e) => [e.hasClass('directed'), e.style('target-arrow-shape')])"
    )
    assert all(shape == ("triangle" if directed else "none") for directed, shape in arrows)


def test_comparison_in_colours_and_lines_that_can_be_told_apart(opened, model):
    page = opened("compared")
    found = f2sl.compare(f2sl.load_network("alarm").graph, model.graph_)
    legend = page.ask("[...document.querySelectorAll('#legend label')].map((l) => l.textContent)")
    wanted = {
        "agreed": found.correct,
        "reversed": found.reverse,
        "directed in one": found.undirected,
        "missing": found.miss,
        "extra": found.extra,
    }
    assert legend == [f"{words} {count}" for words, count in wanted.items() if count]
    looks = page.ask(
        "['agreed', 'reversed', 'half', 'missing', 'extra'].map((k) => f2slPage.cy.edges('.' + k)[0])"
        ".map((e) => [e.style('line-color'), e.style('line-style') + e.style('line-dash-pattern')])"
    )
    assert len({colour for colour, _ in looks}) == 5
    assert len({line for _, line in looks}) == 5


def test_tables_of_a_network(opened):
    page = opened("network")
    find(page, "HRBP")
    shown = page.ask(
        "[...document.querySelectorAll('#details table tr')]"
        ".map((tr) => [...tr.cells].map((c) => c.textContent))"
    )
    net = f2sl.load_network("alarm")
    parents = net.parents("HRBP")
    assert shown[0] == [*parents, *net.states["HRBP"]]
    first = [net.states[parent][0] for parent in parents]
    assert shown[1][: len(parents)] == first
    assert [float(cell) for cell in shown[1][len(parents) :]] == pytest.approx(
        net.tables["HRBP"].reshape(-1, len(net.states["HRBP"]))[0], abs=0.001
    )
    assert "10,000 rows drawn from the network" in page.ask(PANEL)


def test_keys_alone_lead_through_the_graph(opened):
    page, truth = opened("network"), f2sl.load_network("alarm").graph
    find(page, "HR")
    page.press("ArrowDown")
    child = page.ask(PANEL).splitlines()[0]
    assert child in truth.children("HR")
    page.press("ArrowUp")
    assert page.ask(PANEL).splitlines()[0] in truth.parents(child)
    page.press("ArrowRight")
    before = page.ask("f2slPage.cy.zoom()")
    page.press("+")
    assert page.ask("f2slPage.cy.zoom()") > before
    page.press("0")
    page.press("Escape")
    pan = page.ask("f2slPage.cy.pan().x")
    page.press("ArrowRight")
    assert page.ask("f2slPage.cy.pan().x") < pan
    page.press("?")
    assert page.ask("document.getElementById('keys').open")
    page.press("Escape", 27)
    theme = page.ask("document.documentElement.dataset.theme")
    page.ask("document.getElementById('keys').close()")
    page.press("t")
    assert page.ask("document.documentElement.dataset.theme") != theme


def test_the_wheel_zooms_and_the_mouse_moves_the_picture(opened):
    page = opened("network")
    before = page.ask("f2slPage.cy.zoom()")
    page.wheel(400, 400, -240)
    page.wait_for(lambda: page.ask("f2slPage.cy.zoom()") > before)
    click(page, "#fit")
    assert page.ask("f2slPage.cy.zoom()") == pytest.approx(before)
    dragged(page)


def dragged(page):
    """Drag the picture by its upper left corner, where nothing is drawn; it moves as far as the mouse."""
    x, y = page.ask("(({ x, y }) => [x + 6, y + 6])(document.getElementById('cy').getBoundingClientRect())")
    before = page.ask("f2slPage.cy.pan()")
    page.drag(x, y, 70, 40)
    after = page.ask("f2slPage.cy.pan()")
    assert (after["x"] - before["x"], after["y"] - before["y"]) == pytest.approx((70, 40), abs=1)


@pytest.mark.parametrize("name", ["model", "strange"])
def test_pictures_to_keep(opened, tmp_path, name):
    page = opened(name)
    page.download_to(tmp_path)
    click(page, "#png")
    png = page.wait_for(lambda: list(tmp_path.glob("*.png")))[0]
    page.wait_for(lambda: png.read_bytes().endswith(b"IEND\xaeB`\x82"))
    assert png.read_bytes().startswith(b"\x89PNG")
    click(page, "#svg")
    svg = page.wait_for(lambda: list(tmp_path.glob("*.svg")))[0]
    page.wait_for(lambda: svg.read_text().endswith("</svg>"))
    texts = [element.text for element in ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}text")]
    assert sorted(texts) == sorted(page.ask(NAMES))


def test_names_are_text_whatever_they_are(opened):
    page = opened("strange")
    assert page.ask("document.title") == HOSTILE[0]
    assert page.ask("document.getElementById('title').textContent") == HOSTILE[0]
    assert page.ask("JSON.parse(data.textContent).nodes.map((n) => n.n)") == [*HOSTILE, "plain"]
    for name in HOSTILE:
        click_on(page, f"n{HOSTILE.index(name)}")
        assert page.ask("document.querySelector('#details h2').textContent") == name
    assert page.ask("document.querySelectorAll('img, b:not(.bars b)').length") == 0


def test_long_lists_are_shown_on_demand(opened, rich):
    page, (network, graph, _) = opened("wide", dark=True), rich["wide"]
    edges = {
        frozenset(edge)
        for one in (network.graph, graph)
        for edge in one.directed_edges + one.undirected_edges
    }
    assert page.ask("f2slPage.cy.edges().length") == len(edges) == 600
    page.press("e")
    assert len(page.ask(ROWS)) == 300
    click(page, "#more")
    assert len(page.ask(ROWS)) == 600


def test_of_many_edges_for_few_variables_the_strongest_are_shown_at_first(opened):
    page = opened("dense")
    kept = page.ask("f2slPage.visible().edges.size")
    assert kept == 200
    assert "200 of 300" in page.ask("document.getElementById('cut-text').textContent")
    strengths = page.ask("[...f2slPage.visible().edges].map((e) => JSON.parse(data.textContent).edges[e].s)")
    assert min(strengths) == pytest.approx(101 / 300, rel=1e-3)
    set_value(page, "cut", 0)
    page.wait_for(lambda: page.ask("f2slPage.visible().edges.size") == 300)


@pytest.mark.parametrize(("name", "width"), [("alarm", 390), ("wide", 1280)])
def test_every_interaction_at_any_size_and_width(opened, rich, tmp_path, name, width):
    page, (network, graph, why) = opened(name, width), rich[name]
    (a, b), (_, far) = why
    # Search, and a click on a node: states and table.
    page.press("/")
    page.type(a.upper())
    assert page.ask("document.querySelector('#hits li').textContent") == a
    page.press("Enter")
    assert page.ask("f2slPage.cy.zoom()") > 0.5
    page.press("Escape")
    click_on(page, number(graph, a))
    shown = page.ask(PANEL).splitlines()
    assert shown[0] == a
    assert set(network.states[a]) <= set(shown)
    assert "Probabilities" in [line.capitalize() for line in shown]
    # A pair without an edge by Shift and a click, or by the name of the other; an edge by a click.
    page.ask(
        f"(() => {{ const e = document.getElementById('other'); e.value = '{far}'; "
        "e.dispatchEvent(new Event('change')); })()"
    )
    assert {"no edge", "For want of that."} <= set(page.ask(PANEL).splitlines())
    i, j = graph.nodes.index(a), graph.nodes.index(b)
    page.ask(f"f2slPage.pick([{i}, {j}])")  # which brings both into view
    page.press("Escape")
    edges = [{edge["a"], edge["b"]} for edge in page.ask("JSON.parse(data.textContent).edges")]
    click_on(page, f"e{edges.index({i, j})}")
    assert page.ask(PANEL).splitlines()[0] == f"{a} → {b}"
    assert "Because of this." in page.ask(PANEL)
    # Neighborhood and Markov blanket, of what is drawn: the learned edges and the missing ones.
    edges = set(map(tuple, page.ask("JSON.parse(data.textContent).edges.map((e) => [e.a, e.b])")))
    near = {graph.nodes[j] for i in [graph.nodes.index(a)] for edge in edges if i in edge for j in edge}
    find(page, a)
    click(page, "#focus input[value=near]")
    assert set(page.ask(NAMES)) == near
    set_value(page, "depth", 2)
    assert set(page.ask(NAMES)) > near
    click(page, "#focus input[value=blanket]")
    set_value(page, "depth", 1)
    assert set(page.ask(NAMES)) >= near
    page.press("Escape")
    assert len(page.ask(NAMES)) == graph.n_nodes
    # Zoom and move: by the wheel and the mouse, by fingers on a phone, by buttons.
    before = page.ask("f2slPage.cy.zoom()")
    left, top, wide, high = page.ask(
        "(({ x, y, width, height }) => [x, y, width, height])"
        "(document.getElementById('cy').getBoundingClientRect())"
    )
    x, y = left + wide / 2, top + high / 2
    if width > 600:
        page.wheel(x, y, -240)
    else:
        page.fingers(((x - 20, y), (x - 90, y)), ((x + 20, y), (x + 90, y)))
    page.wait_for(lambda: page.ask("f2slPage.cy.zoom()") > before)
    click(page, "#out")
    click(page, "#fit")
    assert page.ask("f2slPage.cy.zoom()") == pytest.approx(before)
    dragged(page)
    if width < 600:
        pan = page.ask("f2slPage.cy.pan().y")
        page.fingers(((left + 8, top + 8), (left + 8, top + 58)))
        page.wait_for(lambda: page.ask("f2slPage.cy.pan().y") > pan + 20)
    # The slider, kinds of edges, and the list beside the picture.
    total = len(edges)
    weighed = len(graph.weights)
    set_value(page, "cut", 5)
    page.wait_for(lambda: page.ask("f2slPage.visible().edges.size") < total)
    assert page.ask("f2slPage.visible().edges.size") >= total - weighed
    set_value(page, "cut", 0)
    page.wait_for(lambda: page.ask("f2slPage.visible().edges.size") == total)
    compared = f2sl.compare(network.graph, graph)
    click(page, "#legend input[value=missing]")
    assert page.ask("f2slPage.visible().edges.size") == total - compared.miss
    click(page, "#legend input[value=missing]")
    page.press("e")
    click(page, "#list th:nth-child(1) button")
    names = [row[0] for row in page.ask(ROWS)]
    assert names == page.ask(
        f"{json.dumps(names)}.sort(new Intl.Collator('en', {{ numeric: true }}).compare)"
    )
    set_value(page, "filter", f"'{a}'")
    kept = [(row[0], row[2]) for row in page.ask(ROWS)]
    assert kept and all(a in one + " " + two for one, two in kept)
    click(page, "#list tbody tr")
    page.wait_for(lambda: page.ask("f2slPage.cy.edges('.picked').length") == 1)
    assert sorted(page.ask("f2slPage.cy.nodes('.picked').map((n) => n.data('label'))")) == sorted(kept[0])
    # Light and dark, and pictures to keep.
    theme = page.ask("document.documentElement.dataset.theme")
    click(page, "#theme")
    assert page.ask("document.documentElement.dataset.theme") != theme
    page.download_to(tmp_path)
    for kind, end in (("png", b"IEND\xaeB`\x82"), ("svg", b"</svg>")):
        click(page, f"#{kind}")
        saved = page.wait_for(lambda kind=kind: list(tmp_path.glob(f"*.{kind}")))[0]
        page.wait_for(lambda saved=saved, end=end: saved.read_bytes().endswith(end))
    assert page.ask("document.documentElement.scrollWidth") <= width
