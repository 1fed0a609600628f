"""Queries: distributions of some variables given observed values and interventions.

*Evidence* is a set of observed values. An *intervention* sets a variable from outside, regardless of its
parents: the value replaces its table or equation, so it carries information about its effects but not about
its causes (Pearl's do-operator).

All answers are exact. Discrete variables have only discrete parents, so queries about them are queries of a
discrete network: pyAgrum answers them (Madsen and Jensen's lazy propagation), in a junction tree whose size
is known beforehand. Given the states, continuous variables are jointly normal. Queries about them enumerate
the configurations of their unobserved discrete parents. Each configuration has a probability, from the
discrete network, and a normal distribution, which is conditioned in closed form. The distribution of a
continuous variable is then a *mixture* of normal distributions, with a part for each configuration.

References
----------
A. L. Madsen, F. V. Jensen. Lazy propagation: a junction tree inference algorithm based on lazy evaluation.
Artificial Intelligence 113, 1999.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import log, prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from f2sl._arrays import Floats, Integers
from f2sl._extensions import imported
from f2sl._notes import Note, Use
from f2sl._options import refuse
from f2sl.data.names import listing
from f2sl.errors import DataError, OptionError, shown, shown_list, unknown_name
from f2sl.graph import DAG
from f2sl.network.counts import placed_code
from f2sl.network.elimination import MostProbableStates, check_cells

if TYPE_CHECKING:
    from f2sl.network.bayesian_network import BayesianNetwork

MOST_CONFIGURATIONS = 1 << 16
"""Largest number of configurations to enumerate of the discrete parents of continuous variables."""
MOST_NUMBERS = 1 << 24
"""The most cells of the covariance matrices of all these configurations: 128 megabytes."""
MOST_EXPLAINED = 1 << 12
"""The most configurations for a most probable explanation, where each takes a search of its own."""


@dataclass(frozen=True)
class Mixture:
    """Distribution of a continuous variable: a weighted mixture of normal distributions, often only one.

    Attributes
    ----------
    weights, means, variances : ndarray
        Parameters of the parts; the weights sum to 1.

    Examples
    --------
    >>> import numpy as np
    >>> mixture = Mixture(np.array([0.5, 0.5]), np.array([0.0, 2.0]), np.array([1.0, 1.0]))
    >>> mixture
    Mixture(mean 1, deviation 1.41421, 2 parts)
    >>> mixture.variance
    2.0
    """

    weights: Floats
    means: Floats
    variances: Floats

    @property
    def mean(self) -> float:
        """Mean of the variable."""
        return float(self.weights @ self.means)

    @property
    def variance(self) -> float:
        """Variance of the variable."""
        return float(self.weights @ (self.variances + (self.means - self.mean) ** 2))

    def __repr__(self) -> str:
        parts = f"{len(self.weights)} part" + "s" * (len(self.weights) != 1)
        return f"Mixture(mean {self.mean:g}, deviation {np.sqrt(self.variance):g}, {parts})"


class MostProbable(NamedTuple):
    """Most probable explanation: a value for each variable that was not given."""

    values: dict[str, str | float]
    log_probability: float
    """The natural logarithm of their probability given the evidence; of continuous ones, of their density."""


def query(network: BayesianNetwork, variables: Any, evidence: Any, do: Any) -> Any:
    """Return the distribution of variables; see ``BayesianNetwork.query``."""
    given = Given(network, evidence, do)
    several = not isinstance(variables, str)
    names = list(variables) if several else [variables]
    refuse(given.problems_with(names))
    numbers = [name for name in names if name not in network.states]
    if numbers and len(names) > 1:
        raise OptionError(f"query continuous variables one at a time: {shown_list(numbers)}")
    question = Question(given, names)
    x = np.array([[given.values[name] for name in question.observed]])
    if numbers:
        weights, means, variances = question.mixture(given.codes, x)
        kept = weights[:, 0] > 0
        return Mixture(weights[kept, 0], means[kept, 0], variances[kept])
    joint = question.states(given.codes, x)[0]
    labels = [network.states[name] for name in names]
    if several:
        return dict(zip(product(*labels), joint.ravel().tolist(), strict=True))
    return dict(zip(labels[0], joint.tolist(), strict=True))


def most_probable(network: BayesianNetwork, evidence: Any, do: Any) -> MostProbable:
    """Return the most probable explanation; see ``BayesianNetwork.most_probable``."""
    return Given(network, evidence, do).explanation()


def notes_on_do(network: BayesianNetwork, names: Iterable[str], evidence: Any, do: Any) -> list[Note]:
    """Return a note for each intervention without a directed path to a queried variable.

    An intervention matters only through its descendants. If neither the variable nor the evidence is a
    descendant, the answer is the same without it; through evidence among the descendants it may matter. A
    further note names the uncertain directions that the answers rest on: of edges of the variables that are
    set, and of paths from these to the queried ones.

    Examples
    --------
    >>> import f2sl
    >>> notes_on_do(f2sl.load_network("asia"), ["lung"], {}, {"xray": "yes"})
    ["no directed path from 'xray' to 'lung': setting 'xray' changes nothing"]
    """
    notes, names = [], list(names)
    for cause in do:
        reached = set(network.graph.descendants(cause))
        through = [repr(name) for name in evidence if name in reached]
        changes = (
            f"can change the answer only through the evidence on {', '.join(through)}"
            if through
            else "changes nothing"
        )
        notes += [
            Note("no-path", f"no directed path from {cause!r} to {name!r}: setting {cause!r} {changes}")
            for name in names
            if name not in reached
        ]
    graph, after, before = network.graph, set[str](do), set[str](names)
    for name in [*do]:
        after.update(graph.descendants(name))
    for name in [*before]:
        before.update(graph.ancestors(name))
    rests = after & before
    used = [(a, b) for a, b in graph.directed_edges if a in do or b in do or (a in rests and b in rests)]
    for arrows, what in (
        (graph.weak, "that are only weakly decided"),
        (graph.either_way - graph.weak, "that the data do not decide"),
    ):
        found = [f"{a} -> {b}" for a, b in used if (a, b) in arrows]
        if found:
            text = f"an intervention is only as sure as its directions, and it rests on some {what}: "
            notes.append(Note("weakly-decided", text + listing(found)))
    return notes


class Given:
    """Network with evidence and interventions: codes of discrete variables, and values of continuous ones."""

    def __init__(self, network: BayesianNetwork, evidence: Any = None, do: Any = None) -> None:
        self.network = network
        self.codes: dict[str, int] = {}
        self.values: dict[str, float] = {}
        problems: list[str] = []
        for what, values in (("evidence", evidence), ("do", do)):
            if values is not None and not isinstance(values, Mapping):
                raise OptionError(
                    Use(what), f" must be a mapping from variables to values, not {shown(values)}"
                )
            for name, value in (values or {}).items():
                problems += self._add(what, name, value)
        self.do = frozenset(do or ())
        problems += [
            f"{shown(name)} is given both as evidence and by do" for name in evidence or () if name in self.do
        ]
        refuse(problems)

    def _add(self, what: str, name: Any, value: Any) -> Iterable[str]:
        """Add one value; yield problems with it."""
        if name not in self.network.variables:
            yield Note("option", Use(what), ": ", unknown_name("variable", name, self.network.variables))
        elif name in self.network.states:
            states = self.network.states[name]
            code = placed_code(states, value)
            if code is None:
                yield Note("option", Use(what), ": ", unknown_name(f"state of {shown(name)}", value, states))
            else:
                self.codes[name] = code
        else:
            try:
                number = float(value)
            except (TypeError, ValueError):
                number = np.nan
            if np.isfinite(number):
                self.values[name] = number
            else:
                yield f"{what}: {shown(name)} is continuous: give a number, not {shown(value)}"

    def problems_with(self, names: Sequence[Any]) -> Iterable[str]:
        """Yield problems with the queried variables."""
        known = self.network.variables
        if not names:
            yield "no variable is queried; name at least one"
        yield from (unknown_name("variable", name, known) for name in names if name not in known)
        yield from (f"{shown(name)} is queried twice" for name in {*names} if names.count(name) > 1)
        given = [name for name in names if name in self.codes or name in self.values]
        yield from (f"{shown(name)} is both queried and given" for name in given)

    # -- structure -------------------------------------------------------------------

    def parents(self, name: str) -> tuple[str, ...]:
        """Return the parents of a variable; after an intervention it has none."""
        return () if name in self.do else self.network.parents(name)

    def closure(self, names: Iterable[str]) -> set[str]:
        """Return variables with all their ancestors."""
        found: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += self.parents(name)
        return found

    def observed_for(self, names: Sequence[str]) -> list[str]:
        """Return the continuous variables observed that tell anything beside all else that is given."""
        observed = [name for name in self.values if name not in self.do]
        if not observed:
            return []
        nodes, known = self.network.variables, [*self.codes, *self.values]
        graph = DAG(nodes, [(parent, name) for name in nodes for parent in self.parents(name)])
        return [
            name
            for name in observed
            if not graph.d_separated(names, name, [other for other in known if other != name])
        ]

    # -- answers ---------------------------------------------------------------------

    def explanation(self) -> MostProbable:
        """Return the most probable values of all that is not given."""
        network = self.network
        asked = [name for name in network.equations if name not in self.values]
        observed = [name for name in self.values if name not in self.do]
        states = [name for name in network.states if name not in self.codes]
        x = np.array([[self.values[name] for name in observed]])
        numbers = Numbers(self, observed, asked, self.codes, x, most=MOST_EXPLAINED)
        with np.errstate(divide="ignore"):
            weights = np.log(StatesEngine(self, numbers.free).joint(self.codes).ravel())
        weights = weights + numbers.log_likelihood[:, 0]
        # The logarithm of the density at the mode, which differs from one configuration to the next.
        height = -0.5 * np.linalg.slogdet(2 * np.pi * numbers.covariances)[1]
        weights = weights - np.logaddexp.reduce(weights) + height
        best: tuple[float, int, dict[str, int]] = (-np.inf, 0, {})
        rest = [name for name in states if name not in numbers.free]
        search = MostProbableStates(self) if rest else None
        for position in np.argsort(-weights, kind="stable").tolist():
            if not weights[position] > best[0]:
                break  # the others of its states can only make it less probable
            codes = self.codes | {name: int(grid[position]) for name, grid in numbers.codes.items()}
            found, others = search.find(codes) if search is not None else ({}, 0.0)
            if weights[position] + others > best[0]:
                best = weights[position] + others, position, codes | found
        if best[0] == -np.inf:
            raise DataError(IMPOSSIBLE)
        values: dict[str, str | float] = {name: network.states[name][best[2][name]] for name in states}
        values |= dict(zip(asked, numbers.means[best[1], 0].tolist(), strict=True))
        return MostProbable(
            {name: values[name] for name in network.variables if name in values}, float(best[0])
        )


IMPOSSIBLE = "the evidence is impossible: its probability is 0"


class Question:
    """Question about discrete variables together, or about one continuous variable.

    It is asked with many values of the same evidence; `observed` are the continuous variables whose values
    matter.
    """

    def __init__(self, given: Given, names: Sequence[str]) -> None:
        self._given, self._wanted = given, [name for name in names if name not in given.network.states]
        self.observed = given.observed_for(names)
        concerned = self.observed or self._wanted
        nothing = np.zeros((1, len(self.observed)))  # what is free does not depend on values
        free = Numbers(given, self.observed, self._wanted, given.codes, nothing).free if concerned else []
        discrete = [name for name in names if name in given.network.states]
        joint = [*free, *(name for name in discrete if name not in free)]
        self._axes = [joint.index(name) for name in discrete]
        self._engine = StatesEngine(given, joint)

    def states(self, codes: Mapping[str, int], x: Floats) -> Floats:
        """Return the probabilities for each row of `x`, the observed values; rows are the first axis."""
        joint = self._engine.joint(codes)
        joint = np.broadcast_to(joint, (len(x), *joint.shape))
        if self.observed:
            joint = self._weighted(joint, Numbers(self._given, self.observed, (), codes, x))
        kept = [0, *(1 + axis for axis in self._axes)]
        summed = joint.sum(axis=tuple(axis for axis in range(joint.ndim) if axis not in kept))
        return np.asarray(summed.transpose(np.argsort(np.argsort(kept))))

    def mixture(self, codes: Mapping[str, int], x: Floats) -> tuple[Floats, Floats, Floats]:
        """Return weights and means of the parts for each row of `x`, on the last axis, and variances."""
        numbers = Numbers(self._given, self.observed, self._wanted, codes, x)
        weights = self._weighted(self._engine.joint(codes)[None], numbers)
        return weights.reshape(len(x), -1).T, numbers.means[:, :, 0], numbers.covariances[:, 0, 0]

    def _weighted(self, joint: Floats, numbers: Numbers) -> Floats:
        """Return a joint distribution, whose first axes are those of `numbers`, given what is observed."""
        likelihood = numbers.log_likelihood.T
        others = [1] * (joint.ndim - 1 - len(numbers.shape))
        with np.errstate(divide="ignore"):
            logs = np.log(joint) + likelihood.reshape(len(likelihood), *numbers.shape, *others)
        every = tuple(range(1, joint.ndim))
        weights = np.exp(logs - logs.max(axis=every, keepdims=True))
        return np.asarray(weights / weights.sum(axis=every, keepdims=True))


class StatesEngine:
    """Answers questions about some discrete variables, for many values of the same evidence."""

    def __init__(self, given: Given, names: Sequence[str]) -> None:
        self.names = list(names)
        observed = [name for name in given.codes if name not in given.do]
        self.trivial = not self.names and not observed
        if self.trivial:
            return
        self._pyagrum = imported("pyagrum", "asking about discrete variables", "f2sl[inference]")
        network, closed = given.network, given.closure([*self.names, *observed])
        self._place = {name: i for i, name in enumerate(network.variables) if name in closed}
        model = self._pyagrum.BayesNet()
        for name, i in self._place.items():
            model.add(self._pyagrum.LabelizedVariable(str(i), "", len(network.states[name])))
        for name, i in self._place.items():
            for parent in reversed(given.parents(name)):
                model.addArc(str(self._place[parent]), str(i))
            if name not in given.do:
                model.cpt(str(i)).fillWith(network._distributions(name).ravel().tolist())
            else:
                model.cpt(str(i)).fillWith(1.0).normalizeAsCPT()
        self._model = model
        self._inference = self._pyagrum.LazyPropagation(model)
        self._targets = [str(self._place[name]) for name in self.names]
        self._given = set(self._place).intersection(given.codes)
        self._checked = False

    def _set(self, codes: Mapping[str, int]) -> None:
        """Set the evidence; the first time, refuse a tree that is too large."""
        self._inference.eraseAllEvidence()
        self._inference.setEvidence({str(self._place[name]): codes[name] for name in self._given})
        if self._checked:
            return
        if len(self._targets) == 1:
            self._inference.setTargets(set(self._targets))
        elif self._targets:
            self._inference.setTargets(set())
            self._inference.addJointTarget(set(self._targets))
        # Without a target all variables are: of this tree is the probability of the evidence.
        tree, model = self._inference.junctionTree(), self._model
        sizes = [prod(model.variable(v).domainSize() for v in tree.clique(c)) for c in tree.nodes()]
        check_cells(sum(sizes))
        self._checked = True

    def joint(self, codes: Mapping[str, int]) -> Floats:
        """Return the probabilities of the variables together, an axis for each, given the evidence."""
        if self.trivial:
            return np.ones(())
        try:
            self._set(codes)
            if not self.names:
                if not self._inference.evidenceProbability() > 0:
                    raise DataError(IMPOSSIBLE)
                return np.ones(())
            if len(self._targets) == 1:
                return np.asarray(self._inference.posterior(self._targets[0]).toarray())
            tensor = self._inference.jointPosterior(set(self._targets)).reorganize(self._targets[::-1])
            return np.asarray(tensor.toarray())
        except self._pyagrum.IncompatibleEvidence:
            raise DataError(IMPOSSIBLE) from None


class Numbers:
    """Continuous variables that a question concerns, for each configuration of the states they depend on.

    Parameters
    ----------
    given : Given
        The network, and which variables are observed or set.
    observed, wanted : sequence of str
        The continuous variables with values, and those asked for.
    codes, x
        Codes of the given states, and the values of `observed` for each row.
    most : int
        The most configurations allowed.

    Attributes
    ----------
    free, shape, codes
        The discrete parents of the variables concerned that are not known, how many each has, and by name
        what they have in each configuration.
    log_likelihood : ndarray (configurations, rows)
        The logarithm of the density of what is observed.
    means : ndarray (configurations, rows, wanted)
    covariances : ndarray (configurations, wanted, wanted)
        Means and covariances of the wanted variables, given the observed ones.
    """

    def __init__(
        self,
        given: Given,
        observed: Sequence[str],
        wanted: Sequence[str],
        codes: Mapping[str, int],
        x: Floats,
        most: int = MOST_CONFIGURATIONS,
    ) -> None:
        network = given.network
        closed = given.closure([*observed, *wanted])
        self._order = [n for n in network.graph.topological_order() if n in closed and n in network.equations]
        parents = {p for name in self._order for p in given.parents(name) if p in network.states}
        self.free = [name for name in network.variables if name in parents and name not in given.codes]
        self.shape = tuple(len(network.states[name]) for name in self.free)
        most = min(most, MOST_NUMBERS // max(1, len(self._order)) ** 2)
        if prod(self.shape) > most:
            raise DataError(
                f"the network is too wide for exact answers: the continuous variables concerned depend on "
                f"{prod(self.shape):,} configurations of {shown_list(self.free)}, and at most {most:,} are "
                "allowed; give more of these as evidence"
            )
        grid: Integers = np.indices(self.shape).reshape(len(self.free), prod(self.shape))
        self.codes = dict(zip(self.free, grid, strict=True))
        mean, covariance = self._moments(given, {**codes, **self.codes})
        position = {name: i for i, name in enumerate(self._order)}
        o, w = [position[name] for name in observed], [position[name] for name in wanted]
        own = covariance[:, o][:, :, o]
        scale = np.sqrt(np.diagonal(own, axis1=1, axis2=2))[:, :, None]
        try:
            root = np.linalg.cholesky(own / scale / scale.transpose(0, 2, 1))
        except np.linalg.LinAlgError:
            raise DataError(
                f"some of the observed continuous variables determine others: {shown_list(observed)}; "
                "give fewer of them"
            ) from None
        off = np.linalg.solve(root, (x.T - mean[:, o, None]) / scale)
        with_wanted = np.linalg.solve(root, covariance[:, o][:, :, w] / scale)
        heights = (np.log(np.diagonal(root, axis1=1, axis2=2)) + np.log(scale[:, :, 0])).sum(axis=1)
        squares = (off**2).sum(axis=1)
        self.log_likelihood: Floats = -0.5 * (squares + len(o) * log(2 * np.pi)) - heights[:, None]
        self.means: Floats = mean[:, None, w] + off.transpose(0, 2, 1) @ with_wanted
        self.covariances: Floats = covariance[:, w][:, :, w] - with_wanted.transpose(0, 2, 1) @ with_wanted

    def _moments(self, given: Given, codes: Mapping[str, Any]) -> tuple[Floats, Floats]:
        """Return means and covariances in each configuration, parents before children."""
        q, k = prod(self.shape), len(self._order)
        position = {name: i for i, name in enumerate(self._order)}
        mean, effects = np.zeros((q, k)), np.zeros((q, k, k))  # effects: of each noise on each variable
        for i, name in enumerate(self._order):
            if name in given.do:
                mean[:, i] = given.values[name]
                continue
            parents = given.parents(name)
            at = tuple(codes[parent] for parent in parents if parent in given.network.states)
            intercepts, coefficients, variances = (part[at] for part in given.network.equations[name])
            mean[:, i] = intercepts
            for j, parent in enumerate(parent for parent in parents if parent in position):
                mean[:, i] += coefficients[..., j] * mean[:, position[parent]]
                effects[:, i] += coefficients[..., j, None] * effects[:, position[parent]]
            effects[:, i, i] = np.sqrt(variances)
        return mean, effects @ effects.transpose(0, 2, 1)
