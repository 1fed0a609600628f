"""Learners that are asked for the skeleton alone: the one they would orient, and nothing oriented."""

from __future__ import annotations

import pytest

import f2sl
from f2sl import OptionError
from f2sl.learners.registries import STRUCTURE

LEARNERS = {
    entry.name: STRUCTURE.load(entry.name)
    for entry in STRUCTURE
    if "skeleton_only" in STRUCTURE.load(entry.name).option_defaults()
}


def test_who_can_end_with_the_skeleton():
    assert set(LEARNERS) == {"f2sl-c", "f2sl-s", "f2sl-h", "mmhc", "mmhc-c", "local-to-global"}


@pytest.mark.parametrize("name", LEARNERS)
def test_the_skeleton_is_the_one_that_would_be_oriented(name):
    data = f2sl.load_example("asia")
    whole, alone = LEARNERS[name]().fit(data), LEARNERS[name](skeleton_only=True).fit(data)
    assert type(alone.graph_) is f2sl.PDAG
    assert len(alone.graph_.directed_array) == 0
    assert alone.graph_ == alone.skeleton_ == whole.skeleton_
    assert alone.graph_.weights == whole.skeleton_.weights
    assert alone.pc_ == whole.pc_
    assert "orientation" not in alone.timings_
    assert not hasattr(alone, "v_structures_")
    assert not hasattr(alone, "score_")


def test_any_learner_of_neighbors_will_do():
    data = f2sl.load_example("asia")
    model = f2sl.learn(data, "local-to-global", pc="hiton-pc", skeleton_only=True)
    assert model.graph_ == model.skeleton_
    assert model.n_tests_ > 0
    assert model.separating_sets_


def test_it_is_a_flag():
    with pytest.raises(OptionError, match="skeleton_only"):
        f2sl.F2SLc(skeleton_only="yes").fit(f2sl.load_example("asia"))
