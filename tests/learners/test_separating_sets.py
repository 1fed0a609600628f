"""Separating sets in arrays behave like the dictionary that they stand for."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from f2sl.learners.local.separating_sets import Collected

N = 6
NAMES = ("a", "b", "c", "d", "e", "f")
found = st.lists(
    st.tuples(st.permutations(range(N)), st.integers(0, 3)).map(
        lambda drawn: (*sorted(drawn[0][:2]), tuple(drawn[0][2 : 2 + drawn[1]]))
    ),
    max_size=12,
)


def collected(parts):
    """Add sets part by part, one at a time; all pairs of a part come before those of the next."""
    collect = Collected(N)
    for part in parts:
        for a, d, members in part:
            collect.add(np.array([a]), np.array([d]), np.array([members], np.int64).reshape(1, -1))
        collect.end_part()
    return collect.finish()


def in_a_dictionary(parts):
    sets = {}
    for part in parts:
        for a, d, members in part:
            sets.setdefault((a, d), members)
    return sets


@given(found, st.integers(0, N))
def test_like_a_dictionary(sets, border):
    parts = [[s for s in sets if s[0] < border], [s for s in sets if s[0] >= border]]
    expected = in_a_dictionary(parts)
    given_sets = collected(parts)
    assert given_sets == expected
    assert list(given_sets) == sorted(expected)
    for a in range(N):
        for d in range(N):
            assert given_sets.get((a, d)) == expected.get((a, d))
    named = given_sets.named(NAMES)
    assert named == {
        (NAMES[a], NAMES[d]): tuple(NAMES[m] for m in members) for (a, d), members in expected.items()
    }
    assert pickle.loads(pickle.dumps(named)) == named


@pytest.mark.parametrize("stranger", [("a", "x"), ("", "b"), ("b", "a"), "a", ("a", "b", "c"), None, (0, 1)])
def test_what_is_no_pair_of_them_is_not_in_them(stranger):
    named = collected([[(0, 1, (2,))]]).named(NAMES)
    assert named["a", "b"] == ("c",)
    assert stranger not in named
    with pytest.raises(KeyError):
        named[stranger]
    assert repr(named) == "SeparatingSets({('a', 'b'): ('c',)})"
    many = collected([[(0, d, ()) for d in range(1, 6)] + [(1, 2, (3,))]])
    assert repr(many).endswith("(0, 5): (), ...; 6 pairs})")
