"""Tests, scores and measures by name, and what their base classes have in common.

Each is an object that stores its options and no data, such as
``BDeu(equivalent_sample_size=1.0)``. Learners take such an object or a registered name. Every one is listed
here once, in the order in which names are offered; ``"auto"`` is the first for the kind of columns.
Nothing is imported before it is used.

To add one of your own, derive it from :class:`f2sl.CITest`, :class:`f2sl.Score` or :class:`f2sl.Measure`,
write the one method that is required, and pass an object of it, or register the class to call it by a name:

>>> @configured
... class Chance:
...     def __init__(self, random_state=0):
...         self.random_state = random_state
>>> Chance(3), Chance(3) == Chance(3), Chance(3) == Chance(4)
(Chance(random_state=3), True, False)
"""

from __future__ import annotations

from typing import Any, TypeVar

from f2sl._registry import Registry
from f2sl.data.column import wrong_kinds

Base = TypeVar("Base")


def configured(base: type[Base]) -> type[Base]:
    """Make a class the base of objects that hold options and nothing else: tests, scores or measures.

    They are equal if they have the same class and equal options, so copies and pickles equal the original.
    `kinds` lists the kinds of columns they accept, `_requires` the method that a derived class must have.
    """

    def wrong_attribute(cls: Any) -> str | None:
        return wrong_kinds(f"{cls.__name__}.kinds", cls.kinds)

    def written(self: object) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({options})"

    def is_equal(self: object, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def hash_of(self: object) -> int:
        return hash((type(self), *vars(self)))

    methods = {"__repr__": written, "__eq__": is_equal, "__hash__": hash_of}
    for name, method in {**methods, "_wrong_attribute": classmethod(wrong_attribute)}.items():
        setattr(base, name, method)
    return base


CI_TESTS = Registry("independence test", "f2sl.stats.tests.base:CITest")
CI_TESTS.add_all(
    "f2sl.stats.tests",
    """
g2        g2:G2                         kinds=discrete  Wilks 1938
    likelihood-ratio test on contingency tables
x2        g2:X2                         kinds=discrete  Pearson 1900
    Pearson's chi-squared test on contingency tables
fisher-z  fisher_z:FisherZ              kinds=continuous  Fisher 1924
    Fisher's z test of partial correlations
dg        mixed:DegenerateGaussian      kinds=mixed  Andrews, Ramsey and Cooper 2019
    likelihood-ratio test of continuous columns and indicators of states
cg        mixed:ConditionalGaussian     kinds=mixed  Andrews, Ramsey and Cooper 2018
    likelihood-ratio test of continuous columns that are normal given the states
""",
)

SCORES = Registry("score", "f2sl.stats.scores.base:Score")
SCORES.add_all(
    "f2sl.stats.scores",
    """
bdeu      tables:BDeu                   kinds=discrete sets=yes  Heckerman, Geiger and Chickering 1995
    marginal likelihood under Dirichlet priors that equivalent networks share
bds       tables:BDs                    kinds=discrete  Scutari 2016
    marginal likelihood under Dirichlet priors over the parents' configurations that occur
k2        tables:K2                     kinds=discrete  Cooper and Herskovits 1992
    marginal likelihood under uniform Dirichlet priors
bic       tables:BIC                    kinds=discrete sets=yes  Schwarz 1978
    maximum log likelihood less log(N) / 2 for each parameter
aic       tables:AIC                    kinds=discrete  Akaike 1974
    maximum log likelihood less 1 for each parameter
bge  gaussian:BGe  kinds=continuous  Geiger and Heckerman 2002; Kuipers, Moffa and Heckerman 2014
    marginal likelihood under a normal-Wishart prior
bic-g     gaussian:GaussianBIC          kinds=continuous  Schwarz 1978
    maximum log likelihood of linear Gaussian families less log(N) / 2 for each parameter
dg-bic    mixed:DegenerateGaussianBIC   kinds=mixed  Andrews, Ramsey and Cooper 2019
    maximum log likelihood of continuous columns and indicators of states, less log(N) / 2 for each parameter
cg-bic    mixed:ConditionalGaussianBIC  kinds=mixed  Andrews, Ramsey and Cooper 2018
    maximum log likelihood of columns that are normal given the states, less log(N) / 2 for each parameter
""",
)

MEASURES = Registry("measure", "f2sl.stats.measures.base:Measure")
MEASURES.add_all(
    "f2sl.stats.measures",
    """
su           pairs:SU           kinds=discrete  Press and others 1988
    symmetrical uncertainty
r2           pairs:R2           kinds=continuous  Pearson 1896
    squared correlation
correlation  pairs:Correlation  kinds=continuous  Pearson 1896
    correlation without its sign
information  pairs:Explained    kinds=discrete,continuous,mixed  Joe 1989
    1 - exp(-2 MI), which is r^2 of two continuous variables
mi           pairs:MI           kinds=discrete,continuous,mixed  Shannon 1948
    mutual information in nats
""",
)
