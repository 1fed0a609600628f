"""Show results: pictures, the page to explore them, and the display in notebooks."""
