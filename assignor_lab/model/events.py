"""Events of a group, one class each. A reader makes them, once; every view shows them by :attr:`GroupEvent.sentence`.

Readers pass them to ``PastSurroundings.on_event``, which :mod:`assignor_lab.capture.histories.past` has.

Instances have the one name of :mod:`assignor_lab.model.identity`. Each docstring names the sources of the event, and
the rule of :class:`~assignor_lab.model.evidence.InferenceRule` where none of them shows it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

import attrs

from assignor_lab.documents.wording import listed, plural
from assignor_lab.model.evidence import Evidence
from assignor_lab.model.moment import Moment

__all__ = [
    "BrokerRestarted",
    "ConfigMismatch",
    "ConnectorCreated",
    "ConnectorDeleted",
    "ConnectorPaused",
    "ConnectorResumed",
    "CoordinatorMoved",
    "DecisionFailed",
    "DelayBegun",
    "DelayEnded",
    "GroupDeleted",
    "GroupEmptied",
    "GroupEvent",
    "GroupRefilled",
    "InstanceCrashed",
    "InstanceGone",
    "InstancePaused",
    "InstanceRestarted",
    "InstanceRestartedInSession",
    "InstanceStarted",
    "InstanceStopped",
    "JobsRevoked",
    "MemberExpired",
    "MemberFenced",
    "MemberLeft",
    "PollTimedOut",
    "ProbingDue",
    "ProtocolChanged",
    "RebalanceBegun",
    "RebalanceCompleted",
    "RejoinRequested",
    "SettingChanged",
    "ShutdownRequested",
    "TasksCorrupted",
    "TasksReconfigured",
    "ThreadAdded",
    "ThreadBusy",
    "ThreadDied",
    "ThreadRemoved",
    "ThreadReplaced",
    "TopologyChanged",
]

_MOST_NAMED = 3
_MOST_JOBS = 8
_FEW_MISMATCHES = 2
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


@attrs.frozen
class GroupEvent:
    """An event of a group."""

    at: Moment
    evidence: Evidence
    #: Every departure counts when a group is checked for a crash loop.
    is_departure: ClassVar[bool] = False

    @property
    def type(self) -> str:
        """The class as words with underscores, as in documents and metrics."""
        return self.word()

    @classmethod
    def word(cls) -> str:
        return _CAPITAL.sub("_", cls.__name__).lower()

    @property
    def sentence(self) -> str:
        """The event in words, without its time."""
        raise NotImplementedError

    @property
    def subject(self) -> str | None:
        """The instance; ``None``: the event concerns the group."""
        return getattr(self, "instance", None)


def _because(reason: str) -> str:
    return f": {reason}" if reason else ""


def _of_thread(instance: str, thread: str | None) -> str:
    return f"a thread of {instance}" if thread is None else f"thread {thread} of {instance}"


def _named(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return listed([*names[:_MOST_NAMED], *([f"{more} more"] if more > 0 else [])])


# --- instances ------------------------------------------------------------------------------------------


@attrs.frozen
class InstanceStarted(GroupEvent):
    """A process started. A log's first lines show it, or the rule ``NEW`` infers it."""

    instance: str
    process_id: str | None = None

    @property
    def sentence(self) -> str:
        return f"{self.instance} started"


@attrs.frozen
class InstanceStopped(GroupEvent):
    """A process closed in order. Its log shows it, or a LeaveGroup request does; else the rule ``ABSENT``."""

    is_departure: ClassVar[bool] = True
    instance: str

    @property
    def sentence(self) -> str:
        return f"{self.instance} stopped"


@attrs.frozen
class InstanceCrashed(GroupEvent):
    """A process ended without a close: its log ends without one, and the rule ``ABSENT`` gives the time."""

    is_departure: ClassVar[bool] = True
    instance: str

    @property
    def sentence(self) -> str:
        return f"{self.instance} crashed"


@attrs.frozen
class InstanceGone(GroupEvent):
    """An instance left, or its session ended: the source does not show which.

    In the streams protocol the deletion of its members' records has the time; else the rule ``ABSENT`` infers it.
    """

    is_departure: ClassVar[bool] = True
    instance: str

    @property
    def sentence(self) -> str:
        return f"{self.instance} left, or its session ended"


@attrs.frozen
class InstanceRestarted(GroupEvent):
    """A process started again between two decisions, and the group noticed it. The rule ``NEW_MEMBERS`` infers it."""

    is_departure: ClassVar[bool] = True
    instance: str
    process_id: str | None = None

    @property
    def sentence(self) -> str:
        return f"{self.instance} restarted"


