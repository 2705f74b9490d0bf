"""The timeline of a recorded experiment: actions, and the group's reactions (``data/captures``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from assignor_lab.documents.errors import Place

__all__ = [
    "MemberChange",
    "ProbedAction",
    "ProbedBytes",
    "TimelineAction",
    "TimelineGeneration",
    "RecordedTarget",
    "RecordedTimeline",
    "Transfer",
]


@attrs.frozen
class TimelineAction:
    """An action on an instance."""

    time_ms: int
    type: str
    instance: str


@attrs.frozen
class Transfer:
    """A load: one changelog partition that an instance restored or followed.

    Args:
        end_offset: The changelog's end at the start, or the last offset that was followed.
        end_ms: Time of that end.
        done_ms: End of the load, or first time that a standby followed the changelog.
        is_standby: True for a warm-up, too.
        machine: With a shared disk and network; an experiment has one.
    """

    instance: str
    topic: str
    partition: int
    from_ms: int
    start_offset: int
    end_offset: int
    end_ms: int
    done_ms: int | None
    records: int | None
    is_standby: bool
    machine: str = ""
    thread: str = ""


@attrs.frozen
class TimelineGeneration:
    """A completed generation.

    Args:
        joined_ms: All members had joined.
        followup: ``none``, ``immediate`` or ``probing``.
        assigned: Consumer to active and standby tasks.
    """

    number: int
    prepared_ms: int
    joined_ms: int
    assigned_ms: int
    reason: str
    members: int
    followup: str
    assigned: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]


@attrs.frozen
class RecordedTarget:
    """A target that the broker of a streams group computed."""

    time_ms: int
    epoch: int
    tasks: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]


@attrs.frozen
class MemberChange:
    """A change of a streams group member, from its broker's records.

    Args:
        event: ``joins``, ``left``, ``fenced: ...``, or ``""`` for a change of state.
        state: ``STABLE``, ``UNREVOKED_TASKS``, ``UNRELEASED_TASKS``, or ``""``.
    """

    time_ms: int
    member: str
    event: str
    state: str
    active: tuple[str, ...]
    standby: tuple[str, ...]


@attrs.frozen
class ProbedBytes:
    """Restored and copied state during an action; ``None``: not measured."""

    restored_bytes: int | None
    standby_bytes: int | None
    restored_records: int | None
    standby_records: int | None


@attrs.frozen
class ProbedAction:
    """Observations of an outside probe during one action.

    Args:
        interruptions: Task to its interruptions: their start after ``begin_ms``, and their length.
    """

    phase: str
    begin_ms: int
    end_ms: int
    interruptions: Mapping[str, tuple[tuple[int, int], ...]]
    restored: ProbedBytes


@attrs.frozen(eq=False)
class RecordedTimeline:
    """A recorded experiment.

    Args:
        ended: Processes that had been asked to end.
        generations: Or targets of a streams group, by time.
        owned: Reported tasks.
        begun: Instances with started threads, by time.
        probe: ``None``: no probe observed the experiment.
        document: The whole file, for the experiment's own evaluation.
        record_bytes: Of a record in a changelog; ``None``: unknown.
        targets: By member and time.
    """

    name: str
    kind: str
    group: str
    done: tuple[TimelineAction, ...]
    ended: tuple[tuple[int, str], ...]
    end_ms: int
    generations: tuple[TimelineGeneration, ...]
    members: tuple[MemberChange, ...]
    clients: Mapping[str, str]
    group_config: Mapping[str, str]
    transfers: tuple[Transfer, ...]
    owned: tuple[tuple[int, str, tuple[str, ...]], ...]
    begun: tuple[tuple[int, str], ...]
    probe: tuple[ProbedAction, ...] | None
    document: Mapping[str, Any]
    place: Place
    record_bytes: float | None = None
    targets: tuple[RecordedTarget, ...] = ()
