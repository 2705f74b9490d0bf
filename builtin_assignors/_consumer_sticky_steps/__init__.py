"""The steps that both sticky assignors of consumer groups share; private to the built-ins."""

from builtin_assignors._consumer_sticky_steps.boundary import sticky_answer
from builtin_assignors._consumer_sticky_steps.reports import MemberReport, cooperative_report, sticky_report

__all__ = ["MemberReport", "cooperative_report", "sticky_answer", "sticky_report"]
