"""Storages of tables, and the engines that answer questions there: counts of states, moments of numbers."""
