"""Small neural networks of one input and one output, evaluated as the broken lines that they are.

A network with one hidden layer of rectifiers takes a number x to

    level + sum over k of outer[k] * max(0, inner[k] * x + bias[k]).

Each hidden unit is zero on one side of its *knot*, ``-bias[k] / inner[k]``, and straight on the other, so
between two neighbouring knots the whole is one straight *piece*. With the knots sorted, slopes and levels of
all pieces are running sums over the units, and a value is found by looking up the piece it falls into. The
derivatives with respect to the units are running sums again, over what falls into each piece. That is the
same function and the same gradient as the layers give, for the cost of a search among the knots instead
of one operation for every value and every unit.
"""

from __future__ import annotations

import torch
from torch import Tensor

INNER, BIAS, OUTER = range(3)
"""Where the numbers of the hidden units are in the second dimension of the units."""


class Curves:
    """Some such networks of equal size, with their gradients.

    Parameters
    ----------
    units : Tensor of shape (curves, 3, hidden)
        Inner weights, biases and outer weights.
    levels : Tensor of shape (curves,)
        What is added to each network's output.
    units_gradient, levels_gradient : Tensor
        Of the same shapes; :meth:`finish` writes the gradient there.

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
        # Slope and level of each piece, and what the pieces send back; a piece more than there are knots.
        self._pieces = units.new_empty(n, 2, hidden + 1)
        self._sums = units.new_zeros(n, 2, hidden + 1)
        self._seen: list[tuple[Tensor, Tensor, Tensor] | None] = [None] * n

    def prepare(self) -> None:
        """Find knots and pieces; to be called when the parameters have changed."""
        units = self.units
        self._rising = (units[:, INNER] > 0).unsqueeze(1)
        knots, order = torch.sort(-units[:, BIAS] / units[:, INNER])
        self._knots, self._order = knots, order.unsqueeze(1).expand(-1, 2, -1)
        # As x grows, units that rise begin at their knots, and the others end there.
        straight = units[:, :OUTER] * units[:, OUTER:]
        change = torch.where(self._rising, straight, -straight)
        pieces = self._pieces
        torch.sum(straight.masked_fill(self._rising, 0), 2, out=pieces[:, :, 0])
        pieces[:, :, 1:] = change.gather(2, self._order)
        torch.cumsum(pieces, 2, out=pieces)
        pieces[:, 1] += self.levels.unsqueeze(1)

    def values(self, curve: int, x: Tensor) -> Tensor:
        """Give what a network makes of the numbers `x`, a vector."""
        piece = torch.searchsorted(self._knots[curve], x)
        slope, level = self._pieces[curve].index_select(1, piece).unbind()
        self._seen[curve] = x, piece, slope
        return torch.addcmul(level, slope, x)

    def back(self, curve: int, gradient: Tensor) -> Tensor:
        """Take the gradient with respect to the last values; give that with respect to their `x`."""
        seen = self._seen[curve]
        assert seen is not None, "values() comes first"
        x, piece, slope = seen
        sent = torch.stack([gradient * x, gradient])
        self._sums[curve].zero_().index_add_(1, piece, sent)
        return gradient * slope

    def finish(self) -> None:
        """Write the gradient with respect to the parameters, after :meth:`back` of all networks."""
        sums = torch.cumsum(self._sums, 2)
        total = sums[:, :, -1:]
        before = torch.empty_like(self._sums[:, :, 1:]).scatter_(2, self._order, sums[:, :, :-1])
        active = torch.where(self._rising, total - before, before)
        torch.mul(active, self.units[:, OUTER:], out=self._units_gradient[:, :OUTER])
        torch.sum(active * self.units[:, :OUTER], 1, out=self._units_gradient[:, OUTER])
        self._levels_gradient.copy_(total[:, 1, 0])
