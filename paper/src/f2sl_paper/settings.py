"""Settings of the experiments: networks, sizes, learners and their options, all in one place.

Options *as in the paper* are those that reproduce the figures of its tables, where its text leaves them open
(docs/evidence/reproduction.md explains how each was found). All independence tests are G2 tests at 0.01 with
at most three variables in a conditioning set. *f2sl's defaults* are run as well, for the learners where they
differ: edges that tie are dropped, and both ends of an edge must name each other.

>>> options_of("f2sl-s", PAPER)["symmetry"], options_of("f2sl-s", DEFAULT)
('or', {})
>>> settings_of("gsbn"), len(settings_of("fcbf"))
(('paper',), 13)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Network(NamedTuple):
    """Network of the paper's table 1."""

    title: str
    """Name in the paper."""
    bundled: str
    """The bundled network that data are sampled from where the paper's own are not at hand."""


NETWORKS = {
    "mildew": Network("Mildew", "mildew"),
    "hailfinder": Network("Hailfinder", "hailfinder"),
    "munin": Network("Munin", "munin1"),
    "pigs": Network("Pigs", "pigs"),
    "link": Network("Link", "link"),
    "gene": Network("Gene", "gene-like"),
}
"""Networks in the order of the paper's tables, by number of variables."""

SIZES = (500, 1000)
"""Rows of a data set."""
SETS = 10
"""Data sets of each network and size."""

PAPER, DEFAULT = "paper", "default"
"""The two groups of options."""

STRUCTURE, PC = "structure", "pc"
"""Kinds of learners: of whole structures (tables 2 to 5), of parents and children (tables 6 and 7)."""

TIME_LIMIT = 600.0
"""Seconds that learning from one data set may take. (The paper's limit is 48 hours.)"""


@dataclass(frozen=True)
class Learner:
    """Learner of the paper's comparison, with its options there and their reasons."""

    title: str
    role: str
    options: dict[str, Any] = field(default_factory=dict)
    reason: str = ""
    defaults_differ: bool = False
    """True if f2sl's defaults differ from the paper's settings and get their own row."""
    slow: bool = False
    """True if it takes minutes on networks where others take seconds; slow learners run last."""
    needs: str = ""
    """A package that f2sl does without."""
    compiled: bool = True
    """True if it uses compiled loops of f2sl, which are compiled on first use."""


_TESTS: dict[str, Any] = {"ci_test": "g2", "alpha": 0.01, "max_cond_vars": 3}
_CLIMB: dict[str, Any] = {"tabu_length": 100, "max_stall": 15}
_BEST_NETWORKS: dict[str, Any] = {
    "score": "bdeu",
    "equivalent_sample_size": 1.0,
    "ties": "drop",
    "order": "strength",
}

