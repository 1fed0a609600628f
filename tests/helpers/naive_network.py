"""Slow, obvious twins of what f2sl.network does; imports nothing from f2sl.

A network is a dictionary: name -> (states, parents, rows), where `rows` maps each tuple of the parents'
states to the probabilities of the states. The order of the names is the order of the variables.
"""

import math
from fractions import Fraction
from itertools import product

import numpy as np

SPRINKLER = {
    "wet": (
        ("dry", "damp", "soaked"),
        ("rain", "sprinkler"),
        {
            ("yes", "on"): (0.0, 0.125, 0.875),
            ("yes", "off"): (0.125, 0.25, 0.625),
            ("no", "on"): (0.25, 0.5, 0.25),
            ("no", "off"): (1.0, 0.0, 0.0),
        },
    ),
    "rain": (("yes", "no"), (), {(): (0.25, 0.75)}),
    "sprinkler": (("on", "off"), ("rain",), {("yes",): (0.0625, 0.9375), ("no",): (0.5, 0.5)}),
}


def order(network):
    """Parents before children."""
    done = []
    while len(done) < len(network):
        done += [n for n in network if n not in done and all(p in done for p in network[n][1])]
    return done


def sample(network, rows, random_state):
    """Draw rows one value at a time, with exact fractions, each variable from a generator of its own."""
    generators = {name: np.random.PCG64([random_state, i]) for i, name in enumerate(network)}
    drawn = []
    for _ in range(rows):
        row = {}
        for name in order(network):
            states, parents, table = network[name]
            uniform = Fraction(int(generators[name].random_raw()) >> 11, 2**53)
            probabilities = [Fraction(p) for p in table[tuple(row[p] for p in parents)]]
            total, below = sum(probabilities), Fraction(0)
            for state, probability in zip(states, probabilities, strict=True):
                below += probability / total
                if uniform < below:
                    row[name] = state
                    break
        drawn.append([row[name] for name in network])
    return drawn


def probability(network, row):
    """The product of the tables' entries."""
    result = 1.0
    for name, (states, parents, table) in network.items():
        result *= table[tuple(row[p] for p in parents)][states.index(row[name])]
    return result


def joint(network):
    """Every combination of states with its probability."""
    names = list(network)
    for states in product(*(network[name][0] for name in names)):
        yield states, probability(network, dict(zip(names, states, strict=True)))


def log_likelihood(network, rows):
    return sum(math.log(probability(network, dict(zip(network, row, strict=True)))) for row in rows)


def fit(structure, rows, ess):
    """Estimate the tables of name -> (states, parents) from rows in the order of the names."""
    names = list(structure)
    fitted = {}
    for name, (states, parents) in structure.items():
        table = {}
        configurations = list(product(*(structure[p][0] for p in parents)))
        for configuration in configurations:
            counts = [0] * len(states)
            for row in rows:
                if all(row[names.index(p)] == s for p, s in zip(parents, configuration, strict=True)):
                    counts[states.index(row[names.index(name)])] += 1
            prior = ess / (len(configurations) * len(states))
            total = sum(counts) + prior * len(states)
            table[configuration] = tuple(
                (count + prior) / total if total else 1 / len(states) for count in counts
            )
        fitted[name] = (states, parents, table)
    return fitted
