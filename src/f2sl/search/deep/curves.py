"""Evaluate small neural networks of one input and one output as piecewise linear functions.

A network with one hidden layer of rectifiers takes a number x to

    level + sum over k of outer[k] * max(0, inner[k] * x + bias[k]).

Each hidden unit is zero on one side of its *knot*, ``-bias[k] / inner[k]``, and straight on the other, so
between two neighboring knots the whole is one straight *piece*. With the knots sorted, slopes and levels of
all pieces are cumulative sums over the units, and a value is found by looking up the piece it falls into. The
derivatives with respect to the units are cumulative sums again, over what falls into each piece. This is
the same function and the same gradient as the layers give, for the cost of a binary search among the knots
instead of one operation for every value and every unit.
"""

from __future__ import annotations

import torch
from torch import Tensor

INNER, BIAS, OUTER = range(3)
"""Indices of the inner weights, biases and outer weights in the second dimension of the units."""


class Curves:
    """Several such networks of equal size, with their gradients.

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
