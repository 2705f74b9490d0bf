"""Explanations of a task's place in an answer: known facts, rules of the assignor, and changes that lead elsewhere."""

from assignor_lab.explain.changed_calls import Budget, Question
from assignor_lab.explain.explanation import Explained, ExplainError, Explanation, explain
from assignor_lab.explain.question import question_of, releases_of

__all__ = ["Budget", "ExplainError", "Explained", "Explanation", "Question", "explain", "question_of", "releases_of"]
