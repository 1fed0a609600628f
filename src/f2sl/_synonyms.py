"""Names that people know from other libraries, and what they are called here: the only table of them.

pgmpy, bnlearn, causal-learn and scikit-learn have other names for the same algorithms, tests, scores and
options. A name in `SAME`, `SAME_OPTIONS` or `SAME_FLAGS` means the same for sure, and is understood. One in
`ANSWERS` or `OPTION_ANSWERS` has no equal here, has two meanings, or is given in another form: it is an error
that says what comes nearest. Names that f2sl or an extension registers go before these.

Upper case, underscores, spaces and dots make no difference in names of algorithms, tests and scores:
``chi_square``, ``Chi-Square`` and ``chi.square`` are one name. Keys are written as `plain` returns them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from f2sl._notes import Note, Say

SAME: Mapping[str, Mapping[str, str]] = {
    "algorithm": {
        "pc": "pc-stable",
        **dict.fromkeys(("hill-climb", "hillclimb", "hill-climbing", "hillclimbing"), "hc"),
        **dict.fromkeys(("hill-climb-search", "hillclimbsearch"), "hc"),
        **dict.fromkeys(("tabu-search", "tabusearch"), "tabu"),
        "exact-search": "exact",
    },
    "Markov-blanket algorithm": {"interiamb": "inter-iamb"},
    "independence test": {
        **dict.fromkeys(("chi-square", "chi-squared", "chisquare", "chisquared", "chisq", "chi2"), "x2"),
        **dict.fromkeys(("g-sq", "gsq", "g-square", "g-squared", "gsquared", "g-test"), "g2"),
        **dict.fromkeys(("fisherz", "zf"), "fisher-z"),
    },
    "score": {
        "bic-d": "bic",
        "aic-d": "aic",
        "bic-cg": "cg-bic",
        "bdeuscore": "bdeu",
        "k2score": "k2",
    },
    "measure": {
        **dict.fromkeys(("symmetrical-uncertainty", "symmetric-uncertainty"), "su"),
        "mutual-information": "mi",
    },
}
"""Names of registered entries, by the noun of their registry."""


def _nearest(*names: str, before: str = "", after: str = "") -> Note:
    """Return an answer that says which names come nearest, and has them as its value `nearest`.

    Examples
    --------
    >>> answer = _nearest("gsbn", before="no; ")
    >>> answer, answer.values
    ("no; nearest is 'gsbn'", {'nearest': ['gsbn']})
    >>> _nearest("boss", "f2sl-h", "hc")
    "nearest are 'boss', 'f2sl-h' and 'hc'"
    """
    *first, last = map(repr, names)
    text = f"nearest are {', '.join(first)} and {last}" if first else f"nearest is {last}"
    return Note("unknown-name", before + text + after, nearest=list(names))


_OTHER_IAMBS = ("fast-iamb", "iamb-fdr", "iambfdr")
_BLANKETS = Note(
    "unknown-name",
    "it finds Markov blankets (",
    Say("learn_mb", "mb"),
    "); nearest of those that find neighbors are 'mmpc' and 'hiton-pc'",
    nearest=["mmpc", "hiton-pc"],
)

ANSWERS: Mapping[str, Mapping[str, Note]] = {
    "algorithm": {
        **dict.fromkeys(
            ("ges", "fges", "gies", "xges"),
            _nearest(
                "boss",
                "f2sl-h",
                "hc",
                before="greedy equivalence search is not here; ",
                after=", by scores as well",
            ),
        ),
        **dict.fromkeys(
            ("fci", "rfci", "gfci"),
            _nearest("pc-stable", before="hidden common causes are not allowed for here; "),
        ),
        **dict.fromkeys(("gs", "grow-shrink", *_OTHER_IAMBS), _nearest("gsbn")),
        **dict.fromkeys(("rsmax2", "h2pc"), _nearest("mmhc", "local-to-global")),
        "dagma": _nearest("notears", after=" with the constraint 'logdet'"),
    },
    "PC algorithm": {
        "si-hiton-pc": _nearest("hiton-pc"),
        **dict.fromkeys(("gs", "grow-shrink", *_OTHER_IAMBS), _BLANKETS),
    },
    "Markov-blanket algorithm": {
        **dict.fromkeys(_OTHER_IAMBS, _nearest("iamb", "inter-iamb")),
        **dict.fromkeys(("gs", "grow-shrink"), _nearest("gsmb")),
    },
    "independence test": {
        **dict.fromkeys(
            ("pearsonr", "pearson", "cor", "partial-correlation"),
            _nearest("fisher-z", after=", a test of partial correlations"),
        ),
        "mi": _nearest("g2", after=", which is 2 N times the mutual information"),
        **dict.fromkeys(("kci", "rcit", "rcot"), _nearest("fisher-z", before="kernel tests are not here; ")),
        **dict.fromkeys(("mi-cg", "pillai"), _nearest("dg", "cg")),
    },
    "score": {
        **dict.fromkeys(("bd", "bde"), _nearest("bdeu")),
        **dict.fromkeys(
            ("bicscore", "local-score-bic"),
            Note(
                "unknown-name",
                "it is 'bic' for discrete, 'bic-g' for continuous, 'dg-bic' or 'cg-bic' for mixed tables",
                nearest=["bic", "bic-g", "dg-bic", "cg-bic"],
            ),
        ),
        **dict.fromkeys(
            ("loglik", "log-likelihood"), _nearest("aic", after="; without a penalty full graphs win")
        ),
        "aic-g": _nearest("bic-g"),
        "aic-cg": _nearest("cg-bic"),
    },
}
"""Answers to names that are not understood, with what comes nearest, by the noun of the registry."""

SAME_KINDS: Mapping[str, str] = {
    **dict.fromkeys(("states", "categorical", "category", "nominal", "factor"), "discrete"),
    **dict.fromkeys(("number", "numbers", "numeric"), "continuous"),
}
"""Kinds of columns."""

SAME_OPTIONS: Mapping[str, str] = {
    "seed": "random_state",
    "significance_level": "alpha",
    "indep_test": "ci_test",
    "scoring_method": "score",
    "max_indegree": "max_parents",
    "maxp": "max_parents",
    "iss": "equivalent_sample_size",
    "imaginary_sample_size": "equivalent_sample_size",
}
"""Options of learners."""

SAME_FLAGS: Mapping[str, str] = {
    **{f"--{name.replace('_', '-')}": f"--{meant.replace('_', '-')}" for name, meant in SAME_OPTIONS.items()},
    **dict.fromkeys(("--categorical", "--states"), "--discrete"),
    **dict.fromkeys(("--numeric", "--number"), "--continuous"),
    "--share-numbers": "--share-continuous",
}
"""Flags of the command line."""

_REQUIRED = (
    "required edges are given by ",
    Say("knowledge=f2sl.Knowledge(required=...)", '--require "A -> B"'),
)
_BY_FORBIDDEN = Say("knowledge=f2sl.Knowledge(forbidden=...)", '--forbid "A -> B"')
_FORBIDDEN = "forbidden edges are given by ", _BY_FORBIDDEN
_DISCRETE = "columns are read as discrete by ", Say('kinds={"COLUMN": "discrete"}', "--discrete COLUMN")

OPTION_ANSWERS: Mapping[str, tuple[str | Say, ...]] = {
    **dict.fromkeys(("required_edges", "fixed_edges"), _REQUIRED),
    # What must be in the graph, or all that may be: libraries differ.
    **dict.fromkeys(("whitelist", "white_list"), (*_REQUIRED, "; edges that may not be, by ", _BY_FORBIDDEN)),
    **dict.fromkeys(("forbidden_edges", "blacklist", "black_list"), _FORBIDDEN),
    **dict.fromkeys(
        ("tiers", "temporal_order"),
        ("tiers are given by ", Say("knowledge=f2sl.Knowledge(tiers=...)", "--tiers")),
    ),
    "required": _REQUIRED,
    "forbidden": _FORBIDDEN,
    **dict.fromkeys(("categorical", "categorical_features", "discrete"), _DISCRETE),
    "continuous": (
        "columns are read as continuous by ",
        Say('kinds={"COLUMN": "continuous"}', "--continuous COLUMN"),
    ),
    **dict.fromkeys(("test", "tests"), ("a test is chosen by ", Say("ci_test=...", "--ci-test"))),
    "depth": ("the largest conditioning set is given by ", Say("max_cond_vars=...", "--max-cond-vars")),
}
"""Options to give in place of another."""


def plain(name: str) -> str:
    """Return a name as the tables here have it.

    Examples
    --------
    >>> plain("Chi_Square"), plain("inter.iamb")
    ('chi-square', 'inter-iamb')
    """
    return "-".join(name.casefold().replace("_", " ").replace(".", " ").replace("-", " ").split())


def kind_meant(kind: Any) -> Any:
    """Return the kind of columns that a word means; what is no such word stays.

    Examples
    --------
    >>> kind_meant("Categorical"), kind_meant("number"), kind_meant("mixed")
    ('discrete', 'continuous', 'mixed')
    """
    return SAME_KINDS.get(plain(kind), kind) if isinstance(kind, str) else kind


def answer(noun: str, name: object) -> Note | None:
    """Return what comes nearest to a name that a registry does not have, or None.

    Examples
    --------
    >>> answer("score", "bde")
    "nearest is 'bdeu'"
    """
    return ANSWERS.get(noun, {}).get(plain(name)) if isinstance(name, str) else None


def option_answer(name: str) -> Note | None:
    """Return what to give in place of an option, or None.

    Examples
    --------
    >>> message = option_answer("blacklist")
    >>> message, message.parts[-1].shell
    ('forbidden edges are given by knowledge=f2sl.Knowledge(forbidden=...)', '--forbid "A -> B"')
    """
    message = OPTION_ANSWERS.get(name)
    return None if message is None else Note("option", *message)
