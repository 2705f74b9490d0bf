"""Two answers to the same states, side by side: moves, gains and losses of clients, and costs."""

from assignor_lab.compare.compared import Compared, Differing, Side, StateCompared, compare
from assignor_lab.compare.contenders import (
    ComparedContender,
    ContenderError,
    ContenderTerms,
    contender_of,
    contenders_of,
)
from assignor_lab.model.comparisons import FigureCompared

__all__ = [
    "Compared",
    "ComparedContender",
    "ContenderError",
    "Differing",
    "FigureCompared",
    "Side",
    "StateCompared",
    "ContenderTerms",
    "compare",
    "contender_of",
    "contenders_of",
]
