"""Coverage of intervals of differences, measured on populations with a known mean."""
