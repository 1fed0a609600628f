"""Tables in the memory of this process, and counting them."""
