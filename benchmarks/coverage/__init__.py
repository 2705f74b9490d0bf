"""Coverage of intervals of differences, measured on populations whose mean is known."""
