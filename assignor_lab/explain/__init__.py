"""Why a task is where an answer leaves it: what was known, which rules placed it, what would have led elsewhere."""

from assignor_lab.explain.asking_again import Budget, Question
from assignor_lab.explain.explanation import Explained, ExplainError, Explanation, explain
from assignor_lab.explain.question import question_of

__all__ = ["Budget", "ExplainError", "Explained", "Explanation", "Question", "explain", "question_of"]
