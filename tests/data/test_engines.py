"""Every learner learns the same wherever the data are: in memory, in blocks on disk, on a cluster."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluster_tools import forgets_all, running
from f2sl.api import find_sets
from f2sl.data.column import CONTINUOUS
from f2sl.data.dask import table as counting
from f2sl.data.dask.runtime import Cluster
from f2sl.data.dask.table import DaskTable
from f2sl.data.stream import StreamTable
from f2sl.learners.registries import LOCAL, MARKOV_BLANKET, STRUCTURE
from marks import compiled_only
from mixed_tools import drawn_missing, mixed_columns, mixed_table
from tables import make_table, related_codes, related_numbers

pytestmark = compiled_only

SMALL = {
    "boss": {"effort": "fast", "max_parents": 1},
    "dag-gnn": {"epochs": 2, "max_iter": 2, "hidden": 4},
    "notears": {"max_iter": 5},
}
"""Options that make a learner quick; the answer need not be a good one."""

DISK, CLUSTER = "stream", "dask"
KINDS = ("discrete", "continuous", "mixed")
WITH_MISSING = "mixed, with gaps"
SETS = [(registry, entry.name) for registry in (LOCAL, MARKOV_BLANKET) for entry in registry]
MEMORY = 1 << 28
BY_TILES, BY_ROWS = (1e9,), (0,)
"""Values of `ROWS_PER_VARIABLE` that split work on a cluster in one of its two ways."""


class Disk:
    """Tables in blocks of a size that Hypothesis draws; tests of the engine have blocks of one row."""

    examples = 3

    def holding(self, table, rows_per_block, _):
        yield StreamTable.of_table(table, rows_per_block)


class Workers:
    """Tables in two blocks on a cluster, with work split by tiles or by rows.

    Other numbers of blocks and of workers are for tests of the engine, in `test_dask.py`.
    """

    examples = 1

    def __init__(self, client):
        self._client = client

    def holding(self, table, _, splits):
        cluster = Cluster.connect(self._client, 1, MEMORY)
        for rows_per_variable in (
            splits if table.kind != CONTINUOUS else BY_ROWS
        ):  # sums of numbers are not split
            counting.ROWS_PER_VARIABLE = rows_per_variable
            yield DaskTable.of_table(table, cluster, MEMORY, n_blocks=2)


@pytest.fixture(scope="module")
def engine(request):
    """Give what holds a table in another way than in memory."""
    if request.param == DISK:
        yield Disk()
        return
    usual = counting.ROWS_PER_VARIABLE
    with running(3) as client:
        yield Workers(client)
        assert forgets_all(client)
    counting.ROWS_PER_VARIABLE = usual


def drawn(kind, random_state):
    if kind == "continuous":
        return related_numbers(random_state)
    if kind == WITH_MISSING:
        kinds = ("discrete", "continuous") * 2
        columns = mixed_columns(random_state, 200, kinds)
        return mixed_table(columns, kinds, missing=drawn_missing(random_state, columns))
    if kind == "mixed":
        return mixed_table(mixed_columns(random_state, 200))
    return make_table(related_codes(random_state, 200, 5, most_states=3))


def splits_of(position):
    """Choose how work is split on a cluster, by a learner's place: another way after all three kinds."""
    return BY_TILES if position // 3 % 2 else BY_ROWS


def check(engine, kind, learn, splits):
    """Compare what is learned from memory with what is learned from elsewhere."""

    @settings(max_examples=engine.examples)
    @given(random_state=st.integers(0, 20), rows_per_block=st.integers(20, 300))
    def same(random_state, rows_per_block):
        table = drawn(kind, random_state)
        expected = learn(table)
        for other in engine.holding(table, rows_per_block, splits):
            assert learn(other) == expected

    same()


def cases(entries, kinds_of):
    """List engines, entries and the kinds of data that they learn from.

    On disk an entry has each kind of data. On a cluster, where a learner takes far longer, it has one kind,
    each kind in turn.
    """
    for number, entry in enumerate(entries):
        kinds = [kind for kind in KINDS if kind in kinds_of(*entry)]
        yield from ((DISK, *entry, kind) for kind in kinds)
        yield CLUSTER, *entry, kinds[number % len(kinds)]


def case_name(value):
    return value if isinstance(value, str) else ""


@pytest.mark.parametrize(
    ("engine", "name", "kind"),
    [
        *cases([(entry.name,) for entry in STRUCTURE], lambda name: STRUCTURE.load(name)()._takes),
        *((DISK, name, WITH_MISSING) for name in ("f2sl-h", "boss", "hc", "f2sl-c", "mmhc", "pc-stable")),
        (CLUSTER, "mmhc", WITH_MISSING),  # which asks for pairs, tests and scores
    ],
    indirect=["engine"],
    ids=case_name,
)
def test_structures_are_the_same(engine, name, kind):
    learner = STRUCTURE.load(name)
    options = {"n_jobs": 1} if "n_jobs" in learner.option_defaults() else {}

    def learn(table):
        model = learner(**options, **SMALL.get(name, {})).fit(table)
        return model.graph_, model.graph_.weights, model.notes_, model.options_in_use_, model.n_rows_

    position = [entry.name for entry in STRUCTURE].index(name)
    check(engine, kind, learn, BY_TILES + BY_ROWS if kind == WITH_MISSING else splits_of(position))


@pytest.mark.parametrize(
    ("engine", "registry", "name", "kind"),
    list(cases(SETS, lambda registry, name: registry.load(name)._takes)),
    indirect=["engine"],
    ids=case_name,
)
def test_sets_are_the_same(engine, registry, name, kind):
    def learn(table):
        found = find_sets(registry.create(name, {}), name, table, None, 1, {})
        return {target: (dict(one), one.separating_sets, one.n_tests) for target, one in found.items()}

    check(engine, kind, learn, splits_of(SETS.index((registry, name))))
