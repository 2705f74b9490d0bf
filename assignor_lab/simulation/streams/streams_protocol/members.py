"""Member of a streams group: one thread, between its heartbeats."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from assignment_api.group import MemberMetadata
from assignment_api.streams import ProcessID
from assignor_lab.kafka.streams_group.tasks import NO_TASKS, TasksByRole
from assignor_lab.simulation.streams.instances import Thread

__all__ = ["StreamsProtocolMember", "Reconciled", "static_member"]


@attrs.frozen
class Reconciled:
    """A processed assignment (Kafka's ``StreamsRebalanceData.Assignment``).

    Args:
        is_ready: The broker reported with it that the group is ready.
    """

    tasks: TasksByRole = NO_TASKS
    is_ready: bool = False


@attrs.define(eq=False)
class StreamsProtocolMember:
    """A member, on its own side.

    Args:
        sent_ms: Time of its last simulated heartbeat.
        counted_ms: Begin of the interval of its next ones: its last one, or after an acknowledgement the last look at
            the clock.
        assigned: Its tasks in the broker's last reply.
        is_ready: The broker's last report that the group is ready; ``None``: no report yet.
        news: Number of changes of ``assigned``.
        is_reconciling: An assignment is not acknowledged yet.
        reconciled: The assignment that it processed last.
        said: The part of it reported to the broker; ``None``: no report since it joined.
        has_left: A static member has left temporarily.
        reported_ms: Time of its last report of offsets.
        silent_ms: Its later messages do not count; ``None``: all count.
        sessions: Counts planned ends of its session, which voids earlier ones.
        has_reset: It has given up its membership, and rejoins with its thread's next poll.
        armed: Counts plans of heartbeats, which voids earlier ones.
        is_armed: Its next heartbeat will be simulated.
        static_id: Instance id and thread number of a static member.
        decided_for: The process of its tasks' decision: a static member's predecessor can belong to another.
        metadata: Its metadata when it joined.
    """

    thread: Thread
    id: str
    sent_ms: int = 0
    counted_ms: int = attrs.field()
    assigned: TasksByRole = NO_TASKS
    is_ready: bool | None = None
    news: int = 0
    is_reconciling: bool = False
    busy_until_ms: int = 0
    reconciled: Reconciled = Reconciled()
    said: Reconciled | None = None
    has_left: bool = False
    reported_ms: int = 0
    silent_ms: int | None = None
    sessions: int = 0
    has_reset: bool = False
    armed: int = 0
    is_armed: bool = False
    static_id: tuple[str, int] | None = attrs.field(init=False)
    process_id: ProcessID = attrs.field(init=False)
    decided_for: ProcessID = attrs.field(init=False)
    metadata: MemberMetadata = attrs.field(init=False)

    @counted_ms.default
    def _counted_ms(self) -> int:
        return self.sent_ms

    @static_id.default
    def _static_id(self) -> tuple[str, int] | None:
        instance_id = self.thread.instance.settings.instance_id
        return None if instance_id is None else (instance_id, self.thread.number)

    @process_id.default
    def _process_id(self) -> ProcessID:
        # Its instance can lose its disk while this member still exists.
        return self.thread.instance.process_id

    @decided_for.default
    def _decided_for(self) -> ProcessID:
        return self.process_id

    @metadata.default
    def _metadata(self) -> MemberMetadata:
        settings = self.thread.instance.settings
        return MemberMetadata(str(self.process_id), settings.instance_id, settings.rack, settings.tags)

    def takes_place(self, before: StreamsProtocolMember) -> bool:
        """Take over a static member's place; returns whether an assignor sees a difference.

        A missing rack means the old one.
        """
        if self.metadata.rack_id is None:
            self.metadata = attrs.evolve(self.metadata, rack_id=before.metadata.rack_id)
        return self.metadata != before.metadata

    def says_owned(self) -> TasksByRole | None:
        """Owned tasks in its next heartbeat; ``None`` if already reported.

        Kafka: ``StreamsGroupHeartbeatRequestManager.HeartbeatState.buildRequestData``. The heartbeat of its join
        reports no tasks, and is not counted.
        """
        if self.reconciled == self.said:
            return None
        self.said = self.reconciled
        return self.reconciled.tasks

    def is_dead(self, members: Mapping[str, StreamsProtocolMember]) -> bool:
        return self.thread not in self.thread.instance.threads or members.get(self.id) is not self

    def next_heartbeat_ms(self, now_ms: int, every_ms: float) -> int:
        return self.counted_ms + int(((now_ms - self.counted_ms) // every_ms + 1) * every_ms)

    def last_heartbeat_ms(self, now_ms: int, every_ms: float) -> int:
        if self.silent_ms is not None:
            now_ms = max(self.sent_ms, min(now_ms, self.silent_ms - 1))
        return max(self.sent_ms, self.counted_ms + int((now_ms - self.counted_ms) // every_ms * every_ms))


def static_member(members: Mapping[str, StreamsProtocolMember], thread: Thread) -> StreamsProtocolMember | None:
    """The member that has a thread's instance id; each thread has its own."""
    instance_id = thread.instance.settings.instance_id
    if instance_id is None:
        return None
    wanted = (instance_id, thread.number)
    return next((each for each in members.values() if each.static_id == wanted), None)
