"""The local learners by independence tests, like the naive algorithms on data."""

from functools import partial

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import f2sl
import naive_local
from f2sl import OptionError
from f2sl.learners.local import bamb, lockstep, subset_search
from f2sl.learners.local.base import Neighborhood
from f2sl.learners.registries import LOCAL, MARKOV_BLANKET
from f2sl.stats.answers import DEPENDENT, Answers
from marks import compiled_only, few_examples
from naive_local import asker
from oracle import RandomAnswers
from tables import make_engine, related_codes

pytestmark = pytest.mark.kernels

PC = {
    "mmpc": naive_local.mmpc,
    "hiton-pc": naive_local.hiton_pc,
    "pc-simple": naive_local.pc_simple,
}
BLANKET = {
    "gsmb": naive_local.gsmb,
    "iamb": naive_local.iamb,
    "inter-iamb": naive_local.inter_iamb,
    "mmmb": partial(naive_local.by_neighbors, naive_local.mmpc),
    "hiton-mb": partial(naive_local.by_neighbors, naive_local.hiton_pc),
    "pcmb": partial(naive_local.by_neighbors, naive_local.get_pcd),
    "stmb": naive_local.stmb,
    "bamb": lambda *problem: naive_local.NaiveBAMB(*problem).blanket,
}
TESTING = [*PC, *BLANKET]
WEAKEST = ["mmpc", "gsmb", "iamb", "inter-iamb"]
"""The learners whose members are as strong as the weakest dependence that was found of them."""

problems = {
    "random_state": st.integers(0, 2**32 - 1),
    "n_rows": st.sampled_from([25, 60, 150, 400]),
    "n": st.integers(2, 7),
    "k": st.sampled_from([None, 0, 1, 2, 3]),
    "alpha": st.sampled_from([0.01, 0.2]),
    "name": st.sampled_from(["g2", "x2"]),
}


def learner_of(name, **options):
    registry = LOCAL if name in LOCAL else MARKOV_BLANKET
    learner = registry.create(name, options)
    learner.check_options()
    return learner


def check_sets(sets, ask, alpha, least=None):
    """What is promised of all results: order, strengths, and separating sets that separate."""
    n = len(sets.start) - 1
    for v in range(n):
        members, strengths = sets.of(v)
        assert v not in members
        assert len(set(members.tolist())) == len(members)
        assert (np.diff(strengths) <= 0).all()
        assert (strengths >= (-np.log10(alpha) - 1e-9 if least is None else least)).all()
    for (v, w), given_set in sets.separating_sets.items():
        assert w not in sets.of(v)[0]
        assert ask(v, w, given_set)[0] == "independent"


@pytest.mark.parametrize("learner", PC)
@given(**problems, symmetry=st.sampled_from(["none", "and"]))
def test_parents_and_children_are_the_naive_ones(learner, random_state, n_rows, n, k, alpha, name, symmetry):
    codes = related_codes(random_state, n_rows, n, most_states=3)
    ask = asker(codes, alpha, name)
    expected = [PC[learner](n, v, ask, k)[0] for v in range(n)]
    if symmetry == "and":
        expected = naive_local.mutual(expected)
    learn = learner_of(learner, alpha=alpha, max_cond_vars=k, ci_test=name, symmetry=symmetry)
    sets = learn.learn_all(make_engine(codes))
    assert [sorted(sets.of(v)[0].tolist()) for v in range(n)] == [sorted(e) for e in expected]
    check_sets(sets, ask, alpha, least=0.0 if learner == "pc-simple" else None)


@pytest.mark.parametrize("learner", BLANKET)
@given(**problems)
def test_blankets_are_the_naive_ones(learner, random_state, n_rows, n, k, alpha, name):
    codes = related_codes(random_state, n_rows, n, most_states=3)
    ask = asker(codes, alpha, name)
    learn = learner_of(learner, alpha=alpha, max_cond_vars=k, ci_test=name)
    sets = learn.learn_all(make_engine(codes))
    for v in range(n):
        assert set(sets.of(v)[0].tolist()) == set(BLANKET[learner](n, v, ask, k))
    check_sets(sets, ask, alpha)


