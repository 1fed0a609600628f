"""The EM algorithm for normal variables with missing values by the textbook. Imports nothing from f2sl."""

import numpy as np


def filled(row, missing, mean, covariance):
    """Return a row with the expectation of what is missing, and the covariance that stays open."""
    m, o = np.flatnonzero(missing), np.flatnonzero(~missing)
    slopes = np.linalg.solve(covariance[np.ix_(o, o)], covariance[np.ix_(o, m)]).T
    row, left_open = row.copy(), np.zeros_like(covariance)
    row[m] = mean[m] + slopes @ (row[o] - mean[o])
    left_open[np.ix_(m, m)] = covariance[np.ix_(m, m)] - slopes @ covariance[np.ix_(o, m)]
    return row, left_open


def steps_from(mean, covariance, columns, missing, steps):
    """Return mean and covariance of columns, (columns, rows), after some steps of EM."""
    n = columns.shape[1]
    for _ in range(steps):
        rows, left_open = zip(
            *(filled(columns[:, i], missing[:, i], mean, covariance) for i in range(n)), strict=True
        )
        mean = np.mean(rows, axis=0)
        covariance = np.cov(np.array(rows).T, ddof=0) + np.sum(left_open, axis=0) / n
    return mean, covariance


def maximum_likelihood(columns, missing, steps):
    """Return mean and covariance after some steps from uncorrelated columns."""
    known = np.ma.array(columns, mask=missing)
    begin = known.mean(axis=1).data, np.diag(known.var(axis=1).data)
    return steps_from(*begin, columns, missing, steps)


def of_pairs(columns, missing):
    """Return mean and covariance with the correlation of each pair, on the rows that have both.

    Shrunk by nine squared standard errors, with eigenvalues of at least 0.1.
    """
    known = np.ma.array(columns, mask=missing)
    spread, found = known.std(axis=1).data, np.eye(len(columns))
    for i, j in np.ndindex(found.shape):
        both = ~missing[i] & ~missing[j]
        if i != j and both.any():
            r = np.corrcoef(columns[i, both], columns[j, both])[0, 1]
            found[i, j] = r * max(0.0, 1.0 - 9.0 / (both.sum() * r * r))
    values, vectors = np.linalg.eigh(found)
    found = correlations(vectors @ np.diag(np.maximum(values, 0.1)) @ vectors.T)
    return known.mean(axis=1).data, found * np.outer(spread, spread)


def correlations(covariance):
    """Return the correlations of a covariance matrix."""
    spread = np.sqrt(np.diag(covariance))
    return covariance / np.outer(spread, spread)
