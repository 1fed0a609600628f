"""Tables held by the workers of a Dask cluster, and counting them."""