# In these, several sets separate a descendant from a target of STMB, and the first of them counts.
@example(random_state=15, n=7, k=3, independent=0.25)
@example(random_state=23, n=7, k=3, independent=0.1)
@pytest.mark.parametrize("learner", [name for name in TESTING if name != "hiton-mb"])
@given(
    random_state=st.integers(0, 2**32 - 1),
    n=st.integers(2, 7),
    k=st.sampled_from([None, 1, 2, 3]),
    independent=st.sampled_from([0.02, 0.1, 0.4]),
)
def test_on_answers_that_contradict_each_other(learner, random_state, n, k, independent):
    # Not HITON-MB: what it finds to separate a variable need not be what would be found first on its turn.
    test = RandomAnswers(n, random_state, independent)
    sets = learner_of(learner, max_cond_vars=k).find_all(test)
    if learner in PC:
        expected = naive_local.mutual([PC[learner](n, v, test.word, k)[0] for v in range(n)])
    else:
        expected = [BLANKET[learner](n, v, test.word, k) for v in range(n)]
    assert [set(sets.of(v)[0].tolist()) for v in range(n)] == [set(members) for members in expected]


@pytest.mark.parametrize("learner", WEAKEST)
@given(random_state=st.integers(0, 2**32 - 1), n=st.integers(3, 7), k=st.sampled_from([None, 1, 2, 3]))
def test_a_member_is_as_strong_as_its_weakest_dependence(learner, random_state, n, k):
    test = RandomAnswers(n, random_state, independent=0.1)
    sets = learner_of(learner, max_cond_vars=k).find_all(test)
    for v in range(n):
        found = (PC | BLANKET)[learner](n, v, test.word, k)
        weakest = found[0] if learner in PC else found
        members, strengths = (part.tolist() for part in sets.of(v))
        assert dict(zip(members, strengths, strict=True)) == {m: weakest[m] for m in members}


def test_a_spouse_is_as_strong_as_any_common_child_shows():
    """0 and 3 have the children 1 and 2: given 1 they depend on each other more surely than given 2."""
    near = {0: [1, 2], 1: [0, 3], 2: [0, 3], 3: [1, 2]}
    known = {v: Neighborhood(np.array(members), np.ones(2)) for v, members in near.items()}
    known[0].separating_sets[3] = ()
    blankets = MARKOV_BLANKET.create("mmmb", {})._blankets(None)
    blankets.known.update(known)
    search = blankets.of_one(0)
    assert [question.given.tolist() for question in next(search)] == [[[1]], [[2]]]
    with pytest.raises(StopIteration) as end:
        search.send(
            [Answers(*(np.array([part]) for part in (DEPENDENT, 0.0, 9.0, sure))) for sure in (5.0, 2.0)]
        )
    found = end.value.value
    assert dict(zip(found.members.tolist(), found.strengths.tolist(), strict=True)) == {
        1: 1.0,
        2: 1.0,
        3: 5.0,
    }


@pytest.mark.parametrize("learner", ["mmpc", "hiton-pc", "pcmb"])
def test_sets_too_large_for_a_reliable_test_are_not_asked_about(learner):
    """Of 150 rows of two-state variables, tests given two others are reliable, and given three are not."""
    rng = np.random.default_rng(0)
    hub = rng.integers(0, 2, 150)
    codes = [hub, *(np.where(rng.random(150) < 0.2, 1 - hub, hub) for _ in range(6))]
    registry = LOCAL if learner in LOCAL else MARKOV_BLANKET
    found = registry.create(learner, {"max_cond_vars": None}).learn_all(make_engine(codes))
    assert len(found.of(0)[0]) == 5
    assert found.n_inconclusive == 0


