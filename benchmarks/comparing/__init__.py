"""The parts of ``benchmarks/accuracy.py``: learners and data by name, runs, results, the page."""
