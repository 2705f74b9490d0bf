"""Verification: what the lab reproduces of a real group's own recording, and the likely cause where it does not."""