@attrs.frozen
class InstanceRestartedInSession(GroupEvent):
    """A static member's process started again before its session ended: the group kept its generation.

    Its log shows it, or the rule ``REWRITTEN`` infers it from the records of a generation.

    Args:
        number: The generation that continued; ``None``: unknown.
    """

    is_departure: ClassVar[bool] = True
    instance: str
    number: int | None = None

    @property
    def sentence(self) -> str:
        return f"{self.instance} restarted within its session (static member)"


@attrs.frozen
class InstancePaused(GroupEvent):
    """A process stood still, such as in a long garbage collection. Played histories have it."""

    instance: str

    @property
    def sentence(self) -> str:
        return f"{self.instance} stood still"


@attrs.frozen
class ThreadBusy(GroupEvent):
    """A thread processed for long and did not poll. Played histories have it."""

    instance: str

    @property
    def sentence(self) -> str:
        return f"a thread of {self.instance} did not poll"


@attrs.frozen
class ThreadAdded(GroupEvent):
    """A running process has one more thread. Its log shows it, or the rule ``THREADS``."""

    instance: str
    thread: str | None = None

    @property
    def sentence(self) -> str:
        return f"{_of_thread(self.instance, self.thread)} was added"


@attrs.frozen
class ThreadRemoved(GroupEvent):
    """A running process has one thread less, for an unknown reason. Only the rule ``THREADS`` makes it."""

    instance: str
    thread: str | None = None

    @property
    def sentence(self) -> str:
        return f"{_of_thread(self.instance, self.thread)} left"


@attrs.frozen
class ThreadDied(GroupEvent):
    """A thread ended by an uncaught exception, as its log shows.

    Args:
        cause: The exception; empty if unknown.
    """

    instance: str
    thread: str | None = None
    cause: str = ""

    @property
    def sentence(self) -> str:
        return f"{_of_thread(self.instance, self.thread)} died{_because(self.cause)}"


@attrs.frozen
class ThreadReplaced(GroupEvent):
    """The exception handler started a new thread in place of one that died (``REPLACE_THREAD``)."""

    instance: str
    thread: str | None = None
    cause: str = ""

    @property
    def sentence(self) -> str:
        return f"{_of_thread(self.instance, self.thread)} died and was replaced{_because(self.cause)}"


@attrs.frozen
class ShutdownRequested(GroupEvent):
    """The exception handler closes the instance, or the whole application (``SHUTDOWN_CLIENT`` and others)."""

    instance: str
    scope: str
    cause: str = ""

    @property
    def sentence(self) -> str:
        return f"the exception handler of {self.instance} closes the {self.scope}{_because(self.cause)}"


@attrs.frozen
class TasksCorrupted(GroupEvent):
    """The state of tasks was corrupt, and is restored again. The instance's log shows it."""

    instance: str
    tasks: tuple[str, ...]

    @property
    def sentence(self) -> str:
        return f"the state of {_named(self.tasks)} on {self.instance} was corrupt"


# --- members --------------------------------------------------------------------------------------------


@attrs.frozen
class MemberLeft(GroupEvent):
    """A member left by a request, as a log line shows.

    Args:
        reason: The line's own; may be empty.
    """

    is_departure: ClassVar[bool] = True
    instance: str
    member: str | None = None
    reason: str = ""

    @property
    def sentence(self) -> str:
        return f"a member of {self.instance} left{_because(self.reason)}"


@attrs.frozen
class MemberExpired(GroupEvent):
    """The coordinator removed a member without heartbeats. The coordinator's log shows it."""

    is_departure: ClassVar[bool] = True
    instance: str
    member: str | None = None

    @property
    def sentence(self) -> str:
        return f"the session of a member of {self.instance} ended without a heartbeat"


@attrs.frozen
class MemberFenced(GroupEvent):
    """A member was fenced: the broker knows it no more, or another one has its ``group.instance.id``."""

    is_departure: ClassVar[bool] = True
    instance: str
    member: str | None = None
    reason: str = ""

    @property
    def sentence(self) -> str:
        return f"{self.instance} was fenced{_because(self.reason)}"


@attrs.frozen
class PollTimedOut(GroupEvent):
    """A member left because its thread did not poll within ``max.poll.interval.ms``. A log line shows it.

    Args:
        interval_ms: The interval; ``None``: the line does not have it.
    """

    is_departure: ClassVar[bool] = True
    instance: str
    thread: str | None = None
    interval_ms: int | None = None

    @property
    def sentence(self) -> str:
        within = "" if self.interval_ms is None else f" of {self.interval_ms:,} ms"
        return f"{_of_thread(self.instance, self.thread)} did not poll within max.poll.interval.ms{within} and left"


