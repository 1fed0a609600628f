"""Formulas on correlations, for variables that are taken for Gaussian: tests, scores, related pairs."""
