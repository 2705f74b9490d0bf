"""State of one client (an instance of the application with its threads), limited to an assignor's view."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import attrs

from assignment_api.errors import LagsNotComputedError, UnknownTaskError
from assignment_api.streams.ids import HostInfo, ProcessID, TaskId, utf16_key
from assignment_api.streams.listed_lags import ListedLags
from assignment_api.writable_classes import writable_class

__all__ = ["LATEST_OFFSET", "UNKNOWN_OFFSET_SUM", "StreamsClientState"]

#: Lag of a task that ran as an active task on this client (Kafka: ``Task.LATEST_OFFSET``).
LATEST_OFFSET = -2
#: Lag of a task whose offsets the client does not know (Kafka: ``UNKNOWN_OFFSET_SUM``).
UNKNOWN_OFFSET_SUM = -3
#: From here on a lag is not a number of offsets: the client is behind all others, by an unknown number. Kafka has no
#: such lag. States of groups have it if no record has the changelogs' ends. JSON holds it exactly.
UNTOLD_LAG = 2**53 - 1


@attrs.define(eq=False)
class LagGate:
    """Whether ``compute_task_lags()`` has returned true; shared by an application and its client states."""

    is_open: bool = False


def _sorted_texts(texts: object) -> tuple[str, ...]:
    return tuple(sorted(texts, key=utf16_key))  # type: ignore[call-overload]


def _sorted_tasks(tasks: object) -> tuple[TaskId, ...]:
    return tuple(sorted(tasks, key=TaskId.sort_key))  # type: ignore[call-overload]


def _frozen_mapping(mapping: Mapping[Any, Any] | None) -> Mapping[Any, Any] | None:
    # A read-only mapping is shared: many clients may have the same mapping of lags.
    is_frozen = mapping is None or isinstance(mapping, MappingProxyType | ListedLags)
    return mapping if is_frozen else MappingProxyType(dict(mapping or {}))


@attrs.frozen(eq=False)
class StreamsClientState:
    """State of one client before the assignment; read-only.

    Draft KIP-924: ``StreamsClientState``; Kafka 4.3: ``KafkaStreamsState``. Plain facts are attributes, in a fixed
    order. Values that depend on lags are methods, which raise until ``ApplicationMetadata.compute_task_lags()`` has
    returned true.

    Args:
        num_stream_threads: Number of its processing threads, which is its capacity.
        consumers: Ids of its consumers, sorted as Java sorts; may be empty in a synthetic state.
        previous_active_tasks: Previous active tasks, sorted; may include tasks that no longer exist.
        previous_standby_tasks: Previous standby tasks, sorted; may include tasks that no longer exist.
        lags: Task to lag in offsets, summed over the task's changelogs (-2 = was running active here, -3 = unknown), or
            ``None`` if the end offsets could not be fetched.
        previous_tasks_by_consumer: Consumer to the tasks (active and standby) that it reported, or ``None`` = unknown.
        host_info: ``application.server``, or ``None``.
        client_tags: ``client.tag.<key>`` to value.
        rack_id: ``client.rack``, or ``None``.
    """

    process_id: ProcessID
    num_stream_threads: int
    consumers: tuple[str, ...] = attrs.field(default=(), converter=_sorted_texts)
    previous_active_tasks: tuple[TaskId, ...] = attrs.field(default=(), converter=_sorted_tasks)
    previous_standby_tasks: tuple[TaskId, ...] = attrs.field(default=(), converter=_sorted_tasks)
    _lags: Mapping[TaskId, int] | None = attrs.field(default=None, converter=_frozen_mapping)
    _previous_tasks_by_consumer: Mapping[str, tuple[TaskId, ...]] | None = attrs.field(
        default=None, converter=_frozen_mapping
    )
    host_info: HostInfo | None = None
    client_tags: Mapping[str, str] = attrs.field(factory=dict, converter=_frozen_mapping)
    rack_id: str | None = None
    _gate: LagGate = attrs.field(factory=LagGate, repr=False)

    def lag_for(self, task: TaskId) -> int:
        """Lag of ``task`` on this client, in offsets; -2 and -3 as in the class's ``lags``.

        Raises:
            LagsNotComputedError: before the lags were computed.
            UnknownTaskError: if the task has no lag entry here (it is stateless, or its lag was not reported).
        """
        lag = self.stateful_tasks_to_lag_sums().get(task)
        if lag is None:
            raise UnknownTaskError(f"Tried to lookup lag for unknown task {task}")
        return lag

    def prev_tasks_by_lag(self, consumer: str) -> tuple[TaskId, ...]:
        """Previous tasks of ``consumer`` with a lag entry, by (lag, task); empty for an unknown consumer.

        Raises:
            LagsNotComputedError: before the lags were computed.
        """
        lags = self.stateful_tasks_to_lag_sums()
        known = (task for task in self.previous_tasks_of(consumer) if task in lags)
        return tuple(sorted(known, key=lambda task: (lags[task], task.sort_key())))

    def previous_tasks_of(self, consumer: str) -> tuple[TaskId, ...]:
        """Tasks (active and standby) that ``consumer`` reported, in the order of the input; empty if unknown."""
        return (self._previous_tasks_by_consumer or {}).get(consumer, ())

    def stateful_tasks_to_lag_sums(self) -> Mapping[TaskId, int]:
        """Lags of all tasks that have an entry, in the order of the input; read-only.

        Raises:
            LagsNotComputedError: before the lags were computed.
        """
        if not self._gate.is_open or self._lags is None:
            raise LagsNotComputedError(
                f"lags of client {self.process_id} are not there: call compute_task_lags() of the application first, "
                "and go without them where it answers false"
            )
        return self._lags

    def has_lags(self) -> bool:
        """True if the end offsets are known, so that lags *can* be computed."""
        return self._lags is not None

    def behind(self, gate: LagGate) -> StreamsClientState:
        """The same state with another gate, for passing one state to several assignors."""
        return client_in_order(
            self.process_id,
            self.num_stream_threads,
            self.consumers,
            self.previous_active_tasks,
            self.previous_standby_tasks,
            self._lags,
            self._previous_tasks_by_consumer,
            self.host_info,
            self.client_tags,
            self.rack_id,
            gate,
        )


def lags_of(client: StreamsClientState) -> Mapping[TaskId, int] | None:
    """The lags of a state, even before they were computed; for tools, not for assignors. ``None``: not fetched."""
    return client._lags


def client_in_order(
    process_id: ProcessID,
    num_stream_threads: int,
    consumers: tuple[str, ...],
    previous_active_tasks: tuple[TaskId, ...],
    previous_standby_tasks: tuple[TaskId, ...],
    lags: Mapping[TaskId, int] | None,
    previous_tasks_by_consumer: Mapping[str, tuple[TaskId, ...]] | None,
    host_info: HostInfo | None,
    client_tags: Mapping[str, str],
    rack_id: str | None,
    gate: LagGate,
) -> StreamsClientState:
    """A client state from sorted, read-only parts; many times faster than the class itself."""
    made = object.__new__(_OpenState)
    made.process_id = process_id
    made.num_stream_threads = num_stream_threads
    made.consumers = consumers
    made.previous_active_tasks = previous_active_tasks
    made.previous_standby_tasks = previous_standby_tasks
    made._lags = lags
    made._previous_tasks_by_consumer = previous_tasks_by_consumer
    made.host_info = host_info
    made.client_tags = client_tags
    made.rack_id = rack_id
    made._gate = gate
    made.__class__ = StreamsClientState
    return made  # type: ignore[no-any-return]


_OpenState = writable_class(StreamsClientState)
