"""Questions to the bundled networks of up to 100 variables, answered by f2sl, pyAgrum and pgmpy.

    python benchmarks/queries.py [NETWORK ...]

Of each network every variable is asked for, in three situations: nothing is known; three other variables are
observed; one is set and two are observed. The values come from a row drawn from the network. f2sl asks
pyAgrum's lazy propagation; the peers eliminate variables. For them a variable is set by removing the edges
from its parents and observing it. The table has the largest difference between any two probabilities.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import f2sl
from f2sl.network.bundled import bundled_sizes

LARGEST = 100

Situation = tuple[list[str], dict[str, str], dict[str, str]]


def situations(network: f2sl.BayesianNetwork, random_state: int) -> Iterator[Situation]:
    """Yield what is asked for, what is observed and what is set."""
    row = network.sample(1, random_state=random_state).iloc[0].astype(str)
    names = np.random.default_rng(random_state).permutation(network.variables).tolist()
    for n_observed, n_set in ((0, 0), (3, 0), (2, 1)):
        given = n_observed + n_set
        yield names[given:], row[names[:n_observed]].to_dict(), row[names[n_observed:given]].to_dict()


class PyAgrum:
    """Variable elimination by pyAgrum."""

    def __init__(self, network: f2sl.BayesianNetwork, do: dict[str, str]) -> None:
        import pyagrum

        model = network.to_pyagrum()
        for name in do:
            for parent in network.parents(name):
                model.eraseArc(parent, name)
            model.cpt(name).fillWith(1.0).normalizeAsCPT()
        self.inference = pyagrum.VariableElimination(model)

    def ask(self, name: str, given: dict[str, str]) -> dict[str, float]:
        """Return the probabilities of a variable's states."""
        self.inference.setEvidence(given)
        answer = self.inference.posterior(name)
        return dict(zip(answer.variable(0).labels(), answer.tolist(), strict=True))


class Pgmpy:
    """Variable elimination by pgmpy."""

    def __init__(self, network: f2sl.BayesianNetwork, do: dict[str, str]) -> None:
        from pgmpy.inference import VariableElimination

        model = network.to_pgmpy()
        self.inference = VariableElimination(model.do(list(do)) if do else model)

    def ask(self, name: str, given: dict[str, str]) -> dict[str, float]:
        """Return the probabilities of a variable's states."""
        factor = self.inference.query([name], evidence=given, show_progress=False)
        return dict(zip(factor.state_names[name], factor.values.tolist(), strict=True))


def compared(network: f2sl.BayesianNetwork, random_state: int = 1, most: int | None = None) -> dict[str, Any]:
    """Return the largest difference to each peer, and how many questions there were."""
    found: dict[str, Any] = {"questions": 0, "pyagrum": 0.0, "pgmpy": 0.0}
    for asked, evidence, do in situations(network, random_state):
        peers: dict[str, Any] = {"pyagrum": PyAgrum(network, do), "pgmpy": Pgmpy(network, do)}
        for name in asked[:most]:
            ours = network.query(name, evidence, do)
            for peer, one in peers.items():
                theirs = one.ask(name, evidence | do)
                if set(theirs) != set(ours):
                    raise ValueError(f"{peer} has other states of {name}")
                off = max(abs(ours[state] - theirs[state]) for state in ours)
                found[peer] = max(found[peer], off)
            found["questions"] += 1
    return found


def main() -> None:
    warnings.simplefilter("ignore")
    known = {size.name: size.variables for size in bundled_sizes()}
    names = sys.argv[1:] or [name for name, size in known.items() if size <= LARGEST]
    print(f"{'':12}{'variables':>10}{'questions':>10}{'pyAgrum':>10}{'pgmpy':>10}{'seconds':>9}")
    for name in names:
        started = time.perf_counter()
        found = compared(f2sl.load_network(name))
        seconds = time.perf_counter() - started
        print(
            f"{name:12}{known[name]:>10}{found['questions']:>10}{found['pyagrum']:>10.0e}{found['pgmpy']:>10.0e}"
            f"{seconds:>9.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
