"""Decisions of a group's leader, put together from the messages of its log.

A rebalance is told in up to a dozen messages. Most name the leader's thread; `Decided on assignment` and the
rack-aware ones do not, and are matched by the processes in them, which no two applications share. Messages of several
leaders may interleave, begin in one file and end in the next, or be missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import attrs

from assignor_lab.capture.errors import ClientStateTextError
from assignor_lab.capture.logs.logged_config import LoggedConfigs
from assignor_lab.capture.logs.message_text import ConsumerTasks, Facts, generation_of, processes_of, read_message
from assignor_lab.capture.logs.messages import Kind
from assignor_lab.capture.logs.rebalance import Decision, Problem, Rebalance
from assignor_lab.capture.logs.records import LogRecord
from assignor_lab.capture.logs.surroundings import SURROUNDING, LoggedSurroundings

__all__ = ["DecisionAssembler"]

#: Position of a message within a rebalance. A message that comes later than its place begins the next rebalance.
_RANK = {
    Kind.CLIENT_METADATA: 1,
    Kind.PARTICIPANTS: 2,
    Kind.TASKS: 3,
    Kind.CLIENT_STATES: 4,
    Kind.ASSIGNOR: 5,
    Kind.DEFAULT_ASSIGNOR: 5,
    Kind.BEFORE_OPTIMIZATION: 6,
    Kind.DECIDED: 7,
    Kind.PLACEMENT: 8,
    Kind.OLD_PLACEMENT: 8,
    Kind.TEMPORARY_STANDBY: 9,
    Kind.PROBING: 9,
    Kind.IMMEDIATE: 9,
    Kind.FOLLOWUP_OF_CLIENT: 9,
    Kind.CONSUMERS: 9,
    Kind.FINISHED: 10,
    Kind.GENERATION: 11,
}
_REPEATED = frozenset({6, 9})
#: Messages that do not name their thread.
_NAMELESS = frozenset({Kind.BEFORE_OPTIMIZATION, Kind.DECIDED})
#: So many unfinished rebalances are kept apart; the one that was silent for longest is closed.
_MAX_OPEN = 64


@attrs.define
class DecisionAssembler:
    """Takes messages one after another and gives decisions as they are complete.

    Args:
        on_problem: Told of what had to be left out, and why.
        surroundings: Gets what the messages tell around the decisions.
    """

    on_problem: Callable[[Problem], None]
    surroundings: LoggedSurroundings = attrs.field(factory=LoggedSurroundings)
    #: The rebalance that was silent for longest comes first.
    _open: list[Rebalance] = attrs.field(init=False, factory=list)
    #: Stream and thread to the generation of the latest join.
    _joined: dict[tuple[str, str], int | None] = attrs.field(init=False, factory=dict)
    #: Stream and thread to the consumer group.
    _groups: dict[tuple[str, str], str] = attrs.field(init=False, factory=dict)

    #: What instances have logged of their configuration.
    _configs: LoggedConfigs = attrs.field(init=False, factory=LoggedConfigs)

    def feed(self, record: LogRecord) -> Iterator[Decision]:
        """Takes the next message; yields the decisions that it completes."""
        if record.kind in SURROUNDING:
            self.surroundings.take(record)
            return
        if record.thread is not None and record.group is not None:
            self._groups[record.stream, record.thread] = record.group
            self.surroundings.belongs(record.thread, record.group)
        if record.kind is Kind.STREAMS_CONFIG:
            self._configs.take(record)
            return
        if record.kind is Kind.JOINED:
            if record.thread is not None:
                self._joined[record.stream, record.thread] = generation_of(record.text)
            return
        if record.kind is Kind.END_OFFSETS_FAILED:
            # Comes before or behind most of the others, and says nothing but that.
            rebalance = self._of_thread(record)
            if rebalance is not None and record.text.startswith("Failed"):
                rebalance.lags_failed = True
            return
        try:
            facts = read_message(record.kind, record.text)
        except ClientStateTextError as error:
            # The rebalance learns that the message was there, and does without it as far as that goes.
            self.on_problem(Problem.at(record, error))
            facts = None
        yield from self._place(record, facts)

    def finish(self) -> Iterator[Decision]:
        """Yields what is complete as far as the logs go."""
        for rebalance in list(self._open):
            yield from self._close(rebalance)

    def _place(self, record: LogRecord, facts: Facts | None) -> Iterator[Decision]:
        rebalance = self._find(record, facts)
        if rebalance is None:
            yield from self._close_predecessors(record, facts)
            rebalance = self._begin(record)
            if len(self._open) > _MAX_OPEN:
                yield from self._close(self._open[0])
        rebalance.rank = max(rebalance.rank, _RANK[record.kind])
        self._open.remove(rebalance)
        self._open.append(rebalance)
        rebalance.take(record, facts)
        if record.kind is Kind.GENERATION:
            yield from self._close(rebalance)

    def _begin(self, record: LogRecord) -> Rebalance:
        thread = None if record.kind in _NAMELESS else record.thread
        rebalance = Rebalance(record.stream, thread)
        if thread is not None:
            rebalance.group = self._groups.get((record.stream, thread))
            rebalance.generation = self._joined.pop((record.stream, thread), None)
        self._open.append(rebalance)
        return rebalance

    def _close(self, rebalance: Rebalance) -> Iterator[Decision]:
        self._open.remove(rebalance)
        for decision in rebalance.decision(self.on_problem):
            yield attrs.evolve(decision, config=self._configs.of_leader(decision.group, rebalance.thread))

    def _close_predecessors(self, record: LogRecord, facts: Facts | None) -> Iterator[Decision]:
        """Closes what the rebalance that begins with this message has replaced."""
        processes = processes_of(facts)
        for rebalance in list(self._open):
            same_thread = record.kind not in _NAMELESS and _same_thread(rebalance, record)
            nameless = rebalance.thread is None and rebalance.stream == record.stream
            if same_thread or (nameless and processes is not None and rebalance.processes == processes):
                yield from self._close(rebalance)

    # --- which rebalance a message belongs to -----------------------------------------------------

    def _find(self, record: LogRecord, facts: Facts | None) -> Rebalance | None:
        if record.kind in _NAMELESS:
            return self._find_for_nameless(record, facts)
        own = self._of_thread(record)
        if own is not None and _fits(own, record, facts):
            return own
        for rebalance in reversed(self._open):
            if rebalance.thread is None and _fits(rebalance, record, facts) and _surely(rebalance, record, facts):
                rebalance.thread = record.thread
                return rebalance
        return None

    def _of_thread(self, record: LogRecord) -> Rebalance | None:
        same = (rebalance for rebalance in reversed(self._open) if _same_thread(rebalance, record))
        return next(same, None)

    def _find_for_nameless(self, record: LogRecord, facts: Facts | None) -> Rebalance | None:
        fitting = [rebalance for rebalance in reversed(self._open) if _fits(rebalance, record, facts)]
        if processes_of(facts) is None:
            # Garbled: it belongs to whoever is waiting for it.
            fitting = [rebalance for rebalance in fitting if rebalance.stream == record.stream]
        hint = record.layout_thread
        for rebalance in fitting:
            if hint is not None and rebalance.thread is not None and rebalance.thread.endswith(f"{hint}-consumer"):
                return rebalance
        return next((rebalance for rebalance in fitting if rebalance.stream == record.stream), None) or next(
            iter(fitting), None
        )


def _same_thread(rebalance: Rebalance, record: LogRecord) -> bool:
    return rebalance.thread is not None and rebalance.thread == record.thread and rebalance.stream == record.stream


def _fits(rebalance: Rebalance, record: LogRecord, facts: Facts | None) -> bool:
    """Whether the message can be the next one of the rebalance."""
    rank = _RANK[record.kind]
    if rank < rebalance.rank or (rank == rebalance.rank and rank not in _REPEATED):
        return False
    if isinstance(facts, ConsumerTasks):
        known = rebalance.processes
        return facts.process not in rebalance.consumer_tasks and (known is None or facts.process in known)
    processes = processes_of(facts)
    return processes is None or rebalance.processes is None or processes == rebalance.processes


def _surely(rebalance: Rebalance, record: LogRecord, facts: Facts | None) -> bool:
    """Whether a message that names its thread belongs to a rebalance whose thread is not known."""
    if rebalance.processes is None:
        return False
    if isinstance(facts, ConsumerTasks):
        return facts.process in rebalance.processes
    if record.kind is Kind.GENERATION:
        members = record.text.count("=Assignment(")
        return rebalance.stream == record.stream and members == rebalance.members
    return processes_of(facts) == rebalance.processes
