"""How often intervals of differences cover the truth: measured on populations whose mean is known."""
