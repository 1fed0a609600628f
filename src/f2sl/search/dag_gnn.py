"""Train DAG-GNN (Yu, Chen, Gao and Yu 2019), for variables that are one number each.

The model is an autoencoder with a matrix A of weights, ``A[i, j]`` for the edge from i to j:

    Z = (I - A^T) f(X)        the encoder, f a small network that all variables share
    X = g((I - A^T)^-1 Z)     the decoder, g another one

It minimises, over A, f and g, the negative evidence lower bound, for the mean of a batch of samples

    |X - g(f(X))|^2 / 2 + |Z|^2 / 2,

under the constraint h(A) = tr (I + A*A/m)^m - m = 0, by which A is the matrix of a DAG of the m variables.

Some of this is not in the paper but in its authors' program: all variances are 1, and Z is taken at its mean
and not sampled. (With sampling, on a linear network of 10 variables and 20 edges, the SHD was 11 to 17, and 2
without.) The decoder's inverse then undoes the encoder's matrix whatever A is, so that no matrix has to be
inverted, and A affects the second term alone. Also from the program are A = sinh(3 a) for parameters a, the
offset of f(X) in the encoder, the initial distribution of the parameters, and the learning rate that falls as
the penalty on cycles grows.

Everything is in double precision, since h must be told from 0 at 1e-8, and in one thread, so that sums are
always taken in the same order. The gradient is written out: with matrices this small, automatic
differentiation spends more time on bookkeeping than on arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from f2sl._arrays import Mask
from f2sl._deadline import Deadline
from f2sl._notes import Use
from f2sl.errors import OptionError

GROWTH, SHRINKAGE = 10.0, 0.25
"""The penalty is multiplied by the first unless h falls to the second times what it was (eta and gamma)."""
MOST_PENALTY = 1e20
"""The training ends when the penalty reaches this."""
LEAST_LOG_PENALTY = 0.3
"""The learning rate is divided by the decimal logarithm of the penalty, or by this if that is less."""

INNER, BIAS, OUTER = range(3)
"""Indices of the inner weights, biases and outer weights in the second dimension of the units."""


@dataclass(frozen=True)
class Settings:
    """Training options, named as in :class:`f2sl.DAGGNN`."""

    hidden: int
    epochs: int
    batch_size: int
    learning_rate: float
    tau: float
    h_tol: float
    max_iter: int
    random_state: int


@dataclass(frozen=True)
class Trained:
    """Result of the training; `weights` is the matrix A, (m, m) float64."""

    weights: NDArray[np.float64]
    h: float
    loss: float
    n_steps: int
    out_of_time: bool
    interrupted: bool


class Curves:
    """Small neural networks of one input and one output, as piecewise linear functions, with gradients.

    A network with one hidden layer of rectifiers takes a number x to

        level + sum over k of outer[k] * max(0, inner[k] * x + bias[k]).

    Each hidden unit is zero on one side of its *knot*, ``-bias[k] / inner[k]``, and straight on the other, so
    between two neighboring knots the whole is one straight *piece*. With the knots sorted, slopes and levels
    of all pieces are cumulative sums over the units, and a value is found by looking up the piece it falls
    into. The derivatives with respect to the units are cumulative sums again, over what falls into each
    piece. This is the same function and the same gradient as the layers give, for the cost of a binary search
    among the knots instead of one operation for every value and every unit.

    The order of calls is :meth:`prepare`, then :meth:`values` and :meth:`back` of each network, then
    :meth:`finish`. Gradients are written into memory of the caller, so that an optimiser sees all parameters
    as one vector.

    Parameters
    ----------
    units : Tensor of shape (curves, 3, hidden)
        Inner weights, biases and outer weights.
    levels : Tensor of shape (curves,)
        Constant that is added to each network's output.
    units_gradient, levels_gradient : Tensor
        Same shapes; :meth:`finish` writes the gradient there.

    Examples
    --------
    The hidden units of this one have their knots at 0 and at 1.

    >>> units = torch.tensor([[[1.0, -1.0], [0.0, 1.0], [2.0, 3.0]]])
    >>> level = torch.tensor([0.5])
    >>> curves = Curves(units, level, torch.empty_like(units), torch.empty_like(level))
    >>> curves.prepare()
    >>> curves.values(0, torch.tensor([-1.0, 0.5, 2.0]))
    tensor([6.5000, 3.0000, 4.5000])
    >>> curves.back(0, torch.tensor([1.0, 1.0, 1.0]))
    tensor([-3., -1.,  2.])
    """

    def __init__(
        self, units: Tensor, levels: Tensor, units_gradient: Tensor, levels_gradient: Tensor
    ) -> None:
        self.units, self.levels = units, levels
        self._units_gradient, self._levels_gradient = units_gradient, levels_gradient
        n, _, hidden = units.shape
        # _pieces[c] has the slope (row 0) and the level (row 1) of each piece, _sums[c] the gradient times x
        # and the gradient, summed over the values in each piece. There is one more piece than there are
        # knots.
        self._pieces = units.new_empty(n, 2, hidden + 1)
        self._sums = units.new_zeros(n, 2, hidden + 1)
        self._seen: list[tuple[Tensor, Tensor, Tensor] | None] = [None] * n

    def prepare(self) -> None:
        """Compute knots and pieces; call it after the parameters have changed."""
        units = self.units
        self._rising = (units[:, INNER] > 0).unsqueeze(1)
        knots, order = torch.sort(-units[:, BIAS] / units[:, INNER])
        self._knots, self._order = knots, order.unsqueeze(1).expand(-1, 2, -1)
        # A unit with a positive inner weight is zero before its knot and straight behind it; other units are
        # straight before and zero behind. So piece 0 sums the latter, and at each knot, in ascending order,
        # one unit's slope and level are added or taken away: a cumulative sum.
        straight = units[:, :OUTER] * units[:, OUTER:]
        change = torch.where(self._rising, straight, -straight)
        pieces = self._pieces
        torch.sum(straight.masked_fill(self._rising, 0), 2, out=pieces[:, :, 0])
        pieces[:, :, 1:] = change.gather(2, self._order)
        torch.cumsum(pieces, 2, out=pieces)
        pieces[:, 1] += self.levels.unsqueeze(1)

    def values(self, curve: int, x: Tensor) -> Tensor:
        """Return the outputs of a network for `x`, a vector, and remember what :meth:`back` needs."""
        piece = torch.searchsorted(self._knots[curve], x)
        slope, level = self._pieces[curve].index_select(1, piece).unbind()
        self._seen[curve] = x, piece, slope
        return torch.addcmul(level, slope, x)

    def back(self, curve: int, gradient: Tensor) -> Tensor:
        """Return the gradient with respect to `x`, from the gradient with respect to the last values."""
        # index_add_ sums in the order of `x` with one thread, so that results can be repeated.
        seen = self._seen[curve]
        assert seen is not None, "values() comes first"
        x, piece, slope = seen
        sent = torch.stack([gradient * x, gradient])
        self._sums[curve].zero_().index_add_(1, piece, sent)
        return gradient * slope

    def finish(self) -> None:
        """Write the gradient with respect to the parameters, after :meth:`back` of all networks."""
        # `before` has, for each unit in its original order, the sums over all values before its knot. The
        # values for which a unit is active are those behind its knot if it rises, and those before it
        # otherwise.
        sums = torch.cumsum(self._sums, 2)
        total = sums[:, :, -1:]
        before = torch.empty_like(self._sums[:, :, 1:]).scatter_(2, self._order, sums[:, :, :-1])
        active = torch.where(self._rising, total - before, before)
        torch.mul(active, self.units[:, OUTER:], out=self._units_gradient[:, :OUTER])
        torch.sum(active * self.units[:, :OUTER], 1, out=self._units_gradient[:, OUTER])
        self._levels_gradient.copy_(total[:, 1, 0])


class Autoencoder:
    """Model whose parameters and gradients are views of one vector each.

    So the optimiser updates everything by a few operations on one vector. The parts are a, (m, m); the
    offset, (1,); the hidden units of f and g, (2, 3, hidden); and their levels, (2,).
    """

    def __init__(
        self, n_variables: int, hidden: int, rng: np.random.Generator, allowed: Mask | None = None
    ) -> None:
        sizes = [n_variables**2, 1, 6 * hidden, 2]
        self.parameters = torch.zeros(sum(sizes), dtype=torch.float64)
        self.gradient = torch.zeros_like(self.parameters)
        shapes = [(n_variables, n_variables), (1,), (2, 3, hidden), (2,)]
        (self._a, self._offset, units, levels), (self._to_a, self._to_offset, *to_curves) = (
            [part.view(shape) for part, shape in zip(torch.split(vector, sizes), shapes, strict=True)]
            for vector in (self.parameters, self.gradient)
        )
        scale = math.sqrt(2 / (hidden + 1))
        for network in range(2):
            inner, outer = rng.normal(0.0, scale, (2, hidden))
            bias = rng.uniform(-1.0, 1.0, hidden)
            units[network] = torch.from_numpy(np.stack([inner, bias, outer]))
            levels[network] = rng.uniform(-1.0, 1.0) / math.sqrt(hidden)
        self._curves = Curves(units, levels, *to_curves)
        self._identity = torch.eye(n_variables, dtype=torch.float64)
        self._possible = 1 - self._identity
        if allowed is not None:
            self._possible *= torch.from_numpy(allowed.astype(np.float64))

    def weights(self) -> Tensor:
        """Return the matrix A, (m, m), with zeros on the diagonal."""
        return torch.sinh(3 * self._a) * self._possible

    def acyclicity(self, weights: Tensor) -> tuple[float, Tensor]:
        """Return h, and a matrix whose transpose times A times 2 (all elementwise) is its gradient.

        The derivative of tr Q^m with respect to Q is m times the transpose of Q^(m-1), and Q = I + A*A/m.
        """
        # tr Q^m is the scalar product of Q^(m-1) and the transpose of Q: one product of matrices less.
        m = len(weights)
        q = torch.addcmul(self._identity, weights, weights, value=1 / m)
        power = torch.linalg.matrix_power(q, m - 1)
        return torch.dot(power.reshape(-1), q.T.reshape(-1)).item() - m, power

    def differentiate(self, x: Tensor, multiplier: float, penalty: float, tau: float) -> Tensor:
        """Write the gradient of the augmented Lagrangian for a batch; return the loss without constraint.

        x : (rows, m). The gradient of the L1 penalty `tau` is included, the penalty itself is not in the
        loss.
        """
        # Forward. Rows are samples, so (I - A^T) f(X) is f - (f + offset) A here.
        weights, curves, share = self.weights(), self._curves, 1 / len(x)
        flat = x.reshape(-1)
        curves.prepare()
        f = curves.values(0, flat)
        error = curves.values(1, f).sub_(flat)
        shifted = f.view(x.shape) + self._offset
        z = torch.addmm(f.view(x.shape), shifted, weights, alpha=-1)
        loss = (torch.dot(error, error) + torch.dot(z.view(-1), z.view(-1))) * (share / 2)

        # Backward: from here on `z` and `error` are the derivatives of the mean loss. f affects the loss
        # through g, through z directly, and through z by way of A.
        z.mul_(share)
        through_weights = z @ weights.T
        to_f = curves.back(1, error.mul_(share)).view(x.shape).add_(z).sub_(through_weights)
        curves.back(0, to_f.view(-1))
        curves.finish()
        torch.sum(through_weights, (0, 1), out=self._to_offset[0]).neg_()
        h, power = self.acyclicity(weights)
        to_weights = torch.addmm(
            weights * power.T, shifted.T, z, beta=2 * (multiplier + penalty * h), alpha=-1
        )
        # A = sinh(3 a), whose derivative is 3 cosh(3 a).
        if tau:
            to_weights.add_(weights.sign(), alpha=tau)
        torch.mul(to_weights, torch.cosh(3 * self._a).mul_(self._possible), out=self._to_a).mul_(3)
        return loss


class Adam:
    """Adam (Kingma and Ba 2015) with its usual constants, on one vector and in place."""

    def __init__(self, parameters: Tensor, gradient: Tensor) -> None:
        self._parameters, self._gradient = parameters, gradient
        self._mean = torch.zeros_like(parameters)
        self._square = torch.zeros_like(parameters)
        self.n_steps = 0

    def step(self, learning_rate: float) -> None:
        """Move the parameters against the gradient."""
        # Both corrections for the start from zero are in the scalar rate, so that no vector is divided twice.
        self.n_steps += 1
        self._mean.lerp_(self._gradient, 0.1)
        self._square.mul_(0.999).addcmul_(self._gradient, self._gradient, value=0.001)
        unbiased = math.sqrt(1 - 0.999**self.n_steps)
        rate = learning_rate * unbiased / (1 - 0.9**self.n_steps)
        self._parameters.addcdiv_(self._mean, self._square.sqrt().add_(1e-8 * unbiased), value=-rate)


class Training:
    """One run of the training: the model, the optimiser, and its progress. x : (rows, m) float64."""

    def __init__(
        self, x: Tensor, settings: Settings, deadline: Deadline, allowed: Mask | None = None
    ) -> None:
        self._x, self._settings, self._deadline = x, settings, deadline
        self._rng = np.random.default_rng(settings.random_state)
        self.model = Autoencoder(x.shape[1], settings.hidden, self._rng, allowed)
        self.optimiser = Adam(self.model.parameters, self.model.gradient)
        self.loss = math.nan
        self.out_of_time = False

    def run(self, advance: Callable[[float], None]) -> None:
        """Minimise under the constraint, by the method of multipliers, until h is 0 or the time is up."""
        settings = self._settings
        multiplier, penalty, h = 0.0, 1.0, math.inf
        far = math.log10(settings.h_tol)
        reported = 0.0
        for _ in range(settings.max_iter):
            before = h
            while penalty < MOST_PENALTY:
                self._descend(multiplier, penalty)
                if self.out_of_time:
                    return
                h = self.h()
                # Mostly h falls by a few times from one descent to the next, all the way to h_tol.
                come = min(math.log10(min(max(h, settings.h_tol), 1.0)) / far, 1.0)
                advance(max(come - reported, 0.0))
                reported = max(come, reported)
                if h <= SHRINKAGE * before:
                    break
                penalty *= GROWTH
            multiplier += penalty * h
            if h <= settings.h_tol or penalty >= MOST_PENALTY:
                return

    def h(self) -> float:
        """Return h: how far the weights are from those of a DAG."""
        return self.model.acyclicity(self.model.weights())[0]

    def _descend(self, multiplier: float, penalty: float) -> None:
        """Train for some epochs with a given multiplier and penalty."""
        settings, model, optimiser = self._settings, self.model, self.optimiser
        rate = settings.learning_rate / max(math.log10(penalty), LEAST_LOG_PENALTY)
        n_rows = len(self._x)
        for _ in range(settings.epochs):
            # Drawn by NumPy, whose generator gives the same numbers with every version of PyTorch.
            order = torch.from_numpy(self._rng.permutation(n_rows))
            total = torch.zeros((), dtype=torch.float64)
            for batch in torch.split(self._x[order], settings.batch_size):
                total += model.differentiate(batch, multiplier, penalty, settings.tau) * len(batch)
                optimiser.step(rate)
                if self._deadline.passed:
                    self.out_of_time = True
                    return
            self.loss = total.item() / n_rows
            if not math.isfinite(self.loss):
                raise OptionError(
                    "the training diverged: ",
                    Use("learning_rate"),
                    f" {settings.learning_rate:g} is too large for these data; use a smaller one, or ",
                    Use("standardize", True),
                )


def train(
    values: NDArray[np.float64],
    settings: Settings,
    deadline: Deadline,
    advance: Callable[[float], None],
    allowed: Mask | None = None,
) -> Trained:
    """Train DAG-GNN on a continuous table.

    Parameters
    ----------
    values : ndarray of shape (n_variables, n_rows)
        Values of the variables, best with a mean of 0 and a size of about 1.
    settings : Settings
        Options of the training.
    deadline : Deadline
        Time at which to end at the latest.
    advance : callable
        Called with finished shares of the work.
    """
    x = torch.from_numpy(np.ascontiguousarray(values.T))
    with _one_thread(), torch.inference_mode():
        training = Training(x, settings, deadline, allowed)
        interrupted = False
        try:
            training.run(advance)
        except KeyboardInterrupt:
            interrupted = True
        return Trained(
            training.model.weights().numpy(),
            training.h(),
            training.loss,
            training.optimiser.n_steps,
            training.out_of_time,
            interrupted,
        )


@contextmanager
def _one_thread() -> Iterator[None]:
    """Limit PyTorch to one thread within a ``with`` block."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
