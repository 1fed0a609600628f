"""mRMR: against the naive algorithm, and a choice derived by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from f2sl import MRMR, OptionError
from tables import make_engine, random_codes, related_codes

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize("measure", ["mi", "su"])
@given(
    random_state=st.integers(0, 2**32 - 1),
    n_rows=st.integers(2, 120),
    n_variables=st.integers(2, 8),
    k=st.integers(1, 9),
)
def test_all_and_one_and_naive_agree(measure, random_state, n_rows, n_variables, k):
    codes = related_codes(random_state, n_rows, n_variables)
    engine = make_engine(codes)
    matrix = naive.all_pairs(codes, measure)
    learner = MRMR(k=k, measure=measure)
    sets = learner.learn_all(engine)
    for target in range(n_variables):
        members, strengths = sets.of(target)
        assert members.tolist() == naive.mrmr(matrix, target, k)
        assert strengths.tolist() == pytest.approx([matrix[target][v] for v in members], abs=1e-9)
        alone = learner.learn_one(engine, target)
        assert (alone.members.tolist(), alone.strengths.tolist()) == (members.tolist(), strengths.tolist())


def test_a_copy_is_passed_over_for_something_new():
    # The target is two coins read together; 1 is a coin, 2 its copy, 3 the other coin.
    first, second = np.repeat([0, 1], 8), np.tile([0, 1], 8)
    codes = np.stack([2 * first + second, first, 1 - first, second])
    engine = make_engine(codes)
    # All three tell log 2 of the target. 1 comes first by name; then 2 has merit 0 and 3 has log 2.
    assert MRMR(k=2).learn_one(engine, 0).members.tolist() == [1, 3]
    assert MRMR(k=3).learn_one(engine, 0).members.tolist() == [1, 3, 2]


def test_never_more_than_there_are_others():
    assert MRMR(k=5).learn_all(make_engine(random_codes(0, 9, [2]), [2])).members.tolist() == []
    sets = MRMR(k=5).learn_all(make_engine(random_codes(0, 9, [2, 1]), [2, 1]))
    assert sets.members.tolist() == [1, 0]


@pytest.mark.parametrize("options", [{"k": 0}, {"k": 1.5}, {"measure": "gini"}])
def test_options_that_make_no_sense_are_refused(options):
    with pytest.raises(OptionError, match=next(iter(options))):
        MRMR(**options).check_options()
    MRMR().check_options()
