"""Tables of the golden record: discrete, continuous and mixed, complete and with missing values.

All are made here, without f2sl, so that every version learns from the same rows: bundled networks are read
and sampled by a few lines of NumPy, other networks are drawn at random, and real tables come with
scikit-learn and statsmodels. Seeds are fixed.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

SOURCE = Path(__file__).resolve().parent.parent / "src" / "f2sl"
MISSING_SHARE = 0.06

Generator = np.random.Generator


class GoldenTable(NamedTuple):
    """One table: `make` returns its rows; with `missing`, some values are then taken away at random."""

    name: str
    kind: str
    missing: bool
    make: Callable[[], pd.DataFrame]

    def rows(self) -> pd.DataFrame:
        """Make the rows."""
        frame = self.make()
        if not self.missing:
            return frame
        rng = np.random.default_rng([7, *self.name.encode()])
        return frame.mask(rng.random(frame.shape) < MISSING_SHARE)


def bundled_network(name: str) -> dict[str, tuple[list[str], list[str], dict[tuple[str, ...], list[float]]]]:
    """Read a bundled BIF file: for each variable its states, its parents and its rows of probabilities."""
    (path,) = SOURCE.rglob(f"{name}.bif.gz")
    text = gzip.decompress(path.read_bytes()).decode()
    states = {
        variable: listed.replace(",", " ").split()
        for variable, listed in re.findall(r"variable (\S+) \{\s*type discrete \[[^]]*\] \{([^}]*)\}", text)
    }
    network = {}
    for head, body in re.findall(r"probability \(([^)]*)\) \{(.*?)\n\}", text, re.DOTALL):
        child, _, given = head.partition("|")
        table = {
            tuple(given_states.replace(",", " ").split()): [float(p) for p in listed.split(",")]
            for given_states, listed in re.findall(r"(?:\(([^)]*)\)|table) ([^;]*);", body)
        }
        network[child.strip()] = states[child.strip()], given.replace(",", " ").split(), table
    return network


def sampled(name: str, n_rows: int, random_state: int = 1) -> pd.DataFrame:
    """Sample rows of a bundled network."""
    network, rng = bundled_network(name), np.random.default_rng(random_state)
    columns: dict[str, np.ndarray[Any, Any]] = {}
    while len(columns) < len(network):
        for child, (states, parents, table) in network.items():
            if child in columns or not all(parent in columns for parent in parents):
                continue
            drawn = rng.random(n_rows)
            values = np.empty(n_rows, dtype=object)
            for given, probabilities in table.items():
                rows = np.logical_and.reduce([columns[p] == s for p, s in zip(parents, given, strict=True)])
                limits = np.cumsum(probabilities)[:-1]
                values[rows] = np.array(states, dtype=object)[np.searchsorted(limits, drawn[rows], "right")]
            columns[child] = values
    return pd.DataFrame({name: columns[name] for name in network})


def parents_at_random(n: int, most: int, rng: Generator) -> list[list[int]]:
    return [sorted(rng.permutation(v)[: rng.integers(most + 1)].tolist()) for v in range(n)]


def random_discrete(
    n: int, n_rows: int, random_state: int, most_states: int = 4, codes: int | None = None
) -> pd.DataFrame:
    """Draw a network of discrete variables and its rows: labels, or integers that begin with `codes`."""
    rng = np.random.default_rng(random_state)
    columns: list[np.ndarray[Any, Any]] = []
    for parents in parents_at_random(n, 3, rng):
        k = rng.integers(2, most_states + 1)
        place = np.zeros(n_rows, int)
        for parent in parents:
            place = place * most_states + columns[parent]
        rows_of = rng.dirichlet(np.full(k, 0.6), size=most_states ** len(parents))
        columns.append((rng.random(n_rows)[:, None] > rows_of.cumsum(axis=1)[place, :-1]).sum(axis=1))
    order = rng.permutation(n)
    frame = pd.DataFrame({f"x{v}": columns[v] for v in order})
    return frame.map(lambda state: "abcdefghij"[state]) if codes is None else frame + codes


def random_continuous(
    n: int, n_rows: int, random_state: int, shape: Callable[[Any], Any] = lambda x: x
) -> pd.DataFrame:
    """Draw linear equations with normal noise and their rows; `shape` is applied to every second column."""
    rng = np.random.default_rng(random_state)
    columns: list[np.ndarray[Any, Any]] = []
    for parents in parents_at_random(n, 3, rng):
        weights = rng.uniform(0.4, 1.2, len(parents)) * rng.choice([-1, 1], len(parents))
        columns.append(
            rng.normal(size=n_rows) + sum(w * columns[p] for w, p in zip(weights, parents, strict=True))
        )
        columns[-1] /= columns[-1].std()
    order = rng.permutation(n)
    return pd.DataFrame({f"x{v}": shape(columns[v]) if v % 2 else columns[v] for v in order}).round(6)


def random_mixed(
    n: int, n_rows: int, random_state: int, shape: Callable[[Any], Any] = lambda x: x
) -> pd.DataFrame:
    """Draw a network whose discrete variables cut a sum of their parents, and its rows."""
    rng = np.random.default_rng(random_state)
    hidden, columns = [], {}
    for v, parents in enumerate(parents_at_random(n, 3, rng)):
        weights = rng.uniform(0.5, 1.3, len(parents)) * rng.choice([-1, 1], len(parents))
        value = rng.normal(size=n_rows) + sum(w * hidden[p] for w, p in zip(weights, parents, strict=True))
        value = value / value.std()
        if v % 3 == 1 or rng.random() < 0.25:
            state = np.searchsorted(np.sort(rng.normal(size=rng.integers(1, 4))), value)
            columns[f"x{v}"] = np.array(["low", "mid", "high", "top"], dtype=object)[state]
            value = state - state.mean()
        else:
            columns[f"x{v}"] = np.round(shape(value) if v % 2 else value, 6)
        hidden.append(value)
    return pd.DataFrame({f"x{v}": columns[f"x{v}"] for v in rng.permutation(n)})


def codes_and_labels(n_rows: int, random_state: int) -> pd.DataFrame:
    """Draw integers that stand for states, beside labels."""
    frame = random_discrete(8, n_rows, random_state, 10, 0)
    return frame.assign(**{name: frame[name].map(lambda state: f"is {state}") for name in ("x0", "x5")})


def of_sklearn(name: str, columns: slice = slice(None), target: bool = False) -> pd.DataFrame:
    """Return columns of a table of scikit-learn; a target that is wanted has labels."""
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")(as_frame=True)
    frame = bunch.data.iloc[:, columns].copy()
    if target:
        frame["class"] = [str(bunch.target_names[code]) for code in bunch.target]
    return frame


def of_statsmodels(name: str, *columns: str, most: int = 1000, labels: tuple[str, ...] = ()) -> pd.DataFrame:
    """Return columns of a table of statsmodels, at most so many rows; those of `labels` as text."""
    from importlib import import_module

    frame = import_module(f"statsmodels.datasets.{name}").load_pandas().data
    frame = frame[list(columns)] if columns else frame
    frame = frame.iloc[:: max(1, len(frame) // most)].reset_index(drop=True)
    for column in frame:
        if (frame[column] % 1 == 0).all():
            frame[column] = frame[column].astype(int)
    return frame.assign(**{column: "is " + frame[column].astype(str) for column in labels})


def cut(frame: pd.DataFrame, k: int) -> pd.DataFrame:
    """Cut each continuous column into k intervals with equally many rows."""
    names = ["lowest", "low", "middle", "high", "highest"][:k]
    return frame.apply(lambda column: pd.qcut(column.rank(method="first"), k, labels=names).astype(str))


def dark_pixels() -> pd.DataFrame:
    """Return which of 24 pixels of handwritten digits are dark."""
    pixels = of_sklearn("digits", slice(16, 48)).iloc[:900]
    return pixels.loc[:, pixels.std() > 3].iloc[:, :24].gt(7).map({True: "dark", False: "light"}.__getitem__)


FAIR = ("rate_marriage", "religious", "educ", "occupation", "occupation_husb", "children")
ANES = ("TVnews", "selfLR", "ClinLR", "DoleLR", "PID", "educ", "income", "vote")
MACRO = ("realgdp", "realcons", "realinv", "realgovt", "cpi", "m1", "tbilrate", "unemp", "infl", "realint")
STAR = ("LOWINC", "PERASIAN", "PERBLACK", "PERHISP", "AVYRSEXP", "AVSALK", "PERSPENK", "PTRATIO", "PCTAF")
ELNINO = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")

MAKERS: dict[str, dict[str, Callable[[], pd.DataFrame]]] = {
    "discrete": {
        **{
            name: partial(sampled, name, n_rows)
            for name, n_rows in (
                *(("asia", 2000), ("cancer", 1000), ("earthquake", 3000), ("survey", 600), ("sachs", 800)),
                *(("child", 600), ("insurance", 400), ("alarm", 500), ("water", 400), ("mildew", 300)),
                *(("hailfinder", 300), ("hepar2", 400), ("win95pts", 300), ("barley", 250)),
            )
        },
        "labels 6": partial(random_discrete, 6, 1000, 11),
        "labels 9": partial(random_discrete, 9, 300, 12, 5),
        "labels 12": partial(random_discrete, 12, 800, 13),
        "labels 20": partial(random_discrete, 20, 500, 14, 3),
        "labels 30": partial(random_discrete, 30, 100, 15),
        "codes 7": partial(random_discrete, 7, 900, 16, 5, 0),
        "codes 10": partial(random_discrete, 10, 400, 17, 6, 1),
        "codes of ten": partial(random_discrete, 8, 700, 18, 10, 0),
        "codes and labels": partial(codes_and_labels, 700, 18),
        "fair": partial(of_statsmodels, "fair", *FAIR, most=1500, labels=FAIR),
        "fair as codes": partial(
            of_statsmodels, "fair", "rate_marriage", "religious", "occupation", "occupation_husb"
        ),
        "anes96 as codes": partial(of_statsmodels, "anes96", *ANES),
        "anes96": partial(of_statsmodels, "anes96", *ANES, labels=ANES),
        "digits": dark_pixels,
        "iris cut": lambda: cut(of_sklearn("iris"), 3).join(of_sklearn("iris", target=True)["class"]),
        "wine cut": lambda: cut(of_sklearn("wine"), 2).join(of_sklearn("wine", target=True)["class"]),
        "diabetes cut": lambda: cut(of_sklearn("diabetes"), 4),
    },
    "continuous": {
        "linear 6": partial(random_continuous, 6, 1000, 21),
        "linear 10": partial(random_continuous, 10, 300, 22),
        "linear 20": partial(random_continuous, 20, 500, 23),
        "linear 35": partial(random_continuous, 35, 400, 24),
        "linear, few rows": partial(random_continuous, 25, 20, 25),
        "skewed 8": partial(random_continuous, 8, 600, 26, np.exp),
        "cubes 12": partial(random_continuous, 12, 400, 27, lambda x: x**3),
        "diabetes": partial(of_sklearn, "diabetes"),
        "iris": partial(of_sklearn, "iris"),
        "wine": partial(of_sklearn, "wine"),
        "breast cancer": partial(of_sklearn, "breast_cancer", slice(0, 12)),
        "statecrime": partial(of_statsmodels, "statecrime"),
        "elnino": partial(of_statsmodels, "elnino", *ELNINO),
        "longley": partial(of_statsmodels, "longley"),
        "macrodata": partial(of_statsmodels, "macrodata", *MACRO),
        "star98": partial(of_statsmodels, "star98", *STAR),
    },
    "mixed": {
        "mixed 6": partial(random_mixed, 6, 800, 31),
        "mixed 8": partial(random_mixed, 8, 300, 32),
        "mixed 12": partial(random_mixed, 12, 500, 33),
        "mixed 18": partial(random_mixed, 18, 400, 34),
        "mixed, skewed": partial(random_mixed, 9, 500, 35, np.exp),
        "iris with class": partial(of_sklearn, "iris", target=True),
        "wine with class": partial(of_sklearn, "wine", slice(0, 8), target=True),
        "breast cancer with class": partial(of_sklearn, "breast_cancer", slice(0, 8), target=True),
        "fair with affairs": partial(of_statsmodels, "fair", labels=("occupation", "occupation_husb")),
        "anes96 mixed": partial(
            of_statsmodels, "anes96", *ANES, "age", "logpopul", labels=("TVnews", "vote")
        ),
        "modechoice": partial(
            of_statsmodels, "modechoice", "mode", "ttme", "invc", "invt", "hinc", labels=("mode",)
        ),
        "randhie": partial(of_statsmodels, "randhie", most=600, labels=("hlthg", "hlthf", "hlthp")),
        "ccard": partial(of_statsmodels, "ccard", labels=("OWNRENT",)),
        "macrodata with quarter": partial(
            of_statsmodels, "macrodata", "quarter", *MACRO[5:], labels=("quarter",)
        ),
    },
}
WITH_MISSING = (
    *(
        "asia",
        "sachs",
        "child",
        "insurance",
        "labels 9",
        "labels 12",
        "codes 7",
        "anes96",
        "survey",
        "wine cut",
    ),
    *("linear 6", "linear 10", "linear 20", "skewed 8", "diabetes", "iris", "statecrime", "star98"),
    *(
        "mixed 6",
        "mixed 8",
        "mixed 12",
        "mixed, skewed",
        "iris with class",
        "fair with affairs",
        "modechoice",
    ),
)
"""Tables that are learned from once more, with missing values."""


def golden_tables() -> Iterator[GoldenTable]:
    """Give all tables of the record."""
    for kind, makers in MAKERS.items():
        for name, make in makers.items():
            yield GoldenTable(name, kind, False, make)
            if name in WITH_MISSING:
                yield GoldenTable(f"{name}, missing", kind, True, make)
