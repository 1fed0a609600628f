"""f2sl: the structure of Bayesian networks from discrete data."""
from f2sl._version import __version__

__all__ = ["__version__"]
