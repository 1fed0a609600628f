"""Bayesian networks with their probabilities, to sample data from and to query.

==================== =========================================================================
``bayesian_network`` the class: a DAG with a table or an equation for each variable; ``checks`` what
                     these are made of
``gaussian``         the class for continuous variables alone
``sampling``         rows, the same from the same seed on every machine, and the choices of random networks
``fitting``          tables and equations from data, and how probable data are; ``counts`` what data have of
                     a variable and its parents
``formats``          network files, a module for each format
``inference``        queries and most probable explanations; ``elimination`` the latter of discrete ones;
                     ``predicting`` queries of each row of a table
``convert``          networks as those of pgmpy and pyAgrum, one variable's parameters as a data frame
``bundled``          the networks of the Bayesian Network Repository, and ``gene-like``
``random``           networks drawn at random
``variants``         large networks from copies of a small one; some variables observed as continuous
==================== =========================================================================
"""

from f2sl.network.bayesian_network import BayesianNetwork as BayesianNetwork
from f2sl.network.bundled import NETWORKS as NETWORKS
from f2sl.network.bundled import load_network as load_network
from f2sl.network.checks import Equation as Equation
from f2sl.network.gaussian import GaussianNetwork as GaussianNetwork
from f2sl.network.random import random_network as random_network
from f2sl.network.variants import observed_as_continuous as observed_as_continuous
from f2sl.network.variants import tile as tile
