"""Statistics: independence tests, scores of families, measures of how related two variables are.

`tests`, `scores` and `measures` hold one object for each, listed in `registries`; `choose` binds what a
learner names to the data. Formulas see counted contingency tables, or correlations, and never the rows.
"""
