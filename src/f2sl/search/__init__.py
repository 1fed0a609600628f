"""Searches for the structure with the best score."""
