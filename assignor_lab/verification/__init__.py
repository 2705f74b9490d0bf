"""Verification: the share of a real group's recording that the lab reproduces, and the likely cause of differences."""
