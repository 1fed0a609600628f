"""Where a table is held, and the questions it answers there: counts of states, moments of numbers."""
