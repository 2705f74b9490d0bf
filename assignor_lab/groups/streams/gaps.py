"""Gaps of an answer to an application."""

from __future__ import annotations

from assignment_api import ApplicationMetadata, TaskAssignment
from assignment_api.optimum import Numbered, owners_of, problem_of, spread_of
from assignor_lab.groups.metrics.gaps import Gaps, gap_metrics, gaps_by_kind

__all__ = ["GAP_METRICS", "gaps_of"]

_last: tuple[ApplicationMetadata, Numbered] | None = None


def gaps_of(application: ApplicationMetadata, answer: TaskAssignment) -> Gaps | None:
    """The gaps, keyed by goal; ``None`` if a task is not placed exactly once."""
    numbered = _numbered(application)
    owners = owners_of(numbered, answer)
    if owners is None:
        return None
    return gaps_by_kind(numbered.problem, owners, "streams", lambda: spread_of(numbered, answer))


def _numbered(application: ApplicationMetadata) -> Numbered:
    """The problem of a state; the latest one is kept, for several answers to it."""
    global _last  # noqa: PLW0603 - a cache of one entry
    if _last is None or _last[0] is not application:
        _last = application, problem_of(application)
    return _last[1]


GAP_METRICS = gap_metrics("streams", gaps_of)
