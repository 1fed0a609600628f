"""Tables on disk that are read in blocks of rows, and counting them."""
