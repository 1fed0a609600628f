"""Statistics: independence tests, scores of families, measures of how related two variables are.

`tests`, `scores` and `measures` have one class for each, listed in `registries`; `choose` binds the one that
a learner names to the data. Formulas get counted contingency tables or correlations, never the rows.
"""
