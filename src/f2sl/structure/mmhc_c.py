"""MMHC-c: the skeleton of MMHC, directions from independence tests (section 6.1 of the F2SL paper)."""

from __future__ import annotations

from f2sl.structure.local_to_global import OrientedByTests
from f2sl.structure.mmhc import WithMMPC


class MMHCc(OrientedByTests, WithMMPC):
    """Learn a partially directed graph: MMPC, symmetry, FindVstructure, Meek's rules.

    Attributes
    ----------
    graph_, skeleton_, pc_, separating_sets_, v_structures_, n_tests_, n_unreliable_
        As in :class:`F2SLc`.

    Examples
    --------
    >>> import f2sl
    >>> sorted(f2sl.MMHCc().fit(f2sl.load_example("asia")).graph_.adjacent("smoke"))
    ['bronc', 'lung']
    """
