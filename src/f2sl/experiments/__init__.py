"""The experiments of the F2SL paper, and the data they were made with."""
