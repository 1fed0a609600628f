"""DAG-GNN's objective, layer by layer and loop by loop."""

import math


def network(x, inner, bias, outer, level):
    """One input, a hidden layer of rectifiers, one output."""
    hidden = [max(0.0, w * x + b) for w, b in zip(inner, bias, strict=True)]
    return level + sum(o * value for o, value in zip(outer, hidden, strict=True))


def product(a, b):
    return [
        [sum(x * y for x, y in zip(row, column, strict=True)) for column in zip(*b, strict=True)] for row in a
    ]


def cycles(weights):
    """The trace of (I + A*A/m)^m, less m."""
    m = len(weights)
    q = [[(i == j) + weights[i][j] ** 2 / m for j in range(m)] for i in range(m)]
    power = q
    for _ in range(m - 1):
        power = product(power, q)
    return sum(power[i][i] for i in range(m)) - m


def objective(parameters, rows, hidden, multiplier, penalty, tau):
    """The augmented Lagrangian of a batch; the parameters in one list: a, offset, both networks, levels."""
    m = len(rows[0])
    numbers = iter(parameters)

    def take(n):
        return [next(numbers) for _ in range(n)]

    a = [take(m) for _ in range(m)]
    (offset,) = take(1)
    encoder, decoder = ([take(hidden) for _ in range(3)] for _ in range(2))
    to_f, to_x = take(2)
    weights = [[math.sinh(3 * a[i][j]) if i != j else 0.0 for j in range(m)] for i in range(m)]
    loss = 0.0
    for x in rows:
        f = [network(value, *encoder, to_f) for value in x]
        decoded = [network(value, *decoder, to_x) for value in f]
        loss += sum((value - other) ** 2 for value, other in zip(x, decoded, strict=True)) / 2
        for j in range(m):
            z = f[j] - sum(weights[i][j] * (f[i] + offset) for i in range(m))
            loss += z**2 / 2
    h = cycles(weights)
    size = sum(abs(weight) for row in weights for weight in row)
    return loss / len(rows) + multiplier * h + penalty / 2 * h**2 + tau * size
