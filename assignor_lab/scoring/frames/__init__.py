"""Scoring for notebooks: frames of results, and their summary."""
