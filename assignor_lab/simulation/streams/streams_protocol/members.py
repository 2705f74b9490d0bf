"""A member of a streams group: one thread, between its heartbeats."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from assignment_api.group import MemberMetadata
from assignment_api.streams import ProcessID
from assignor_lab.kafka.streams_group.tasks import NO_TASKS, Tasks
from assignor_lab.simulation.streams.instances import Thread

__all__ = ["Member", "Reconciled", "static_member"]


@attrs.frozen
class Reconciled:
    """An assignment that a member has gone through (Kafka's ``StreamsRebalanceData.Assignment``).

    Args:
        tasks: What it has.
        is_ready: Whether the broker said with it that the group is ready.
    """

    tasks: Tasks = NO_TASKS
    is_ready: bool = False


@attrs.define(eq=False)
class Member:
    """A member, on its own side.

    Args:
        thread: Its thread.
        id: Its member id, which it makes up itself.
        sent_ms: When it sent its last heartbeat that was played.
        counted_ms: From when on its next ones are counted: one in each interval. It is when it sent the last one, but
            for acknowledgements, which set the timer by the time that was last looked at.
        told: What the broker told it to have.
        is_ready: Whether the broker said that the group is ready; ``None``: it has said nothing yet.
        news: How often it was told something else.
        is_reconciling: It goes through an assignment that it has not acknowledged yet.
        busy_until_ms: Until when its thread opens stores.
        reconciled: What it has gone through last.
        said: What it has told the broker of that; ``None``: nothing since it joined.
        has_left: It is static, and has left for a while.
        reported_ms: When it reported offsets last.
        silent_ms: From then on nothing that it sends counts; ``None``: everything does.
        sessions: Counts ends of its session that were planned, so that earlier ones are known to be void.
        has_reset: It has given up its membership itself, and joins anew as soon as its thread polls.
        armed: Counts plans of heartbeats, so that earlier ones are known to be void.
        is_armed: Its next heartbeat will be played.
        static_id: What a static member is known by: its instance id and its thread's number; else ``None``.
        process_id: Its process.
        decided_for: The process that what it has was decided for: a static member's predecessor can be of another.
        metadata: What it told of itself when it joined.
    """

    thread: Thread
    id: str
    sent_ms: int = 0
    counted_ms: int = attrs.field()
    told: Tasks = NO_TASKS
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
        # The thread's own: its instance may be configured anew while this member is remembered.
        instance_id = self.thread.instance.settings.instance_id
        return None if instance_id is None else (instance_id, self.thread.number)

    @process_id.default
    def _process_id(self) -> ProcessID:
        # The process's own: its instance can lose its disk while this member is remembered.
        return self.thread.instance.process_id

    @decided_for.default
    def _decided_for(self) -> ProcessID:
        return self.process_id

    @metadata.default
    def _metadata(self) -> MemberMetadata:
        settings = self.thread.instance.settings
        return MemberMetadata(str(self.process_id), settings.instance_id, settings.rack, settings.tags)

    def takes_place(self, before: Member) -> bool:
        """A static member comes back: says whether it is another one to an assignor. A rack untold is the old one."""
        if self.metadata.rack_id is None:
            self.metadata = attrs.evolve(self.metadata, rack_id=before.metadata.rack_id)
        return self.metadata != before.metadata

    def says_owned(self) -> Tasks | None:
        """What its next heartbeat says that it has: what it has gone through last, unless it has said so already.

        Kafka: ``StreamsGroupHeartbeatRequestManager.HeartbeatState.buildRequestData``. The heartbeat with which it
        joins says that it has nothing, and is not counted.
        """
        if self.reconciled == self.said:
            return None
        self.said = self.reconciled
        return self.reconciled.tasks

    def is_dead(self, members: Mapping[str, Member]) -> bool:
        """Whether its thread is gone, or it is none of the group's ``members`` any more."""
        return self.thread not in self.thread.instance.threads or members.get(self.id) is not self

    def next_heartbeat_ms(self, now_ms: int, every_ms: float) -> int:
        """When its next heartbeat after ``now_ms`` comes."""
        return self.counted_ms + int(((now_ms - self.counted_ms) // every_ms + 1) * every_ms)

    def last_heartbeat_ms(self, now_ms: int, every_ms: float) -> int:
        """When its latest heartbeat came that counts."""
        if self.silent_ms is not None:
            now_ms = max(self.sent_ms, min(now_ms, self.silent_ms - 1))
        return max(self.sent_ms, self.counted_ms + int((now_ms - self.counted_ms) // every_ms * every_ms))


def static_member(members: Mapping[str, Member], thread: Thread) -> Member | None:
    """The member that has a thread's instance id already; each thread has one of its own."""
    instance_id = thread.instance.settings.instance_id
    if instance_id is None:
        return None
    wanted = (instance_id, thread.number)
    return next((each for each in members.values() if each.static_id == wanted), None)
