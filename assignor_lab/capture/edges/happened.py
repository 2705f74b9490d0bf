"""An event of an instance between recorded decisions, as an episode plays it."""

from __future__ import annotations

import attrs

from assignor_lab.capture.edges.moments import Participant

__all__ = ["Happened", "StartedProcess"]


@attrs.frozen
class StartedProcess:
    """The process of a ``start``.

    Args:
        threads: Number of its threads.
        member_ids: Of its threads, in a streams group; ``None``: the source has none.
        startup_ms: From its start to its threads' start; ``None``: unknown.
        joins_ms: From its start to each thread's first JoinGroup; empty if they joined before one decision.
    """

    participant: Participant
    threads: int
    member_ids: tuple[str, ...] | None = None
    startup_ms: int | None = None
    joins_ms: tuple[int, ...] = ()


@attrs.frozen
class Happened:
    """An event of an instance.

    Args:
        type: ``start``, ``stop``, ``crash``, ``add_thread``, ``remove_thread``, ``corrupt``, ``lose_disk``, ``tasks``
            or ``metadata_changes``.
        within_ms: Earliest and latest time, if the decisions bound the time alone; ``None``: it is known.
        started: Of ``start``.
        leaves: True for a ``stop`` that left the group by a request.
        process_id: Of the process that comes after ``lose_disk``.
        tasks: Of ``corrupt`` and ``tasks``.
        thread: Number of a removed thread.
        member_id: Of an added thread.
    """

    time_ms: int
    type: str
    name: str
    within_ms: tuple[int, int] | None = None
    started: StartedProcess | None = None
    leaves: bool = False
    process_id: str | None = None
    tasks: tuple[str, ...] | None = None
    thread: int | None = None
    member_id: str | None = None

    @property
    def is_open(self) -> bool:
        return self.within_ms is not None and self.within_ms[0] < self.within_ms[1]
