"""Observers that failed, each named once."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from assignment_api.plugins import PluginRow

__all__ = ["Complaints"]

#: Sentences about failing observers that a process writes at most.
MAX_COMPLAINTS = 20


class Complaints:
    """Names failing observers on standard error, each fault once."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def say(self, problems: Iterable[PluginRow]) -> None:
        """Writes what is new among ``problems``, as the registry returns them."""
        for problem in problems:
            complaint = f"assignor: observer {problem.name} of {problem.distribution}: {problem.reason}"
            if complaint not in self._said and len(self._said) < MAX_COMPLAINTS:
                self._said.add(complaint)
                sys.stderr.write(complaint + "\n")
