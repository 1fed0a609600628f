"""Orientation of a skeleton by independence tests."""
