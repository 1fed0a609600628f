"""The same networks, statistics and scores as pgmpy, pyAgrum and SciPy."""

import gzip
import math
import re
import warnings
from functools import cache
from importlib.resources import files

import numpy as np
import pytest
from scipy.stats import chi2, chi2_contingency

import f2sl
from f2sl.data.engines import Queries
from f2sl.data.memory.engine import MemoryEngine
from f2sl.network.bundled import REPOSITORY
from f2sl.stats.choose import make_score, make_test
from f2sl.stats.tests.base import chi_squared_tail
from marks import compiled_only

pytestmark = [pytest.mark.filterwarnings("ignore"), compiled_only]

FOR_PGMPY = ("child", "munin1", "water", "win95pts")
"""Networks that are compared with pgmpy's reader, which takes a second or more for each, beside pyAgrum's.

They have every kind of thing that these files have: numbers with exponents and with ten digits (munin1),
states that begin with a digit (water) or hold other signs (child), many parents (win95pts).
"""


@cache
def bundled(name):
    return f2sl.load_network(name)


def original(name):
    """The file that a bundled network was made from: the repository's, as it comes with pgmpy."""
    return files("pgmpy") / "utils" / "example_models" / f"{name}.bif.gz"


def original_text(name):
    return gzip.decompress(original(name).read_bytes()).decode()


@pytest.mark.parametrize("name", REPOSITORY)
def test_bundled_networks_are_the_originals(name):
    assert bundled(name) == f2sl.load_network(original(name))


