"""Scores of networks, family by family: how well a set of parents explains a child."""
