"""Decisions of a group's leader, assembled from the messages of its log.

One rebalance logs up to a dozen messages. Most name the leader's thread. `Decided on assignment` and the rack-aware
ones do not; the processes in them, which no two applications share, identify the rebalance. Messages of several leaders
may interleave, span two files, or be missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import attrs

from assignor_lab.capture.errors import ClientStateTextError
from assignor_lab.capture.logs.logged_config import LoggedConfigs
from assignor_lab.capture.logs.message_text import Facts, LoggedConsumerTasks, generation_of, processes_of, read_message
from assignor_lab.capture.logs.messages import MessageKind
from assignor_lab.capture.logs.rebalance import LoggedDecision, LoggedRebalance, LogProblem
from assignor_lab.capture.logs.records import LogMessage
from assignor_lab.capture.logs.surroundings import SURROUNDING, LoggedSurroundings

__all__ = ["TOO_OLD", "DecisionAssembler"]

#: A message before its place starts the next rebalance.
_RANK = {
    MessageKind.CLIENT_METADATA: 1,
    MessageKind.PARTICIPANTS: 2,
    MessageKind.TASKS: 3,
    MessageKind.CLIENT_STATES: 4,
    MessageKind.ASSIGNOR: 5,
    MessageKind.DEFAULT_ASSIGNOR: 5,
    MessageKind.BEFORE_OPTIMIZATION: 6,
    MessageKind.DECIDED: 7,
    MessageKind.PLACEMENT: 8,
    MessageKind.OLD_PLACEMENT: 8,
    MessageKind.TEMPORARY_STANDBY: 9,
    MessageKind.PROBING: 9,
    MessageKind.IMMEDIATE: 9,
    MessageKind.FOLLOWUP_OF_CLIENT: 9,
    MessageKind.CONSUMERS: 9,
    MessageKind.FINISHED: 10,
    MessageKind.GENERATION: 11,
}
#: Each release before 2.6 logged it, and no later one.
_BEFORE_2_6 = "ssignedTasks: ("
TOO_OLD = "a message of Kafka before 2.6 (known range 2.6 to 4.3)"
_REPEATED = frozenset({6, 9})
_NAMELESS = frozenset({MessageKind.BEFORE_OPTIMIZATION, MessageKind.DECIDED})
#: Then the rebalance that was silent for longest is closed.
_MAX_OPEN = 64


@attrs.define
class DecisionAssembler:
    """Assembles decisions from messages and returns each when it is complete."""

    on_problem: Callable[[LogProblem], None]
    surroundings: LoggedSurroundings = attrs.field(factory=LoggedSurroundings)
    #: The longest silent rebalance is first.
    _open: list[LoggedRebalance] = attrs.field(init=False, factory=list)
    _joined: dict[tuple[str, str], int | None] = attrs.field(init=False, factory=dict)
    _groups: dict[tuple[str, str], str] = attrs.field(init=False, factory=dict)

    _configs: LoggedConfigs = attrs.field(init=False, factory=LoggedConfigs)

    def feed(self, record: LogMessage) -> Iterator[LoggedDecision]:
        self.surroundings.causes.belongs(record)
        if record.kind in SURROUNDING:
            self.surroundings.take(record)
            return
        if record.thread is not None and record.group is not None:
            self._groups[record.stream, record.thread] = record.group
            self.surroundings.belongs(record.thread, record.group)
        if record.kind is MessageKind.GENERATION:
            self.surroundings.topics.take(record.group, record.text)
            self.surroundings.waited(record)
        if record.kind is MessageKind.STREAMS_CONFIG:
            self._configs.take(record)
            return
        if record.kind is MessageKind.JOINED:
            if record.thread is not None:
                self._joined[record.stream, record.thread] = generation = generation_of(record.text)
                self.surroundings.causes.joined(record, generation)
                self.surroundings.waited(record)
            return
        if record.kind is MessageKind.END_OFFSETS_FAILED:
            # It precedes or follows most others, without content.
            rebalance = self._of_thread(record)
            if rebalance is not None and record.text.startswith("Failed"):
                rebalance.lags_failed = True
            return
        try:
            facts = read_message(record.kind, record.text)
        except ClientStateTextError as error:
            if _BEFORE_2_6 in record.text:
                self._leave_out_old(record)
                return
            # The rebalance goes on without that message's content.
            self.on_problem(LogProblem.at(record, error))
            facts = None
        yield from self._place(record, facts)

    def _leave_out_old(self, record: LogMessage) -> None:
        if record.file not in self.surroundings.too_old:
            self.surroundings.too_old.append(record.file)
            self.on_problem(LogProblem(record.file, record.line, None, f"{TOO_OLD}: left out", loses_decision=True))

    def finish(self) -> Iterator[LoggedDecision]:
        for rebalance in list(self._open):
            yield from self._close(rebalance)

    def _place(self, record: LogMessage, facts: Facts | None) -> Iterator[LoggedDecision]:
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
        if record.kind is MessageKind.GENERATION:
            yield from self._close(rebalance)

    def _begin(self, record: LogMessage) -> LoggedRebalance:
        thread = None if record.kind in _NAMELESS else record.thread
        rebalance = LoggedRebalance(record.stream, thread)
        if thread is not None:
            rebalance.group = self._groups.get((record.stream, thread))
            rebalance.generation = self._joined.pop((record.stream, thread), None)
        self._open.append(rebalance)
        return rebalance

    def _close(self, rebalance: LoggedRebalance) -> Iterator[LoggedDecision]:
        self._open.remove(rebalance)
        for decision in rebalance.decision(self.on_problem):
            yield attrs.evolve(decision, config=self._configs.of_leader(decision.group, rebalance.thread))

    def _close_predecessors(self, record: LogMessage, facts: Facts | None) -> Iterator[LoggedDecision]:
        """Closes the rebalances that this message's rebalance replaces."""
        processes = processes_of(facts)
        for rebalance in list(self._open):
            same_thread = record.kind not in _NAMELESS and _same_thread(rebalance, record)
            nameless = rebalance.thread is None and rebalance.stream == record.stream
            if same_thread or (nameless and processes is not None and rebalance.processes == processes):
                yield from self._close(rebalance)

    # --- which rebalance a message belongs to -----------------------------------------------------

    def _find(self, record: LogMessage, facts: Facts | None) -> LoggedRebalance | None:
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

    def _of_thread(self, record: LogMessage) -> LoggedRebalance | None:
        same = (rebalance for rebalance in reversed(self._open) if _same_thread(rebalance, record))
        return next(same, None)

    def _find_for_nameless(self, record: LogMessage, facts: Facts | None) -> LoggedRebalance | None:
        fitting = [rebalance for rebalance in reversed(self._open) if _fits(rebalance, record, facts)]
        if processes_of(facts) is None:
            # A garbled message belongs to the rebalance that awaits it.
            fitting = [rebalance for rebalance in fitting if rebalance.stream == record.stream]
        hint = record.layout_thread
        for rebalance in fitting:
            if hint is not None and rebalance.thread is not None and rebalance.thread.endswith(f"{hint}-consumer"):
                return rebalance
        return next((rebalance for rebalance in fitting if rebalance.stream == record.stream), None) or next(
            iter(fitting), None
        )


def _same_thread(rebalance: LoggedRebalance, record: LogMessage) -> bool:
    return rebalance.thread is not None and rebalance.thread == record.thread and rebalance.stream == record.stream


def _fits(rebalance: LoggedRebalance, record: LogMessage, facts: Facts | None) -> bool:
    rank = _RANK[record.kind]
    if rank < rebalance.rank or (rank == rebalance.rank and rank not in _REPEATED):
        return False
    if isinstance(facts, LoggedConsumerTasks):
        known = rebalance.processes
        return facts.process not in rebalance.consumer_tasks and (known is None or facts.process in known)
    processes = processes_of(facts)
    return processes is None or rebalance.processes is None or processes == rebalance.processes


def _surely(rebalance: LoggedRebalance, record: LogMessage, facts: Facts | None) -> bool:
    """True if a message with a thread belongs to a rebalance without one."""
    if rebalance.processes is None:
        return False
    if isinstance(facts, LoggedConsumerTasks):
        return facts.process in rebalance.processes
    if record.kind is MessageKind.GENERATION:
        members = record.text.count("=Assignment(")
        return rebalance.stream == record.stream and members == rebalance.members
    return processes_of(facts) == rebalance.processes
