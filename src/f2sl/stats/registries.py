"""Tests, scores and measures by name, and their common base class.

Each is an object that stores its options and no data, such as
``BDeu(equivalent_sample_size=1.0)``. Learners take such an object or a registered name. Every one is listed
here once, in the order in which names are offered; ``"auto"`` is the first for the kind of columns.
Nothing is imported before it is used.

To add one of your own, derive it from :class:`f2sl.CITest`, :class:`f2sl.Score` or :class:`f2sl.Measure`,
write the one method that is required, and pass an object of it, or register the class to call it by a name:

>>> class Chance(Configured):
...     def __init__(self, random_state=0):
...         self.random_state = random_state
>>> Chance(3), Chance(3) == Chance(3), Chance(3) == Chance(4)
(Chance(random_state=3), True, False)
"""

from __future__ import annotations

from f2sl._registry import Registry
from f2sl.data.column import CONTINUOUS, DISCRETE, MIXED, wrong_kinds


class Configured:
    """Base of tests, scores and measures: objects that hold options and nothing else.

    They are equal if they have the same class and equal options, so copies and pickles equal the original.
    `kinds` lists the kinds of columns they accept, `_requires` the method that a derived class must have.
    """

    kinds: tuple[str, ...] = (DISCRETE,)
    _requires: str

    @classmethod
    def _wrong_attribute(cls) -> str | None:
        """Return an error message for a wrong class attribute, or None."""
        return wrong_kinds(f"{cls.__name__}.kinds", cls.kinds)

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({options})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self)))


CI_TESTS = Registry("independence test", "f2sl.stats.tests.base:CITest")
CI_TESTS.add(
    "g2",
    "f2sl.stats.tests.g2:G2",
    "likelihood-ratio test on contingency tables",
    "Wilks 1938",
    kinds=(DISCRETE,),
)
CI_TESTS.add(
    "x2",
    "f2sl.stats.tests.g2:X2",
    "Pearson's chi-squared test on contingency tables",
    "Pearson 1900",
    kinds=(DISCRETE,),
)
CI_TESTS.add(
    "fisher-z",
    "f2sl.stats.tests.fisher_z:FisherZ",
    "Fisher's z test of partial correlations",
    "Fisher 1924",
    kinds=(CONTINUOUS,),
)
CI_TESTS.add(
    "dg",
    "f2sl.stats.tests.mixed:DegenerateGaussian",
    "likelihood-ratio test of numbers and states' indicators",
    "Andrews, Ramsey and Cooper 2019",
    kinds=(MIXED,),
)
CI_TESTS.add(
    "cg",
    "f2sl.stats.tests.mixed:ConditionalGaussian",
    "likelihood-ratio test of numbers that are normal given the states",
    "Andrews, Ramsey and Cooper 2018",
    kinds=(MIXED,),
)

SCORES = Registry("score", "f2sl.stats.scores.base:Score")
SCORES.add(
    "bdeu",
    "f2sl.stats.scores.tables:BDeu",
    "marginal likelihood under Dirichlet priors that equivalent networks share",
    "Heckerman, Geiger and Chickering 1995",
    kinds=(DISCRETE,),
    sets=True,
)
SCORES.add(
    "bds",
    "f2sl.stats.scores.tables:BDs",
    "marginal likelihood under Dirichlet priors over the parents' configurations that occur",
    "Scutari 2016",
    kinds=(DISCRETE,),
)
SCORES.add(
    "k2",
    "f2sl.stats.scores.tables:K2",
    "marginal likelihood under uniform Dirichlet priors",
    "Cooper and Herskovits 1992",
    kinds=(DISCRETE,),
)
SCORES.add(
    "bic",
    "f2sl.stats.scores.tables:BIC",
    "maximum log likelihood less log(N) / 2 for each parameter",
    "Schwarz 1978",
    kinds=(DISCRETE,),
    sets=True,
)
SCORES.add(
    "aic",
    "f2sl.stats.scores.tables:AIC",
    "maximum log likelihood less 1 for each parameter",
    "Akaike 1974",
    kinds=(DISCRETE,),
)
SCORES.add(
    "bge",
    "f2sl.stats.scores.gaussian:BGe",
    "marginal likelihood under a normal-Wishart prior",
    "Geiger and Heckerman 2002; Kuipers, Moffa and Heckerman 2014",
    kinds=(CONTINUOUS,),
)
SCORES.add(
    "bic-g",
    "f2sl.stats.scores.gaussian:GaussianBIC",
    "maximum log likelihood of linear Gaussian families less log(N) / 2 for each parameter",
    "Schwarz 1978",
    kinds=(CONTINUOUS,),
)
SCORES.add(
    "dg-bic",
    "f2sl.stats.scores.mixed:DegenerateGaussianBIC",
    "maximum log likelihood of numbers and states' indicators, less log(N) / 2 for each parameter",
    "Andrews, Ramsey and Cooper 2019",
    kinds=(MIXED,),
)
SCORES.add(
    "cg-bic",
    "f2sl.stats.scores.mixed:ConditionalGaussianBIC",
    "maximum log likelihood of numbers that are normal given the states, less log(N) / 2 for each parameter",
    "Andrews, Ramsey and Cooper 2018",
    kinds=(MIXED,),
)

MEASURES = Registry("measure", "f2sl.stats.measures.base:Measure")
MEASURES.add(
    "su",
    "f2sl.stats.measures.pairs:SU",
    "symmetrical uncertainty",
    "Press and others 1988",
    kinds=(DISCRETE,),
    unit="SU",
)
MEASURES.add(
    "r2",
    "f2sl.stats.measures.pairs:R2",
    "squared correlation",
    "Pearson 1896",
    kinds=(CONTINUOUS,),
    unit="r^2",
)
MEASURES.add(
    "correlation",
    "f2sl.stats.measures.pairs:Correlation",
    "correlation without its sign",
    "Pearson 1896",
    kinds=(CONTINUOUS,),
    unit="|r|",
)
MEASURES.add(
    "information",
    "f2sl.stats.measures.pairs:Explained",
    "1 - exp(-2 MI), which is r^2 of two numbers",
    "Joe 1989",
    kinds=(DISCRETE, CONTINUOUS, MIXED),
    unit="1 - exp(-2 MI)",
)
MEASURES.add(
    "mi",
    "f2sl.stats.measures.pairs:MI",
    "mutual information in nats",
    "Shannon 1948",
    kinds=(DISCRETE, CONTINUOUS, MIXED),
    unit="MI in nats",
)
