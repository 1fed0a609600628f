"""Learners of one variable's neighborhood, one file for each published algorithm."""
