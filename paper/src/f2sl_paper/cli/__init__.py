"""The commands that f2sl-paper adds to ``f2sl``: ``reproduce`` and ``report``."""
