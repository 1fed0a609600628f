"""Confidence of a learned graph: learn again and again from resampled rows, and count.

The *confidence* of an edge is the share of the replicates that have it. The confidence of a direction is the
share that has the edge and points it that way. :func:`bootstrap` makes a :class:`Confidence`, with the
averaged graph.

============  ===================================================================
``bootstrap`` the call: checks, opens the table, runs, counts
``resample``  which rows a replicate has, and what is learned from them
``workers``   replicates in this process, in several, or as tasks of a Dask cluster
``journal``   finished replicates in a file, so that a killed run loses none
``average``   the threshold, the averaged graph, the bound on false edges
``result``    the object returned, and its file
============  ===================================================================
"""

from f2sl.confidence.bootstrap import bootstrap
from f2sl.confidence.result import Confidence

__all__ = ["Confidence", "bootstrap"]
