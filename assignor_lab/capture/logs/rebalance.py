"""One rebalance in a log, and its decision."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import attrs

from assignment_api.streams import ProcessID, TaskId
from assignor_lab.capture.errors import ClientStateTextError
from assignor_lab.capture.logs.client_state_text import ClientStateText
from assignor_lab.capture.logs.logged_config import LoggedConfig
from assignor_lab.capture.logs.message_text import (
    ClientMetadata,
    Facts,
    LoggedConsumerTasks,
    LoggedOutcome,
    LoggedPlacement,
    OptimizationStart,
    Participants,
    StatesBefore,
    TaskLists,
    TemporaryStandby,
    assignor_class,
    generation_of,
    processes_of,
)
from assignor_lab.capture.logs.messages import MessageKind
from assignor_lab.capture.logs.records import LogMessage
from assignor_lab.capture.logs.timestamps import LogTime, first_time

__all__ = ["LoggedDecision", "LogProblem", "LoggedRebalance"]

_TELLING = {MessageKind.DECIDED, MessageKind.CLIENT_STATES, MessageKind.PLACEMENT, MessageKind.OLD_PLACEMENT}


@attrs.frozen
class LogProblem:
    """A fault in a log.

    Args:
        column: From 1, or ``None`` if unknown.
        reason: The fault and its effect.
    """

    file: str
    line: int | None
    column: int | None
    reason: str
    loses_decision: bool = False

    @classmethod
    def at(cls, record: LogMessage, error: ClientStateTextError) -> LogProblem:
        line_start = record.text.rfind("\n", 0, error.position)
        line = record.line + record.text.count("\n", 0, max(error.position, 0))
        column = None if record.column is None or line_start >= 0 else record.column + error.position + 1
        shown = " ".join(record.kind.value.split())
        where = "" if column is not None else f" (character {error.position + 1} of the message)"
        return cls(record.file, line, column, f"the message {shown!r} is garbled or cut off: {error.reason}{where}")

    def __str__(self) -> str:
        line = "" if self.line is None else f":{self.line}"
        place = f"{self.file}{line}" + ("" if self.column is None else f":{self.column}")
        return f"{place}: {self.reason}"


@attrs.frozen
class LoggedDecision:
    """A leader's input and its decision. ``None``: not logged.

    Args:
        states: Their assigned tasks are those of ``placement``, or none.
        followup: True if a probing rebalance was requested.
        followup_hidden: True if an immediate rebalance hides that request; ``followup`` is false then.
        order: Processes in the order of Kafka's map, or of the message if ``order_known`` is false.
        group: The ``application.id``.
        hosts: Process to ``host:port`` or ``None`` (not configured).
        consumer_tasks: ``None`` if a process is missing.
        temporary: Standbys until the task's old owner has released it.
        task_lists: Stateful and stateless.
        standbys: ``num.standby.replicas`` of the leader.
        lags_failed: True if the end offsets could not be fetched.
        before_optimization: States at the first rack-aware optimisation.
        leader: Client id of the leader's consumer.
    """

    record: LogMessage
    states: Mapping[ProcessID, ClientStateText]
    placement: Mapping[ProcessID, tuple[tuple[TaskId, ...], tuple[TaskId, ...]]]
    followup: bool
    followup_hidden: bool
    order: tuple[ProcessID, ...]
    order_known: bool
    group: str | None
    generation: int | None
    assignor: str | None
    hosts: Mapping[ProcessID, str | None] | None
    consumers: Mapping[ProcessID, tuple[str, ...]] | None
    consumer_tasks: Mapping[ProcessID, LoggedConsumerTasks] | None
    temporary: tuple[TemporaryStandby, ...]
    task_lists: TaskLists | None
    standbys: int | None
    lags_failed: bool
    before_optimization: Mapping[ProcessID, ClientStateText] | None
    config: LoggedConfig | None = None
    leader: str | None = None
    probing_at: LogTime | None = None
    immediate: bool = False


@attrs.define(eq=False)
class LoggedRebalance:
    """The logged part of one rebalance.

    Args:
        thread: Client id of the leader's consumer; ``None`` after nameless messages only.
    """

    stream: str
    thread: str | None
    rank: int = 0
    group: str | None = None
    generation: int | None = None
    lags_failed: bool = False
    processes: frozenset[ProcessID] | None = None
    consumer_tasks: dict[ProcessID, LoggedConsumerTasks] = attrs.field(factory=dict)
    _telling: dict[MessageKind, LogMessage] = attrs.field(factory=dict)
    _decided: LoggedOutcome | None = None
    _before: StatesBefore | None = None
    _placement: LoggedPlacement | None = None
    _participants: Participants | None = None
    _metadata: ClientMetadata | None = None
    _task_lists: TaskLists | None = None
    _optimization: OptimizationStart | None = None
    _temporary: list[TemporaryStandby] = attrs.field(factory=list)
    _assignor: str | None = None
    _probing: bool = False
    _probing_at: LogTime | None = None
    _immediate: bool = False

    @property
    def members(self) -> int | None:
        known = self._decided or self._before
        return None if known is None else sum(state.capacity for state in known.states.values())

    def take(self, record: LogMessage, facts: Facts | None) -> None:
        if record.kind in _TELLING:
            self._telling[record.kind] = record
        self.processes = self.processes or processes_of(facts)
        match facts:
            case LoggedOutcome():
                self._decided = facts
            case StatesBefore():
                self._before = facts
            case LoggedPlacement():
                self._placement = facts
            case Participants():
                self._participants = facts
            case ClientMetadata():
                self._metadata = facts
            case TaskLists():
                self._task_lists = facts
            case OptimizationStart():
                self._optimization = self._optimization or facts
            case LoggedConsumerTasks():
                self.consumer_tasks[facts.process] = facts
            case TemporaryStandby():
                self._temporary.append(facts)
            case None:
                self._take_plain(record)

    def _take_plain(self, record: LogMessage) -> None:
        match record.kind:
            case MessageKind.ASSIGNOR:
                self._assignor = assignor_class(record.text)
            case MessageKind.PROBING:
                self._probing = True
                self._probing_at = first_time(record.text)
            case MessageKind.IMMEDIATE:
                self._immediate = True
            case MessageKind.GENERATION:
                self.group = record.group or self.group
                self.generation = generation_of(record.text)
            case _:
                pass

    def decision(self, on_problem: Callable[[LogProblem], None]) -> Iterator[LoggedDecision]:
        """Reports missing parts of an incomplete decision."""
        if self._decided is not None:
            yield self._made(self._telling[MessageKind.DECIDED], self._decided.states, _placed(self._decided.states))
            return
        messages = self._telling.get(MessageKind.PLACEMENT) or self._telling.get(MessageKind.OLD_PLACEMENT)
        if messages and self._before is not None and self._placement is not None:
            yield self._made(messages, self._before.states, self._placement.tasks)
            return
        if reason := self._what_is_missing():
            record = next(self._telling[kind] for kind in (*_BY_WEIGHT,) if kind in self._telling)
            on_problem(LogProblem(record.file, record.line, None, reason, loses_decision=True))

    def _what_is_missing(self) -> str | None:
        messages = self._telling
        if MessageKind.DECIDED in messages or (MessageKind.CLIENT_STATES in messages and len(messages) > 1):
            return "decision left out: a message of it is garbled or cut off"
        if MessageKind.PLACEMENT in messages or MessageKind.OLD_PLACEMENT in messages:
            return (
                "decision left out: no line 'Decided on assignment', and no DEBUG line 'Assigning tasks and N standby "
                "replicas to client nodes' with its input: set the logger of StreamsPartitionAssignor to DEBUG"
            )
        if MessageKind.CLIENT_STATES in messages:
            return "decision left out: the log shows its input, but not its outcome"
        return None

    def _made(
        self,
        record: LogMessage,
        states: Mapping[ProcessID, ClientStateText],
        placement: Mapping[ProcessID, tuple[tuple[TaskId, ...], tuple[TaskId, ...]]],
    ) -> LoggedDecision:
        told_of_all = frozenset(self.consumer_tasks) == frozenset(states)
        order = self._map_order(states, told_of_all=told_of_all)
        followup = self._probing or self._lags_replaced() if self._decided is None else self._decided.followup
        return LoggedDecision(
            record=record,
            states=states,
            placement=placement,
            followup=followup,
            followup_hidden=self._decided is None and not followup and self._may_hide_followup(),
            order=tuple(states) if order is None else order,
            order_known=order is not None,
            group=self.group,
            generation=self.generation,
            assignor=self._assignor,
            hosts=None if self._metadata is None else self._metadata.hosts,
            consumers=self._consumers(told_of_all=told_of_all),
            consumer_tasks=dict(self.consumer_tasks) if told_of_all else None,
            temporary=tuple(self._temporary),
            task_lists=self._task_lists,
            standbys=None if self._before is None else self._before.standbys,
            lags_failed=self.lags_failed,
            before_optimization=None if self._optimization is None else self._optimization.states,
            leader=self.thread,
            probing_at=self._probing_at,
            immediate=self._immediate,
        )

    def _may_hide_followup(self) -> bool:
        """A client that must release tasks at once does not get the later deadline too; no line shows it."""
        return self._immediate and self._assignor not in _NEVER_ASKS

    def _lags_replaced(self) -> bool:
        # The fallback replaces Kafka's assignors then, and always requests a probing rebalance.
        return self.lags_failed and self._assignor is None

    def _map_order(
        self, states: Mapping[ProcessID, ClientStateText], *, told_of_all: bool
    ) -> tuple[ProcessID, ...] | None:
        """Three messages show the order of Kafka's map of clients; `Decided on assignment` is sorted instead."""
        if self._before is not None and frozenset(self._before.states) == frozenset(states):
            return tuple(self._before.states)
        if self._metadata is not None and frozenset(self._metadata.hosts) == frozenset(states):
            return tuple(self._metadata.hosts)
        return tuple(self.consumer_tasks) if told_of_all else None

    def _consumers(self, *, told_of_all: bool) -> Mapping[ProcessID, tuple[str, ...]] | None:
        if self._participants is not None:
            return self._participants.consumers
        if self._metadata is not None:
            return self._metadata.consumers
        if not told_of_all:
            return None
        return {
            process: tuple(sorted({**tasks.previous_standby, **tasks.previous_active, **tasks.active, **tasks.standby}))
            for process, tasks in self.consumer_tasks.items()
        }


#: Kafka's public sticky assignor never requests another rebalance.
_NEVER_ASKS = frozenset({"org.apache.kafka.streams.processor.assignment.assignors.StickyTaskAssignor"})
_BY_WEIGHT = (MessageKind.DECIDED, MessageKind.PLACEMENT, MessageKind.OLD_PLACEMENT, MessageKind.CLIENT_STATES)


def _placed(
    states: Mapping[ProcessID, ClientStateText],
) -> Mapping[ProcessID, tuple[tuple[TaskId, ...], tuple[TaskId, ...]]]:
    return {process: (state.active, state.standby) for process, state in states.items()}
