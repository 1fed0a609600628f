"""Learners of whole structures, each a short composition of the other parts."""
