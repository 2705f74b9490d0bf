"""Tasks over time: the instance that runs each, and the times without one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import attrs

__all__ = ["ProbeWindow", "TaskCourse", "OwnedTime", "UnownedTime"]


@attrs.frozen
class OwnedTime:
    """An instance runs a task.

    Args:
        lasts: It goes on after the end of the history.
    """

    begin_ms: int
    end_ms: int
    instance: str
    lasts: bool = False


@attrs.frozen
class UnownedTime:
    """A task does not run, for one cause."""

    begin_ms: int
    end_ms: int
    cause: str

    @property
    def length_ms(self) -> int:
        return self.end_ms - self.begin_ms


@attrs.frozen
class TaskCourse:
    """Runs and waits of a task, by time."""

    runs: tuple[OwnedTime, ...] = ()
    waits: tuple[UnownedTime, ...] = ()

    @property
    def downtime_ms(self) -> int:
        return sum(each.length_ms for each in self.waits)

    @property
    def takeovers(self) -> int:
        """How often another instance runs it than the one before."""
        ran = [each.instance for each in self.runs]
        return sum(before != after for before, after in pairwise(ran))

    @property
    def interruptions(self) -> Sequence[Sequence[UnownedTime]]:
        """Waits that follow one another without a pause are one interruption."""
        found: list[list[UnownedTime]] = []
        for each in self.waits:
            if found and found[-1][-1].end_ms == each.begin_ms:
                found[-1].append(each)
            else:
                found.append([each])
        return found


@attrs.frozen
class ProbeWindow:
    """A probe's view of one action: output that did not arrive.

    Args:
        away: Task to its times without output: begin and length.
        restored_bytes: Of active tasks and standbys.
    """

    begin_ms: int
    end_ms: int
    action: str
    away: Mapping[str, tuple[tuple[int, int], ...]]
    restored_bytes: int
