"""Learners of whole graphs, one algorithm in a file, and of neighbourhoods (`local`)."""
