"""Contingency tables, asked for in batches: the questions, the tiles of pairs, the counting."""