@attrs.frozen
class RejoinRequested(GroupEvent):
    """A member requests a new rebalance, with the reason that its log names."""

    instance: str
    thread: str | None = None
    reason: str = ""

    @property
    def sentence(self) -> str:
        return f"{_of_thread(self.instance, self.thread)} joins again{_because(self.reason)}"


# --- the group ------------------------------------------------------------------------------------------


@attrs.frozen
class GroupEmptied(GroupEvent):
    """The last member is gone: the outage begins. A record without members shows it (rule ``EMPTY``).

    Args:
        number: Generation of the empty group; ``None``: unknown.
    """

    number: int | None = None

    @property
    def sentence(self) -> str:
        return "all instances are gone: the group is empty"


@attrs.frozen
class GroupRefilled(GroupEvent):
    """The first member is back after an outage (rule ``REFILLED``).

    Args:
        empty_ms: Duration of the outage.
    """

    empty_ms: int

    @property
    def sentence(self) -> str:
        return f"the group has members again after {self.duration} without any"

    @property
    def duration(self) -> str:
        seconds = round(self.empty_ms / 1_000)
        return f"{seconds} s" if seconds < 120 else f"{seconds // 60} min {seconds % 60} s"


@attrs.frozen
class GroupDeleted(GroupEvent):
    """A deletion of the group's record shows it."""

    @property
    def sentence(self) -> str:
        return "the group was deleted"


@attrs.frozen
class RebalanceBegun(GroupEvent):
    """The coordinator starts a rebalance. Its log shows it with the reason."""

    reason: str = ""

    @property
    def sentence(self) -> str:
        return f"a rebalance began{_because(self.reason)}"


@attrs.frozen
class RebalanceCompleted(GroupEvent):
    """All members have joined a generation, or an epoch is complete, without a decision that the source shows."""

    number: int | None = None
    members: int | None = None

    @property
    def sentence(self) -> str:
        name = "a rebalance" if self.number is None else f"generation {self.number}"
        return f"{name} is complete" + ("" if self.members is None else f" with {plural(self.members, 'member')}")


@attrs.frozen
class DecisionFailed(GroupEvent):
    """No assignment was made. A log line of the leader or coordinator names the cause.

    Args:
        cause: Such as a missing source topic, or the assignor's exception.
        number: Generation; ``None``: unknown.
    """

    cause: str
    number: int | None = None

    @property
    def sentence(self) -> str:
        return f"no assignment was made{_because(self.cause)}"


@attrs.frozen
class TopologyChanged(GroupEvent):
    """Tasks were added or removed (rule ``TASKS``), or the group's topology record differs."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        changes = [
            *([f"{plural(len(self.added), 'task')} more"] if self.added else []),
            *([f"{plural(len(self.removed), 'task')} fewer"] if self.removed else []),
        ]
        return f"the topology or its topics changed{_because(listed(changes))}"


@attrs.frozen
class SettingChanged(GroupEvent):
    """A setting of the group or its members changed (rule ``OTHER_SETTINGS``); ``None``: not set."""

    key: str
    before: str | None
    after: str | None

    @property
    def sentence(self) -> str:
        unset = "unset"
        return f"{self.key} changed from {self.before or unset} to {self.after or unset}"


@attrs.frozen
class ProtocolChanged(GroupEvent):
    """The group moved between the protocols ``classic`` and ``streams`` (rule ``OTHER_PROTOCOL``)."""

    before: str
    after: str

    @property
    def sentence(self) -> str:
        return f"the group moved from the {self.before} protocol to the {self.after} protocol"


@attrs.frozen
class ProbingDue(GroupEvent):
    """The interval of probing rebalances is over. A log shows it, or the rule ``INTERVAL_OVER``."""

    @property
    def sentence(self) -> str:
        return "a probing rebalance was due"


@attrs.frozen
class CoordinatorMoved(GroupEvent):
    """The group has another coordinator; ``None``: its broker is unknown."""

    broker: str | None = None

    @property
    def sentence(self) -> str:
        return "the coordinator moved" + ("" if self.broker is None else f" to broker {self.broker}")


@attrs.frozen
class BrokerRestarted(GroupEvent):
    """A broker started, as its log shows."""

    broker: str | None = None

    @property
    def sentence(self) -> str:
        return "a broker restarted" if self.broker is None else f"broker {self.broker} restarted"


# --- Connect --------------------------------------------------------------------------------------------


@attrs.frozen
class ConnectorCreated(GroupEvent):
    """A connector is new (rule ``CONNECTORS``)."""

    connector: str

    @property
    def sentence(self) -> str:
        return f"connector {self.connector} was created"


@attrs.frozen
class ConnectorDeleted(GroupEvent):
    """A connector is gone (rule ``CONNECTORS``)."""

    connector: str

    @property
    def sentence(self) -> str:
        return f"connector {self.connector} was deleted"


@attrs.frozen
class ConnectorPaused(GroupEvent):
    """A connector was paused, or stopped with its tasks given up (KIP-875). A worker's log shows it."""

    connector: str
    is_stopped: bool = False

    @property
    def sentence(self) -> str:
        return f"connector {self.connector} was {'stopped' if self.is_stopped else 'paused'}"


