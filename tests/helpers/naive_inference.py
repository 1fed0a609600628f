"""Slow, obvious twins of f2sl's inference: all configurations one by one; imports nothing from f2sl.

A network is a dictionary in which every name comes after its parents. A variable with states is
name -> (states, parents, table), where `table` maps each tuple of the parents' states to the probabilities. A
number is name -> (None, parents, equations), where `equations` maps each tuple of the states of those parents
that have any to (intercept, {parent: coefficient}, variance).
"""

import math
from itertools import product

import numpy as np
from scipy.stats import multivariate_normal


def of_states(network):
    return [name for name, entry in network.items() if entry[0] is not None]


def configurations(network, evidence, do):
    """Every combination of states that agrees with what is given, with its probability."""
    names = of_states(network)
    for states in product(*(network[name][0] for name in names)):
        row = dict(zip(names, states, strict=True))
        if any(row[name] != value for name, value in {**evidence, **do}.items() if name in row):
            continue
        probability = 1.0
        for name in names:
            if name not in do:
                labels, parents, table = network[name]
                probability *= table[tuple(row[p] for p in parents)][labels.index(row[name])]
        yield row, probability


def moments(network, row, do):
    """Mean and covariance of all numbers given all states, by the matrix of coefficients."""
    names = [name for name in network if name not in of_states(network)]
    weights, intercepts, noise = (
        np.zeros((len(names), len(names))),
        np.zeros(len(names)),
        np.zeros(len(names)),
    )
    for i, name in enumerate(names):
        if name in do:
            intercepts[i] = do[name]
            continue
        _, parents, equations = network[name]
        intercepts[i], coefficients, noise[i] = equations[tuple(row[p] for p in parents if p in row)]
        for parent, coefficient in coefficients.items():
            weights[i, names.index(parent)] = coefficient
    inverse = np.linalg.inv(np.eye(len(names)) - weights)
    return names, inverse @ intercepts, inverse @ np.diag(noise) @ inverse.T


def parts(network, evidence, do):
    """Each configuration of states with its weight, and the numbers given what is observed of them."""
    found = []
    for row, probability in configurations(network, evidence, do):
        names, mean, covariance = moments(network, row, do)
        o = [i for i, name in enumerate(names) if name in evidence]
        w = [i for i, name in enumerate(names) if name not in evidence and name not in do]
        weight = probability
        if o:
            off = np.array([evidence[names[i]] for i in o]) - mean[o]
            own = covariance[np.ix_(o, o)]
            weight *= multivariate_normal.pdf(off, np.zeros(len(o)), own)
            gain = covariance[np.ix_(w, o)] @ np.linalg.inv(own)
            mean = mean[w] + gain @ off
            covariance = covariance[np.ix_(w, w)] - gain @ own @ gain.T
        else:
            mean, covariance = mean[w], covariance[np.ix_(w, w)]
        found.append((row, weight, [names[i] for i in w], mean, covariance))
    return found


def query_states(network, names, evidence, do):
    """The probability of each tuple of states."""
    result = dict.fromkeys(product(*(network[name][0] for name in names)), 0.0)
    found = parts(network, evidence, do)
    total = sum(weight for _, weight, *_ in found)
    for row, weight, *_ in found:
        result[tuple(row[name] for name in names)] += weight / total
    return result


def query_number(network, name, evidence, do):
    """Mean and variance of a number."""
    found = parts(network, evidence, do)
    total = sum(weight for _, weight, *_ in found)
    first = second = 0.0
    for _, weight, names, mean, covariance in found:
        i = names.index(name)
        first += weight / total * mean[i]
        second += weight / total * (covariance[i, i] + mean[i] ** 2)
    return first, second - first**2


def most_probable(network, evidence, do):
    """The values with the highest probability or density, and its logarithm."""
    found = parts(network, evidence, do)
    total = sum(weight for _, weight, *_ in found)
    best, values = -math.inf, {}
    for row, weight, names, mean, covariance in found:
        if weight == 0:
            continue
        height = math.log(weight / total)
        if names:
            height -= 0.5 * np.linalg.slogdet(2 * np.pi * covariance)[1]
        if height > best:
            given = {**evidence, **do}
            states = {name: state for name, state in row.items() if name not in given}
            best, values = height, {**states, **dict(zip(names, mean.tolist(), strict=True))}
    return values, best


def random_network(rng, n_states, n_numbers):
    """A network of some variables with 2 or 3 states and some numbers, in an order mixed at random."""
    kinds = rng.permutation([True] * n_states + [False] * n_numbers)
    network = {}
    for i, is_states in enumerate(kinds):
        name = f"v{i}"
        possible = [one for one in network if not is_states or network[one][0] is not None]
        parents = tuple(rng.permutation(possible)[: rng.integers(0, 4)].tolist())
        known = [network[p][0] for p in parents if network[p][0] is not None]
        if is_states:
            states = tuple("abc"[: rng.integers(2, 4)])
            table = {}
            for row in product(*known):
                drawn = rng.random(len(states)) * (rng.random(len(states)) < 0.9) + 1e-3
                table[row] = (drawn / drawn.sum()).tolist()
            network[name] = states, parents, table
        else:
            numbers = [p for p in parents if network[p][0] is None]
            network[name] = (
                None,
                parents,
                {
                    row: (rng.normal(), {p: rng.normal() for p in numbers}, rng.random() + 0.1)
                    for row in product(*known)
                },
            )
    return network
