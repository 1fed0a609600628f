"""F2SL-h in parts: each of its changes to F2SL may be left out.

======================  ================================  ==========================================
part                    F2SL-h                            without
======================  ================================  ==========================================
``significance``        pairs are relevant by a test      by SU > 0.05
``confirmed``           a redundant neighbour goes if a   by comparing SU alone
                        test confirms it
``or``                  one end of an edge names the      both do
                        other
``orders``              search over orders                tabu hill climbing, from the same starts
``edge cost``           edges cost log(variables)         log(11), as in F2SL-s
``prior``               BDeu's prior weighs more where    it weighs 10 samples, as in F2SL-s
                        there are many states
======================  ================================  ==========================================
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

from f2sl.local.base import LOCAL
from f2sl.local.fcbf import FCBF, relevance_graph
from f2sl.stats.choose import related_pairs
from f2sl.structure.base import STRUCTURE

PARTS = ("significance", "confirmed", "or", "orders", "edge cost", "prior")
DELTA = 0.05


def with_parts(parts: Collection[str]) -> Any:
    """Make an F2SL-h that has only some of its parts; an OptionError where f2sl has no F2SL-h."""
    whole, confirmed = STRUCTURE.load("f2sl-h"), LOCAL.load("fcbf-confirmed")

    class Candidates(confirmed):  # type: ignore[misc]
        def relevant(self, engine: Any) -> Any:
            if "significance" in parts:
                return super().relevant(engine)
            return relevance_graph(engine.n_variables, related_pairs(engine, DELTA, self.measure)())

        def find_all(self, relevant: Any, test: Any) -> Any:
            if "confirmed" in parts:
                return super().find_all(relevant, test)
            return FCBF(ties=self.ties, measure=self.measure).select(relevant)

    class Partly(whole):  # type: ignore[misc]
        def _local_learner(self) -> Any:
            return Candidates(**super()._local_learner().get_params())

    return Partly(
        symmetry="or" if "or" in parts else "and",
        search="orders" if "orders" in parts else "hill-climbing",
        edge_cost=None if "edge cost" in parts else math.log(11.0),
        equivalent_sample_size=None if "prior" in parts else 10.0,
    )
