"""Compiled steps of hill climbing, for `search/hill_climbing.py`."""
