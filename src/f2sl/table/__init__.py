"""Named columns, each with a kind: what a table is, wherever its rows are."""
