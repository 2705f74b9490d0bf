"""Sections of the page as values: headline, exploration, pasts, groups."""
