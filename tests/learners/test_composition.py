"""Learners made of parts: a learner of neighbors and a way to orient, given as objects."""

import pytest
from sklearn.base import clone

import f2sl
from f2sl import OptionError
from f2sl.learners.base import StructureLearner
from f2sl.learners.fit import Fit
from f2sl.learners.local_to_global import local_to_global
from f2sl.learners.registries import LOCAL, MARKOV_BLANKET, STRUCTURE

REGISTRIES = (STRUCTURE, LOCAL, MARKOV_BLANKET)


@pytest.fixture(scope="module")
def table():
    return f2sl.open_table(f2sl.load_network("alarm").sample(1000, random_state=1))


@pytest.mark.parametrize(
    ("named", "composed"),
    [
        (f2sl.F2SLc(delta=0.02, alpha=0.05), (f2sl.FCBF(delta=0.02), f2sl.ByTests(alpha=0.05))),
        (f2sl.F2SLs(score="bic"), (f2sl.FCBF(), f2sl.ByScore(score="bic"))),
        (f2sl.MMHCc(max_cond_vars=2), (f2sl.MMPC(max_cond_vars=2), f2sl.ByTests(max_cond_vars=2))),
        (f2sl.MMHC(tabu_length=10), (f2sl.MMPC(), f2sl.ByScore(tabu_length=10))),
    ],
)
def test_the_published_learners_are_these_parts(named, composed, table):
    local, orient = composed
    model = f2sl.LocalToGlobal(local=local, orient=orient).fit(table)
    assert model.graph_ == named.fit(table).graph_
    assert model.pc_ == named.pc_
    assert model.strength_unit == named.strength_unit


def test_a_part_has_options_of_its_own(table):
    local, orient = f2sl.MMPC(alpha=0.2, symmetry="and"), f2sl.ByTests(alpha=0.001)
    model = clone(f2sl.LocalToGlobal(alpha=0.01, local=local, orient=orient)).fit(table)
    assert model.local_learner_.alpha == 0.2
    assert model.local_learner_.symmetry == "none"  # the learner joins the sets itself
    assert local.symmetry == "and"
    assert model.orient.get_params() == orient.get_params()


@pytest.mark.parametrize(
    ("options", "messages"),
    [
        ({"local": "fcbf"}, ["local must be a learner of neighbors"]),
        ({"local": f2sl.IAMB()}, ["local must be a learner of neighbors"]),
        (
            {"local": f2sl.FCBF(), "pc_options": {"delta": 0.1}},
            ["pc_options are for the learner that pc names"],
        ),
        ({"local": f2sl.FCBF(delta=-1), "orient": f2sl.ByTests(alpha=2)}, ["delta must be", "alpha must be"]),
        ({"orient": 3}, ["orient must be one of 'ci', 'score', or an f2sl.ByTests"]),
        ({"local": f2sl.FCBF(knowledge=f2sl.Knowledge(roots=["a"]))}, ["local must not contain knowledge"]),
    ],
)
def test_wrong_parts_are_refused(options, messages, table):
    with pytest.raises(OptionError) as caught:
        f2sl.LocalToGlobal(**options).fit(table)
    assert all(message in str(caught.value) for message in messages)


def test_a_learner_of_ones_own_is_a_composition(table):
    class Mine(StructureLearner):
        def _learn(self, fit: Fit):
            local = f2sl.HITONPC(symmetry="none")
            return local_to_global(fit, local, f2sl.ByScore(), symmetry="and", skeleton_only=False)

    expected = f2sl.LocalToGlobal(local=f2sl.HITONPC(), orient=f2sl.ByScore()).fit(table)
    model = Mine().fit(table)
    assert model.graph_ == expected.graph_
    assert model.score_ == expected.score_


@pytest.mark.parametrize("registry", REGISTRIES)
def test_few_classes_are_above_each_learner(registry):
    for entry in registry:
        ours = [one for one in entry.load().__mro__ if one.__module__.startswith("f2sl.")]
        assert len(ours) <= 3, f"{entry.name}: {[one.__name__ for one in ours]}"
