"""Learners of whole graphs, one algorithm in a file, and of neighborhoods (`local`)."""
