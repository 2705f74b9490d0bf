"""Scores assignors on Spark: states in, one row for each state and assignor out."""

from assignor_lab.scoring.score import score
from assignor_lab.scoring.sources import Generated

__all__ = ["Generated", "score"]
