"""State of a client: an instance of the application."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import attrs

from assignment_api.errors import LagsNotComputedError, UnknownTaskError
from assignment_api.streams.ids import HostInfo, ProcessID, TaskId, utf16_key
from assignment_api.streams.listed_lags import ListedLags
from assignment_api.writable_classes import writable_class

__all__ = ["LATEST_OFFSET", "UNKNOWN_OFFSET_SUM", "KafkaStreamsState", "StreamsClientState"]

#: Lag of a task that ran as active here (Kafka: ``Task.LATEST_OFFSET``).
LATEST_OFFSET = -2
#: Lag of a task with offsets unknown here (Kafka: ``UNKNOWN_OFFSET_SUM``).
UNKNOWN_OFFSET_SUM = -3
#: From here on: behind all others, by an unknown number; not in Kafka. For states of groups without known changelog
#: ends. JSON holds it exactly.
UNTOLD_LAG = 2**53 - 1


@attrs.define(eq=False)
class LagGate:
    """Whether ``compute_task_lags()`` returned true, for an application and its clients."""

    is_open: bool = False


def _sorted_texts(texts: object) -> tuple[str, ...]:
    return tuple(sorted(texts, key=utf16_key))  # type: ignore[call-overload]


def _sorted_tasks(tasks: object) -> tuple[TaskId, ...]:
    return tuple(sorted(tasks, key=TaskId.sort_key))  # type: ignore[call-overload]


def _frozen_mapping(mapping: Mapping[Any, Any] | None) -> Mapping[Any, Any] | None:
    # Read-only: clients may share one mapping of lags.
    is_frozen = mapping is None or isinstance(mapping, MappingProxyType | ListedLags)
    return mapping if is_frozen else MappingProxyType(dict(mapping or {}))


@attrs.frozen(eq=False)
class StreamsClientState:
    """A client before the assignment; read-only.

    Draft KIP-924: ``StreamsClientState``; Kafka 4.3: ``KafkaStreamsState``. Methods that depend on lags raise until
    ``ApplicationMetadata.compute_task_lags()`` returned true.

    Args:
        num_stream_threads: Its capacity.
        consumers: Ids, sorted as Java sorts; may be empty in a synthetic state.
        previous_active_tasks: Sorted; may include vanished tasks.
        previous_standby_tasks: Sorted; may include vanished tasks.
        lags: Task to lag in offsets, summed over its changelogs (-2 = was active here, -3 = unknown); ``None`` without
            end offsets.
        previous_tasks_by_consumer: Consumer to reported active and standby tasks, or ``None``.
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
        """Lag here, in offsets; -2 and -3 as in ``lags``.

        Raises:
            LagsNotComputedError: before lags were computed.
            UnknownTaskError: without an entry (stateless, or unreported).
        """
        lag = self.stateful_tasks_to_lag_sums().get(task)
        if lag is None:
            raise UnknownTaskError(f"Tried to lookup lag for unknown task {task}")
        return lag

    def prev_tasks_by_lag(self, consumer: str) -> tuple[TaskId, ...]:
        """Previous tasks of ``consumer`` with a lag, by (lag, task); empty if unknown.

        Raises:
            LagsNotComputedError: before lags were computed.
        """
        lags = self.stateful_tasks_to_lag_sums()
        known = (task for task in self.previous_tasks_of(consumer) if task in lags)
        return tuple(sorted(known, key=lambda task: (lags[task], task.sort_key())))

    def previous_tasks_of(self, consumer: str) -> tuple[TaskId, ...]:
        """Active and standby tasks that ``consumer`` reported, in the order of the input; empty if unknown."""
        return (self._previous_tasks_by_consumer or {}).get(consumer, ())

    def stateful_tasks_to_lag_sums(self) -> Mapping[TaskId, int]:
        """All entries, in the order of the input; read-only.

        Raises:
            LagsNotComputedError: before lags were computed.
        """
        if not self._gate.is_open or self._lags is None:
            raise LagsNotComputedError(
                f"lags of client {self.process_id} are not there: call compute_task_lags() of the application first, "
                "and go without them where it answers false"
            )
        return self._lags

    def has_lags(self) -> bool:
        """True with end offsets: lags *can* be computed."""
        return self._lags is not None

    def behind(self, gate: LagGate) -> StreamsClientState:
        """With another gate, for another assignor."""
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
    """Lags even before their computation, or ``None``; for tools, not for assignors."""
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
    """From sorted, read-only parts; many times faster than the class."""
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


#: The name of released Kafka.
KafkaStreamsState = StreamsClientState
