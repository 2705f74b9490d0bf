"""One rebalance as far as a log tells it, and the decision in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import attrs

from assignment_api.streams import ProcessID, TaskId
from assignor_lab.capture.errors import ClientStateTextError
from assignor_lab.capture.logs.client_state_text import ClientStateText
from assignor_lab.capture.logs.logged_config import LoggedConfig
from assignor_lab.capture.logs.message_text import (
    ClientMetadata,
    ConsumerTasks,
    Decided,
    Facts,
    OptimizationStart,
    Participants,
    Placement,
    StatesBefore,
    TaskLists,
    TemporaryStandby,
    assignor_class,
    generation_of,
    processes_of,
)
from assignor_lab.capture.logs.messages import Kind
from assignor_lab.capture.logs.records import LogRecord
from assignor_lab.capture.logs.timestamps import LogTime, first_time

__all__ = ["Decision", "Problem", "Rebalance"]

#: The messages that a decision can be read from.
_TELLING = {Kind.DECIDED, Kind.CLIENT_STATES, Kind.PLACEMENT, Kind.OLD_PLACEMENT}


@attrs.frozen
class Problem:
    """Something in a log that could not be used.

    Args:
        file: The file's name as it was given.
        line: Line number from 1; ``None``: the file as a whole.
        column: Character in that line from 1, or ``None`` where it cannot be told.
        reason: What is wrong, and what became of it.
        loses_decision: Whether a decision is missing because of it.
    """

    file: str
    line: int | None
    column: int | None
    reason: str
    loses_decision: bool = False

    @classmethod
    def at(cls, record: LogRecord, error: ClientStateTextError) -> Problem:
        """The problem of a message that is garbled."""
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
class Decision:
    """What a leader knew, and what it decided.

    Args:
        record: The message with the decision.
        states: Process to what the leader knew of it; the assigned tasks in it are those of ``placement``, or none.
        placement: Process to (active tasks, standby tasks).
        followup: Whether a probing rebalance was asked for.
        followup_hidden: Whether an immediate rebalance keeps the log from saying so; ``followup`` is false then.
        order: All processes in the order of Kafka's map, or of the message where ``order_known`` is false.
        order_known: Whether the log shows the order of Kafka's map.
        group: Consumer group, which is the ``application.id``.
        generation: Generation of the group.
        assignor: Java class of the assignor if the log names one.
        hosts: Process to ``host:port`` or ``None`` (not configured); ``None`` altogether if the log does not say.
        consumers: Process to member ids; ``None`` if the log does not say.
        consumer_tasks: Process to its consumers' tasks; ``None`` if the log does not tell of every process.
        temporary: Standbys that last only until the task's old owner has let it go.
        task_lists: All tasks, stateful and stateless; ``None`` if the log does not say.
        standbys: ``num.standby.replicas`` of the leader; ``None`` if the log does not say.
        lags_failed: Whether the end offsets could not be fetched.
        before_optimization: States at the first rack-aware optimisation; ``None`` if the log shows none.
        config: What the leader's instance has logged of its configuration; ``None`` if the log does not show it.
        leader: Client id of the consumer that led the group, or ``None`` if no message names its thread.
        probing_at: When the probing rebalance was to begin, or ``None`` if the log does not say.
        immediate: Whether a rebalance was asked for that begins at once.
    """

    record: LogRecord
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
    consumer_tasks: Mapping[ProcessID, ConsumerTasks] | None
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
class Rebalance:
    """What the log has told of one rebalance so far.

    Args:
        stream: What tells several sources in one file apart.
        thread: Client id of the leader's consumer; ``None`` while only nameless messages were seen.
    """

    stream: str
    thread: str | None
    #: Position of the latest message.
    rank: int = 0
    group: str | None = None
    generation: int | None = None
    lags_failed: bool = False
    processes: frozenset[ProcessID] | None = None
    consumer_tasks: dict[ProcessID, ConsumerTasks] = attrs.field(factory=dict)
    _telling: dict[Kind, LogRecord] = attrs.field(factory=dict)
    _decided: Decided | None = None
    _before: StatesBefore | None = None
    _placement: Placement | None = None
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
        """Number of the group's members, which is that of the clients' threads."""
        known = self._decided or self._before
        return None if known is None else sum(state.capacity for state in known.states.values())

    def take(self, record: LogRecord, facts: Facts | None) -> None:
        """Adds a message; ``facts`` is ``None`` if it says nothing more, or is garbled."""
        if record.kind in _TELLING:
            self._telling[record.kind] = record
        self.processes = self.processes or processes_of(facts)
        match facts:
            case Decided():
                self._decided = facts
            case StatesBefore():
                self._before = facts
            case Placement():
                self._placement = facts
            case Participants():
                self._participants = facts
            case ClientMetadata():
                self._metadata = facts
            case TaskLists():
                self._task_lists = facts
            case OptimizationStart():
                self._optimization = self._optimization or facts
            case ConsumerTasks():
                self.consumer_tasks[facts.process] = facts
            case TemporaryStandby():
                self._temporary.append(facts)
            case None:
                self._take_plain(record)

    def _take_plain(self, record: LogRecord) -> None:
        match record.kind:
            case Kind.ASSIGNOR:
                self._assignor = assignor_class(record.text)
            case Kind.PROBING:
                self._probing = True
                self._probing_at = first_time(record.text)
            case Kind.IMMEDIATE:
                self._immediate = True
            case Kind.GENERATION:
                self.group = record.group or self.group
                self.generation = generation_of(record.text)
            case _:
                pass

    def decision(self, on_problem: Callable[[Problem], None]) -> Iterator[Decision]:
        """Yields the decision, if the log tells it; says what is missing if it tells it in part."""
        if self._decided is not None:
            yield self._made(self._telling[Kind.DECIDED], self._decided.states, _placed(self._decided.states))
            return
        told = self._telling.get(Kind.PLACEMENT) or self._telling.get(Kind.OLD_PLACEMENT)
        if told and self._before is not None and self._placement is not None:
            yield self._made(told, self._before.states, self._placement.tasks)
            return
        if reason := self._what_is_missing():
            record = next(self._telling[kind] for kind in (*_BY_WEIGHT,) if kind in self._telling)
            on_problem(Problem(record.file, record.line, None, reason, loses_decision=True))

    def _what_is_missing(self) -> str | None:
        told = self._telling
        if Kind.DECIDED in told or (Kind.CLIENT_STATES in told and len(told) > 1):
            return "decision left out: a message of it is garbled or cut off"
        if Kind.PLACEMENT in told or Kind.OLD_PLACEMENT in told:
            return (
                "decision left out: no line 'Decided on assignment', and no DEBUG line 'Assigning tasks and N standby "
                "replicas to client nodes' with its input: set the logger of StreamsPartitionAssignor to DEBUG"
            )
        if Kind.CLIENT_STATES in told:
            return "decision left out: the log shows its input, but not what came of it"
        return None

    def _made(
        self,
        record: LogRecord,
        states: Mapping[ProcessID, ClientStateText],
        placement: Mapping[ProcessID, tuple[tuple[TaskId, ...], tuple[TaskId, ...]]],
    ) -> Decision:
        told_of_all = frozenset(self.consumer_tasks) == frozenset(states)
        order = self._map_order(states, told_of_all=told_of_all)
        followup = self._probing or self._lags_replaced() if self._decided is None else self._decided.followup
        return Decision(
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
        """A client that has to let tasks go at once does not get the later deadline too, and no line tells of it."""
        return self._immediate and self._assignor not in _NEVER_ASKS

    def _lags_replaced(self) -> bool:
        # Kafka's own assignors are replaced by the fallback then, which always asks for a probing rebalance.
        return self.lags_failed and self._assignor is None

    def _map_order(
        self, states: Mapping[ProcessID, ClientStateText], *, told_of_all: bool
    ) -> tuple[ProcessID, ...] | None:
        """Kafka's map of clients shows its order in three messages; `Decided on assignment` is sorted instead."""
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
            process: tuple(sorted({**told.previous_standby, **told.previous_active, **told.active, **told.standby}))
            for process, told in self.consumer_tasks.items()
        }


#: Kafka's public sticky assignor, made by its class name, never asks for another rebalance.
_NEVER_ASKS = frozenset({"org.apache.kafka.streams.processor.assignment.assignors.StickyTaskAssignor"})
_BY_WEIGHT = (Kind.DECIDED, Kind.PLACEMENT, Kind.OLD_PLACEMENT, Kind.CLIENT_STATES)


def _placed(
    states: Mapping[ProcessID, ClientStateText],
) -> Mapping[ProcessID, tuple[tuple[TaskId, ...], tuple[TaskId, ...]]]:
    return {process: (state.active, state.standby) for process, state in states.items()}
