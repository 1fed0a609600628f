"""Measures of how related two variables are, and the search for related pairs."""
