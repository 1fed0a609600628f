"""Tests of conditional independence: G2 and X2 on contingency tables, Fisher's z on correlations."""