def test_a_spouse_of_bamb_is_as_strong_as_any_member_makes_it():
    members = np.array([1, 2, 3])
    spouses = {1: {5: 2.0, 6: 4.0}, 2: {5: 3.0}, 3: {6: 1.0}}
    blanket = bamb._Blanket(RandomAnswers(7, 0, 0.1), 0, None, None, {}, members, spouses)
    assert blanket.all_spouses() == {5: 3.0, 6: 4.0}


@pytest.mark.parametrize("learner", TESTING)
@few_examples
@given(random_state=st.integers(0, 2**32 - 1), n_rows=st.sampled_from([60, 400]), n=st.integers(2, 9))
def test_one_and_all_and_any_threads_and_batches_agree(learner, random_state, n_rows, n):
    codes = related_codes(random_state, n_rows, n, most_states=3)
    learn = learner_of(learner)
    sets = learn.learn_all(make_engine(codes))
    check_sets(sets, asker(codes, 0.01, "g2"), 0.01, least=0.0 if learner == "pc-simple" else None)
    for target in range(n):
        alone = learn.learn_one(make_engine(codes), target)
        members, strengths = sets.of(target)
        assert alone.members.tolist() == members.tolist()
        assert alone.strengths.tolist() == strengths.tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lockstep, "QUESTIONS_PER_BATCH", 3)
        patch.setattr(subset_search, "QUESTIONS_AT_ONCE", 5)
        again = learn.learn_all(make_engine(codes, n_jobs=2))
    assert again.members.tobytes() == sets.members.tobytes()
    assert again.strengths.tobytes() == sets.strengths.tobytes()
    assert again.separating_sets == sets.separating_sets


@pytest.mark.parametrize("learner", TESTING)
def test_the_order_of_rows_and_states_changes_nothing(learner):
    codes = related_codes(8, 300, 9)
    rng = np.random.default_rng(0)
    moved = np.stack([rng.permutation(row.max() + 1)[row] for row in codes[:, rng.permutation(300)]])
    one, other = (learner_of(learner).learn_all(make_engine(c)) for c in (codes, moved))
    assert one.members.tobytes() == other.members.tobytes()
    assert one.strengths.tobytes() == other.strengths.tobytes()


@pytest.mark.parametrize("learner", TESTING)
def test_too_few_samples_and_constants_make_no_edges(learner):
    codes = np.array([[0, 1, 0, 1], [0, 1, 0, 1], [0, 0, 0, 0]])
    sets = learner_of(learner).learn_all(make_engine(codes, [2, 2, 1]))
    if learner == "pc-simple":  # it keeps what cannot be tested
        assert sets.start.tolist() == [0, 2, 4, 6]
    else:
        assert sets.members.tolist() == []
    assert sets.n_inconclusive > 0


@pytest.mark.parametrize("learner", TESTING)
@pytest.mark.parametrize(
    ("options", "message"),
    [({"alpha": 0}, "alpha"), ({"max_cond_vars": -1}, "max_cond_vars"), ({"ci_test": "t"}, "ci_test")],
)
def test_options_that_make_no_sense_are_refused(learner, options, message):
    with pytest.raises(OptionError, match=message):
        learner_of(learner, **options)


@pytest.mark.parametrize("learner", ["mmpc", "hiton-pc", "pc-simple", "mmmb", "hiton-mb"])
def test_symmetry_is_and_or_none(learner):
    with pytest.raises(OptionError, match="symmetry"):
        learner_of(learner, symmetry="or")


@compiled_only
@pytest.mark.parametrize("learner", TESTING)
def test_on_alarm(learner):
    table = f2sl.load_example("alarm")
    learn = f2sl.learn_pc if learner in PC else f2sl.learn_mb
    truth = f2sl.load_network("alarm")
    found = learn(table, "HR", algorithm=learner)
    expected = truth.graph.neighbors("HR") if learner in PC else truth.markov_blanket("HR")
    assert len(set(found) & set(expected)) >= 4
    # STMB's last step conditions on all at once, for which these samples are too few.
    assert len(set(found) - set(expected)) <= (6 if learner == "stmb" else 1)
