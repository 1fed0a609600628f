"""Formulas on contingency tables: information, independence tests, scores."""
