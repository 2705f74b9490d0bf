"""Notebooks: states of a group, answers of assignors, comparisons, and their charts."""

from assignor_lab.notebook.answer_charts import plot_answer, plot_difference
from assignor_lab.notebook.answers import NotebookAnswer, ask
from assignor_lab.notebook.comparisons import Comparison, compare
from assignor_lab.notebook.errors import ChartError
from assignor_lab.notebook.group import Group, open_group
from assignor_lab.notebook.run_charts import plot_headline, plot_pareto
from assignor_lab.notebook.states import States, read
from assignor_lab.notebook.timeline_chart import plot_timeline

__all__ = [
    "NotebookAnswer",
    "ChartError",
    "Comparison",
    "Group",
    "States",
    "ask",
    "compare",
    "open_group",
    "plot_answer",
    "plot_difference",
    "plot_headline",
    "plot_pareto",
    "plot_timeline",
    "read",
]
