"""Two answers to the same states, side by side: who moves what, who gains and loses, and what it costs."""

from assignor_lab.compare.compared import Compared, Differing, Side, StateCompared, compare
from assignor_lab.compare.contenders import Contender, ContenderError, Terms, contender_of, contenders_of
from assignor_lab.compare.figures import FigureCompared

__all__ = [
    "Compared",
    "Contender",
    "ContenderError",
    "Differing",
    "FigureCompared",
    "Side",
    "StateCompared",
    "Terms",
    "compare",
    "contender_of",
    "contenders_of",
]