@pytest.mark.parametrize("name", FOR_PGMPY)
def test_pgmpy_reads_the_same_network(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy.readwrite import BIFReader
    ours, theirs = bundled(name), BIFReader(string=original_text(name)).get_model()
    assert set(theirs.nodes) == set(ours.variables)
    for variable, states in ours.states.items():
        factor = theirs.get_cpds(variable)
        names = (variable, *ours.parents(variable))
        assert tuple(factor.variables) == names
        assert {name: tuple(factor.state_names[name]) for name in names} == {
            name: ours.states[name] for name in names
        }
        assert factor.variable_card == len(states)
        # pgmpy has the child's axis first.
        np.testing.assert_allclose(np.moveaxis(factor.values, 0, -1), ours.tables[variable], rtol=1e-12)


@cache
def identifier(word):
    """Spell a word so that pyAgrum takes it for a name; numbers stay."""
    if word.isidentifier() or re.fullmatch(r"[\d.]+(e[+-]?\d+)?", word):
        return word
    return "w" + "".join(letter if letter.isalnum() else f"_{ord(letter):x}_" for letter in word)


@pytest.mark.parametrize("name", REPOSITORY)
def test_pyagrum_reads_the_same_network(name, tmp_path):
    import pyagrum

    # pyAgrum does not read states such as "Asy/Patch", "<5" or "1_1", which the repository's files have.
    text = re.sub(r"[^\s,|{}\[\]();]+", lambda match: identifier(match[0]), original_text(name))
    (tmp_path / "x.bif").write_text(text)
    ours, theirs = bundled(name), pyagrum.loadBN(str(tmp_path / "x.bif"))
    assert theirs.names() == {identifier(variable) for variable in ours.variables}
    for variable, states in ours.states.items():
        potential = theirs.cpt(identifier(variable))
        assert list(theirs.variable(identifier(variable)).labels()) == [identifier(s) for s in states]
        # pyAgrum's arrays have the parents in reverse order, then the variable.
        assert list(potential.names)[:0:-1] == [identifier(p) for p in ours.parents(variable)][::-1]
        axes = list(range(len(potential.names) - 1))[::-1]
        table = np.asarray(potential.toarray()).transpose([*axes, len(axes)])
        # Its reader has single precision.
        np.testing.assert_allclose(table, ours.tables[variable], rtol=2e-7, atol=1e-12)


FIVE = ("alarm", "asia", "child", "hailfinder", "hepar2")
"""Networks whose states all occur in the rows sampled here.

Where a state of a child does not occur, pgmpy's BDeu leaves out its cells but not their priors.
"""


class Sampled:
    """A thousand rows of a network, and the families of its true graph by number."""

    def __init__(self, name):
        self.network = bundled(name)
        self.frame = self.network.sample(1000, random_state=1)
        self.table = f2sl.open_table(self.frame).in_name_order()
        number = {variable: i for i, variable in enumerate(self.table.names)}
        self.families = [
            (number[variable], tuple(sorted(number[p] for p in self.network.parents(variable))))
            for variable in self.network.variables
        ]
        self.engine = MemoryEngine(self.table, n_jobs=1)


@pytest.fixture(scope="module", params=FIVE)
def sampled(request):
    return Sampled(request.param)


def scipy_test(table, x, y, given, kind):
    """Add up what SciPy says of each stratum, over the rows and columns that occur in it."""
    statistic, freedom = 0.0, 0
    sizes = table.cardinalities
    strata = np.zeros(table.n_rows, np.int64)
    for z in given:
        strata = strata * sizes[z] + table.codes[z]
    for stratum in np.unique(strata):
        rows = strata == stratum
        cells = np.zeros((sizes[x], sizes[y]), np.int64)
        np.add.at(cells, (table.codes[x][rows], table.codes[y][rows]), 1)
        cells = cells[cells.any(axis=1)][:, cells.any(axis=0)]
        if min(cells.shape) > 1:
            lambda_ = "log-likelihood" if kind == "g2" else "pearson"
            result = chi2_contingency(cells, correction=False, lambda_=lambda_)
            statistic += result.statistic
            freedom += result.dof
    return statistic, freedom, chi2.sf(statistic, freedom) if freedom else 1.0


@pytest.mark.parametrize("kind", ["g2", "x2"])
@pytest.mark.parametrize("size", [0, 1, 2])
def test_independence_tests_are_those_of_scipy(sampled, kind, size):
    test = make_test(sampled.engine, 0.01, kind)
    rng = np.random.default_rng(size)
    n = sampled.table.n_variables
    chosen = [rng.permutation(n)[: size + 2] for _ in range(25)]
    # Neighbors, too: strong dependences, with the statistics far out.
    for child, parents in sampled.families:
        others = [v for v in range(n) if v != child and v not in parents]
        chosen += [[child, parent, *others[:size]] for parent in parents]
    chosen = np.array(chosen)
    x, y, given = chosen[:, 0], chosen[:, 1], chosen[:, 2:]
    keep = sampled.table.cardinalities[chosen].prod(axis=1) <= sampled.table.n_rows
    x, y, given = x[keep], y[keep], given[keep]
    assert len(x) > 25
    statistic, freedom = test.engine.evaluate(
        Queries.of_matrix(np.column_stack([given, x, y])), test.formula, 2
    ).T
    found = statistic, freedom, chi_squared_tail(statistic, freedom)
    questions = zip(x, y, given, strict=True)
    expected = np.array([scipy_test(sampled.table, *question, kind) for question in questions]).T
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(found[1], expected[1])
    np.testing.assert_allclose(found[2], expected[2], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("score", ["bdeu", "bic"])
def test_scores_of_the_true_graph_are_those_of_pgmpy(sampled, score):
    from pgmpy.structure_score import BIC, BDeu

    states = {name: list(listed) for name, listed in sampled.network.states.items()}
    frame = sampled.frame.astype(str)
    if score == "bdeu":
        theirs = BDeu(frame, equivalent_sample_size=10, state_names=states)
    else:
        theirs = BIC(frame, state_names=states)
    expected = [theirs.local_score(name, sampled.network.parents(name)) for name in sampled.network.variables]
    found = make_score(sampled.engine, score, 10.0).score(sampled.families)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)
    assert found.sum() == pytest.approx(sum(expected), abs=1e-6)


def pyagrum_learner(sampled, folder):
    import pyagrum

    template = pyagrum.BayesNet()
    for name, states in sampled.network.states.items():
        template.add(pyagrum.LabelizedVariable(name, name, list(states)))
    sampled.frame.to_csv(folder / "rows.csv", index=False)
    return pyagrum.BNLearner(str(folder / "rows.csv"), template, [])


def test_bic_of_the_true_graph_is_that_of_pyagrum(sampled, tmp_path):
    theirs = pyagrum_learner(sampled, tmp_path)
    theirs.useScoreBIC()
    theirs.useNoPrior()
    network = sampled.network
    # pyAgrum takes logarithms to the base of 2.
    expected = [theirs.score(name, list(network.parents(name))) * math.log(2) for name in network.variables]
    found = make_score(sampled.engine, "bic").score(sampled.families)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


def test_bdeu_of_the_true_graph_is_that_of_pyagrum(sampled, tmp_path):
    # pyAgrum interpolates log Gamma between points 0.01 apart (gammaLog2_inl.h), which is far off for the
    # tiny priors of large tables: by 64 for one family of hailfinder with a prior of 10 samples. With a prior
    # of one sample for each cell its error is some 1e-6 for each term, of scores in the hundreds and
    # thousands. Its "BD" with a BDeu prior is BDeu; its own "BDeu" adds a prior of one sample to that.
    network = sampled.network
    theirs = pyagrum_learner(sampled, tmp_path)
    theirs.useScoreBD()
    expected, found = [], []
    for name, family in zip(network.variables, sampled.families, strict=True):
        prior = float(network.tables[name].size)
        theirs.useBDeuPrior(prior)
        expected.append(theirs.score(name, list(network.parents(name))) * math.log(2))
        found.append(make_score(sampled.engine, "bdeu", prior).score([family])[0])
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert sum(found) == pytest.approx(sum(expected), rel=1e-7)
