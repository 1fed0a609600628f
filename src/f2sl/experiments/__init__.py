"""The experiments of the F2SL paper, and their data.

:func:`reproduce` runs what is missing in a folder of results, :func:`report` shows what is there.

======================================  ==================================================================
:mod:`~f2sl.experiments.settings`       networks, sizes, learners and their options
``reproduction``                        all of it in one call
``sources``, ``supplement``             the paper's data, or samples of the bundled networks
``plan``                                which units there are, and in which order
``worker``                              how a unit is run and measured
``harness``                             runs units, or the jobs of benchmarks, in processes with limits
``store``                               the file of results
``paper``                               the paper's own figures
``reporting``                           tables, figures and the page in one call
``results``                             units put together into cells: means and deviations
``tables``, ``figures``, ``claims``     what the paper shows and claims, from our cells
``differences``                         what differs from the paper and why
``page``, ``table_text``                how all this is written down
======================================  ==================================================================
"""

from f2sl.experiments.reporting import report
from f2sl.experiments.reproduction import Summary, reproduce

__all__ = ["Summary", "report", "reproduce"]
