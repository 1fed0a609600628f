"""The version of f2sl, in one place."""

__version__ = "1.0.0"
