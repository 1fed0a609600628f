"""The version of f2sl, in one place."""

__version__ = "0.1.0"
