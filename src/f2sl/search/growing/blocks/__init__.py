"""Families of blocks of columns, in the search over orders."""
