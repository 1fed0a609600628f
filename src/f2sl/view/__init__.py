"""What a result looks like: pictures, the page to explore it, and how notebooks show it."""