LEARNERS = {
    "f2sl-c": Learner(
        "F2SL-c",
        STRUCTURE,
        {"delta": 0.05, "measure": "su", "ties": "keep", "symmetry": "and", **_TESTS},
        "The strict > of the text, which keeps ties; AND reproduces the skeletons.",
        defaults_differ=True,
    ),
    "f2sl-s": Learner(
        "F2SL-s",
        STRUCTURE,
        {
            "delta": 0.05,
            "measure": "su",
            "ties": "keep",
            "symmetry": "or",
            "score": "bdeu",
            "equivalent_sample_size": 10.0,
            **_CLIMB,
        },
        "OR reproduces its figures; with BDeu each edge has a prior of 1 / (10 + 1).",
        defaults_differ=True,
    ),
    "gsbn": Learner(
        "GSBN",
        STRUCTURE,
        {"symmetry": "and", **_TESTS},
        "AND, with columns in their original order, reproduces its figures.",
    ),
    "mmhc": Learner(
        "MMHC",
        STRUCTURE,
        {"symmetry": "and", "score": "bdeu", "equivalent_sample_size": 10.0, **_TESTS, **_CLIMB},
        "BDeu, its prior and the tabu list as in F2SL-s.",
    ),
    "mmhc-c": Learner(
        "MMHC-c", STRUCTURE, {"symmetry": "and", **_TESTS}, "MMHC's skeleton, directions as in F2SL-c."
    ),
    "fcbf": Learner(
        "FCBF",
        PC,
        {"delta": 0.05, "measure": "su", "ties": "keep"},
        "Symmetrical uncertainty above 0.05 and the strict > of the text.",
        defaults_differ=True,
    ),
    "mmpc": Learner(
        "MMPC",
        PC,
        {"symmetry": "none", **_TESTS},
        "Table 6 has the sets before the symmetry rule.",
        defaults_differ=True,
    ),
    "hiton-pc": Learner(
        "HITON-PC",
        PC,
        {"symmetry": "none", **_TESTS},
        "Table 6 has the sets before the symmetry rule.",
        defaults_differ=True,
    ),
    "pc-simple": Learner(
        "PC-simple",
        PC,
        {"symmetry": "none", **_TESTS},
        "Table 6 has the sets before the symmetry rule.",
        defaults_differ=True,
        slow=True,
    ),
    "sll-pc": Learner(
        "SLL-PC",
        PC,
        {**_BEST_NETWORKS, "symmetry": "and"},
        "Table 6 has the sets after the AND rule.",
        slow=True,
    ),
    "s2tmb-pc": Learner("S2TMB-PC", PC, _BEST_NETWORKS, "Table 6 has the sets that S2TMB finds.", slow=True),
    "sll+c": Learner(
        "SLL+C",
        STRUCTURE,
        _BEST_NETWORKS,
        "Among equally good networks, one with the fewest edges.",
        slow=True,
    ),
    "sll+g": Learner(
        "SLL+G", STRUCTURE, {**_BEST_NETWORKS, **_CLIMB}, "As SLL+C, then hill climbing.", slow=True
    ),
    "ggsl": Learner(
        "GGSL",
        STRUCTURE,
        {**_BEST_NETWORKS, "random_state": 0},
        "The first variable is drawn with this seed.",
        slow=True,
    ),
    "notears": Learner(
        "NOTEARS",
        STRUCTURE,
        {"lambda1": 0.0, "threshold": 0.3, "constraint": "expm"},
        "Its figures are closest without a penalty on weights; states are read as numbers.",
        defaults_differ=True,
        slow=True,
        compiled=False,
    ),
    "dag-gnn": Learner(
        "DAG-GNN",
        STRUCTURE,
        {
            "hidden": 64,
            "epochs": 300,
            "batch_size": 100,
            "learning_rate": 0.003,
            "tau": 0.0,
            "threshold": 0.3,
            "random_state": 0,
        },
        "The values of its paper's program; states are read as numbers.",
        slow=True,
        needs="torch",
        compiled=False,
    ),
}
"""Fast learners first."""

SWEPT = "fcbf"
"""The learner whose threshold the paper varies in its figures of delta."""
DELTAS = tuple(step / 100 for step in range(11))
"""Thresholds from 0 to 0.1."""


@dataclass(frozen=True)
class Quick:
    """Defaults of ``f2sl reproduce --quick``: minutes instead of hours."""

    networks: tuple[str, ...] = ("mildew", "munin")
    learners: tuple[str, ...] = tuple(name for name, learner in LEARNERS.items() if not learner.slow)
    sets: int = 2


QUICK = Quick()


def swept_setting(delta: float) -> str:
    """Name the setting with this threshold.

    Examples
    --------
    >>> swept_setting(0.03)
    'delta=0.03'
    """
    return f"delta={delta:.2f}"


def settings_of(learner: str) -> tuple[str, ...]:
    """List the settings that a learner is run with."""
    settings = [PAPER]
    if LEARNERS[learner].defaults_differ:
        settings.append(DEFAULT)
    if learner == SWEPT:
        settings += map(swept_setting, DELTAS)
    return tuple(settings)


def options_of(learner: str, setting: str) -> dict[str, Any]:
    """Return the options that differ from the learner's defaults, or might."""
    if setting == DEFAULT:
        return {}
    options = dict(LEARNERS[learner].options)
    if setting != PAPER:
        options["delta"] = float(setting.removeprefix("delta="))
    return options


def seed_of(rows: int, data_set: int) -> int:
    """Return the seed of a sampled data set; with one seed a sample would be the start of larger ones.

    Examples
    --------
    >>> seed_of(500, 1), seed_of(1000, 10)
    (50001, 100010)
    """
    return rows * 100 + data_set
