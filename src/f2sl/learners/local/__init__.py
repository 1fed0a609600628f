"""Learners of one variable's neighbourhood, one file for each published algorithm."""