@attrs.frozen
class ConnectorResumed(GroupEvent):
    """A connector runs again after a pause or stop. A worker's log shows it."""

    connector: str

    @property
    def sentence(self) -> str:
        return f"connector {self.connector} was resumed"


@attrs.frozen
class TasksReconfigured(GroupEvent):
    """A connector has another number of tasks (rule ``CONNECTORS``)."""

    connector: str
    before: int
    after: int

    @property
    def sentence(self) -> str:
        return f"connector {self.connector} has {plural(self.after, 'task')} ({self.before} before)"


@attrs.frozen
class JobsRevoked(GroupEvent):
    """A worker gives up jobs, which others get in the next generation. The decision has them (rule ``REVOKED``).

    Args:
        jobs: Sorted.
    """

    instance: str
    jobs: tuple[str, ...]

    @property
    def sentence(self) -> str:
        shown = self.jobs if len(self.jobs) <= _MOST_JOBS else (*self.jobs[: _MOST_JOBS - 1],)
        more = len(self.jobs) - len(shown)
        return f"{self.instance} gives up {listed([*shown, *([f'{more} more'] if more else [])])}"


@attrs.frozen
class DelayBegun(GroupEvent):
    """Jobs of a departed worker wait for its return (KIP-415). The decision announces it.

    Args:
        jobs: Sorted; empty if no job waits: then the next revocation does.
        delay_ms: Longest wait.
    """

    jobs: tuple[str, ...]
    delay_ms: int

    @property
    def sentence(self) -> str:
        wait = f"{self.delay_ms / 1_000:g} s"
        if not self.jobs:
            return f"the next revocation waits {wait}"
        verb = "wait" if len(self.jobs) > 1 else "waits"
        return f"{_named(self.jobs)} {verb} for the departed worker, at most {wait}"


@attrs.frozen
class DelayEnded(GroupEvent):
    """The wait for a departed worker is over.

    Args:
        jobs: Jobs that waited and have an owner again, sorted.
        waited_ms: Time without an owner.
    """

    jobs: tuple[str, ...]
    waited_ms: int

    @property
    def sentence(self) -> str:
        waited = f"{self.waited_ms / 1_000:.3g} s"
        if not self.jobs:
            return f"the delay is over after {waited}"
        return f"{_named(self.jobs)} {'have owners' if len(self.jobs) > 1 else 'has an owner'} again after {waited}"


@attrs.frozen
class ConfigMismatch(GroupEvent):
    """The leader had not read the config offset that a member reported, and assigned nothing.

    Kafka: ``Assignment.CONFIG_MISMATCH``. In a loop the members read different config topics.

    Args:
        first: First of the generations.
        last: Last of the generations.
        rounds: Generations with this answer.
        leader: Its member id; empty if unknown.
        leader_url: Its REST interface.
        offset: The furthest member's config offset.
        during_ms: Time from the first to the last of them.
    """

    first: int
    last: int
    rounds: int
    leader: str
    leader_url: str
    offset: int
    during_ms: int

    @property
    def is_loop(self) -> bool:
        """A leader that is a moment behind catches up within a round or two."""
        return self.rounds > _FEW_MISMATCHES

    @property
    def sentence(self) -> str:
        if not self.is_loop:
            name = f"generation {self.first}" if self.first == self.last else f"generations {self.first} to {self.last}"
            return f"the leader was behind the configuration and assigned nothing in {name} (error=1)"
        return (
            f"CONFIG MISMATCH LOOP: {self.rounds} generations, {self.first} to {self.last}, in {self.during_ms:,} ms, "
            f"all with error=1 and without jobs; leader {self.leader} at {self.leader_url} never reaches config offset "
            f"{self.offset} of the furthest member: the members read different config topics. Either two Connect "
            "clusters share one group.id, or config.storage.topic differs between workers (or was deleted and created "
            "again, has several partitions, or is not compacted). Compare group.id, config.storage.topic and "
            "bootstrap.servers of all workers; give each cluster its own group.id"
        )
