"""Bayesian networks with their probabilities: truth to sample data from.

==================== =========================================================================
``bayesian_network`` the class: a DAG with a table for each variable; ``checks`` what it is made of
``sampling``         rows, the same from the same seed on every machine
``fitting``          tables from data
``likelihood``       how probable data are; ``counts`` how often states occur together in them
``files``            BIF files, by ``bif_tokens``, ``bif_parser``, ``bif_reader`` and ``bif_writer``
``gaussian``         the class for real variables; ``normal`` its deviates, ``gaussian_files`` JSON
``bundled``          the networks of the Bayesian Network Repository, and ``gene-like``
``random``           networks drawn at random, by the choices of ``draws``; ``random_tables`` and
                     ``random_coefficients`` what their edges mean
``tiling``           large networks from copies of a small one, by the same
==================== =========================================================================
"""

from f2sl.network.bayesian_network import BayesianNetwork as BayesianNetwork
from f2sl.network.bundled import NETWORKS as NETWORKS
from f2sl.network.bundled import load_network as load_network
from f2sl.network.gaussian import GaussianNetwork as GaussianNetwork
from f2sl.network.random import random_network as random_network
from f2sl.network.tiling import tile as tile
