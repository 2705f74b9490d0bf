"""Histories of Connect groups from the workers' logs at INFO: each worker logs all its jobs after each generation.

Member ids are in the logs of Kafka 2.7 and later, or at DEBUG. Without them the workers have the names of their logs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, tzinfo
from pathlib import PurePath
from typing import Any

import attrs

from assignment_api.connect import MAX_DELAY_KEY, NO_JOBS, ConnectProtocol, Jobs
from assignment_api.plugins.layers import ConfigLayer
from assignor_lab.capture.errors import NoDecisionError
from assignor_lab.capture.histories.group_histories import history_of_rounds
from assignor_lab.capture.logs.connect.lines import LogSource, WorkerLine
from assignor_lab.capture.logs.connect.messages import (
    Completed,
    GroupSynced,
    LoggedJoin,
    ProcessStarted,
    StateSet,
    WorkerLeft,
)
from assignor_lab.capture.logs.connect.processes import WorkerLog, worker_logs
from assignor_lab.capture.logs.connect.rounds import RecordedRound, worker_lives
from assignor_lab.capture.logs.open_dates import LogDates
from assignor_lab.capture.recorded.connect.described import DescribedRound, DescribedWorker
from assignor_lab.capture.recorded.connect.histories import SeenRound, histories
from assignor_lab.documents.errors import Place
from assignor_lab.documents.wording import plural
from assignor_lab.kafka.wire.connect import (
    AssignmentMessage,
    SubscriptionMessage,
    decode_connect_assignment,
    encode_connect_assignment,
)
from assignor_lab.model.events import (
    ConfigMismatch,
    ConnectorPaused,
    ConnectorResumed,
    GroupEvent,
    InstanceStarted,
    MemberLeft,
    PollTimedOut,
)
from assignor_lab.model.evidence import Evidence
from assignor_lab.model.history import GroupHistory
from assignor_lab.model.moment import Moment
from assignor_lab.scenarios.connect_history import MEMBER_IDS_UNKNOWN
from assignor_lab.scenarios.formats.connect import read_connect

__all__ = ["LoggedConnect", "config_loops", "connect_histories", "logged_connect", "with_connect"]

_RANDOM = re.compile(r"-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
_PROTOCOLS = {0: ConnectProtocol.EAGER, 1: ConnectProtocol.COMPATIBLE, 2: ConnectProtocol.SESSIONED}
_ALL_WORKERS = "the logs are taken as those of all workers of the group"
_TIMED_OUT = "poll timeout"
#: A leader that falls behind again after this time begins another loop.
_LOOP_PAUSE_MS = 60_000


@attrs.frozen
class LoggedConnect:
    """The content of the logs of Connect workers.

    Args:
        documents: Histories of kind ``connect``, by group and start.
        events: By group and time.
        problems: Sentences on missing parts.
    """

    documents: tuple[dict[str, Any], ...]
    events: tuple[tuple[str, GroupEvent], ...]
    problems: tuple[str, ...]


@attrs.frozen
class _Received:
    """An assignment in a worker's own log, with the jobs that it had before."""

    name: str
    member: str
    line: WorkerLine
    completed: Completed
    before: Jobs


def logged_connect(
    logs: Iterable[WorkerLog], *, zone: tzinfo | None = None, max_delay_ms: int | None = None
) -> LoggedConnect:
    """Histories and events of all groups in the logs.

    Raises:
        MergedWorkersError: if workers' lines are merged and cannot be told apart.
    """
    by_group: dict[str, list[WorkerLog]] = {}
    for log in logs:
        by_group.setdefault(log.group, []).append(log)
    documents: list[dict[str, Any]] = []
    events: list[tuple[str, GroupEvent]] = []
    problems: list[str] = []
    for group, own in by_group.items():
        for log in own:
            log.refuse_unclear()
        reader = _Group(group, own, zone or UTC, max_delay_ms)
        documents += reader.documents(problems.append)
        events += [(group, event) for event in sorted(reader.events(), key=lambda event: event.at.latest_ms)]
    return LoggedConnect(tuple(documents), tuple(events), tuple(problems))


def connect_histories(logs: Iterable[WorkerLog]) -> tuple[list[GroupHistory], tuple[str, ...]]:
    """The histories of the groups in the logs, and sentences on missing parts."""
    found = logged_connect(logs)
    groups = dict.fromkeys(group for group, _ in found.events)
    groups.update(dict.fromkeys(document["source"]["group"] for document in found.documents))
    histories = [
        history_of_rounds(
            group,
            [read_connect(each) for each in found.documents if each["source"]["group"] == group],
            [event for of, event in found.events if of == group],
        )
        for group in groups
    ]
    return histories, found.problems


def config_loops(logs: Iterable[WorkerLog]) -> list[str]:
    """Sentences on loops of config mismatches in the logs of any groups."""
    by_group: dict[str, list[WorkerLog]] = {}
    for log in logs:
        by_group.setdefault(log.group, []).append(log)
    found = [each for group, own in by_group.items() for each in _Group(group, own, UTC, None).mismatches()]
    return [each.sentence for each in found if each.is_loop]


def with_connect(
    documents: Iterator[dict[str, Any]],
    sources: Sequence[LogSource],
    *,
    zone: tzinfo | None = None,
    dates: LogDates | None = None,
    config: Sequence[ConfigLayer] = (),
    on_problem: Callable[[str], None] = lambda _: None,
    on_event: Callable[[str | None, GroupEvent], None] = lambda _, __: None,
) -> Iterator[dict[str, Any]]:
    """The documents of Streams groups; if the logs hold none, those of Connect groups.

    Raises:
        NoDecisionError: if the logs hold neither.
    """
    try:
        yield from documents
    except NoDecisionError:
        found = logged_connect(worker_logs(sources, dates), zone=zone, max_delay_ms=_max_delay_ms(config))
        if not (found.documents or found.events):
            raise
        for sentence in found.problems:
            on_problem(sentence)
        for group, event in found.events:
            on_event(group, event)
        yield from found.documents


def _max_delay_ms(config: Sequence[ConfigLayer]) -> int | None:
    given = [layer.entries[MAX_DELAY_KEY].value for layer in config if MAX_DELAY_KEY in layer.entries]
    return int(str(given[-1])) if given else None


@attrs.define
class _Group:
    group: str
    logs: Sequence[WorkerLog]
    zone: tzinfo
    max_delay_ms: int | None
    #: Name of each log's worker in views; without it, a member id that ends with random digits has the name before.
    names: list[str] = attrs.field(init=False)
    received: list[_Received] = attrs.field(init=False)
    #: Member id to its id in documents, if several workers share a client id.
    renamed: dict[str, str] = attrs.field(init=False, factory=dict)

    def __attrs_post_init__(self) -> None:
        self.names = self._distinct_names()
        together = [list(self._received(name, log)) for name, log in zip(self.names, self.logs, strict=True)]
        labels = [
            next((_RANDOM.sub("", each.member) for each in found if each.member), name)
            for name, found in zip(self.names, together, strict=True)
        ]
        if not _collide(labels, together):
            together = [
                [attrs.evolve(each, name=label) for each in found]
                for label, found in zip(labels, together, strict=True)
            ]
            self.names = labels
        else:
            for found in together:
                for each in found:
                    if each.member and (random := _RANDOM.search(each.member)):
                        self.renamed[each.member] = each.name + random[0]
        self.received = [each for found in together for each in found]

    def documents(self, on_problem: Callable[[str], None]) -> Iterator[dict[str, Any]]:
        # Numbers begin again if the group was deleted.
        rounds: dict[tuple[str, int], list[_Received]] = {}
        for each in self.received:
            message = each.completed
            rounds.setdefault((message.message.leader, message.generation), []).append(each)
        decided = {
            (recorded.leader, recorded.generation): recorded
            for life in worker_lives(self.logs)
            for recorded in life.rounds
            if recorded.assignments and not recorded.problem and recorded.is_delay_known
        }
        own = {member for log in self.logs for member in log.members}
        strangers = sorted({member for recorded in decided.values() for member in recorded.subscriptions} - own)
        seen: list[SeenRound] = []
        numbers: dict[int, int] = {}
        missing: dict[str, int] = {}
        has_ids = not self.renamed
        for key in sorted(rounds, key=lambda key: min(self._ms(each.line) for each in rounds[key])):
            together, recorded = rounds[key], decided.get(key)
            if recorded is None and (stranger := self._stranger(key[0]) or next(iter(strangers), "")):
                missing[stranger] = missing.get(stranger, 0) + 1
                continue
            seen.append(self._seen(together, recorded))
            numbers[id(seen[-1])] = key[1]
            has_ids = has_ids and (recorded is not None or all(each.member for each in together))
        for member, count in missing.items():
            on_problem(
                f"{self.logs[0].file}: group {self.group!r:.80}: the log of the worker {member} is missing, so "
                f"{plural(count, 'generation')} {'is' if count == 1 else 'are'} left out: give the logs of all workers"
            )
        for document, stretch in histories(seen, self.max_delay_ms):
            document["source"]["generations"] = [numbers[id(each)] for each in stretch]
            document["assumptions"] += [_ALL_WORKERS, *([] if has_ids else [MEMBER_IDS_UNKNOWN])]
            yield document

    def events(self) -> Iterator[GroupEvent]:
        yield from self.mismatches()
        states: dict[str, str] = {}
        lines = [(name, line) for name, log in self._named() for line in log.lines if line.time is not None]
        for name, line in sorted(lines, key=lambda each: self._ms(each[1])):
            message, at, evidence = line.message, Moment.at(self._ms(line)), _evidence(line)
            if isinstance(message, ProcessStarted) and message.is_herder:
                yield InstanceStarted(at, evidence, name)
            elif isinstance(message, WorkerLeft):
                is_late = _TIMED_OUT in message.reason
                yield (
                    PollTimedOut(at, evidence, name)
                    if is_late
                    else MemberLeft(at, evidence, name, message.member or None, message.reason)
                )
            elif isinstance(message, StateSet) and states.get(message.connector) != message.state:
                # Each worker with a part of the connector logs it.
                is_first = message.connector not in states
                states[message.connector] = message.state
                if message.state in ("PAUSED", "STOPPED"):
                    yield ConnectorPaused(at, evidence, message.connector, is_stopped=message.state == "STOPPED")
                elif not is_first:
                    yield ConnectorResumed(at, evidence, message.connector)

    def mismatches(self) -> Iterator[ConfigMismatch]:
        """One event for each run of generations in which the leader was behind."""
        found: dict[int, WorkerLine] = {}
        for _, log in self._named():
            for line in log.lines:
                message = line.message
                if isinstance(message, Completed) and message.message.error and line.time is not None:
                    found.setdefault(message.generation, line)
        run: list[WorkerLine] = []
        for generation in sorted(found):
            line = found[generation]
            if run and (_number(run[-1]) + 1 != generation or self._ms(line) - self._ms(run[-1]) > _LOOP_PAUSE_MS):
                yield self._mismatch(run)
                run = []
            run.append(line)
        if run:
            yield self._mismatch(run)

    def _mismatch(self, run: Sequence[WorkerLine]) -> ConfigMismatch:
        first, last = self._ms(run[0]), self._ms(run[-1])
        assert isinstance(run[-1].message, Completed)
        message = run[-1].message.message
        return ConfigMismatch(
            Moment(min(first, last), max(first, last)),
            _evidence(run[0]),
            _number(run[0]),
            _number(run[-1]),
            len(run),
            message.leader,
            message.leader_url,
            message.config_offset,
            max(0, last - first),
        )

    # --- workers --------------------------------------------------------------------------------------

    def _named(self) -> Iterator[tuple[str, WorkerLog]]:
        return zip(self.names, self.logs, strict=True)

    def _distinct_names(self) -> list[str]:
        """Client id, prefix of a tool, file or member id: the first that differs between all logs."""
        choices: tuple[Callable[[WorkerLog], str], ...] = (
            lambda log: log.worker,
            lambda log: log.stream.strip().removeprefix("pod/").partition("/")[0],
            lambda log: PurePath(log.file).name.partition(".")[0],
            lambda log: log.file,
            _with_random,
        )
        for choice in choices:
            names = [choice(log) for log in self.logs]
            if all(names) and len(set(names)) == len(names):
                return names
        return [f"{log.worker} ({number})" for number, log in enumerate(self.logs, 1)]

    def _stranger(self, leader: str) -> str:
        """The leader if it is certain that its log is missing, else empty."""
        members = [set(log.members) for log in self.logs]
        if any(leader in own for own in members):
            return ""
        clients = {log.worker for log in self.logs}
        if len(clients) == len(self.logs) and _RANDOM.sub("", leader) not in clients:
            return leader
        return leader if all(members) else ""

    def _received(self, name: str, log: WorkerLog) -> Iterator[_Received]:
        is_alone = [each.worker for each in self.logs].count(log.worker) == 1
        process: list[_Received] = []
        member, before, is_known = "", NO_JOBS, False
        for line in log.lines:
            message = line.message
            if isinstance(message, ProcessStarted):
                yield from _with_member(process)
                process, member, before, is_known = [], "", NO_JOBS, True
            elif isinstance(message, LoggedJoin | GroupSynced):
                member = message.member
            elif isinstance(message, Completed) and line.time is not None:
                got = message.message
                if is_alone and _RANDOM.sub("", got.leader) == log.worker and got.leader != log.worker:
                    member = got.leader
                after = message.owned.plus(got.revoked)
                # The first known assignment of a log that begins later counts as kept.
                process.append(_Received(name, member, line, message, _both(before, after) if is_known else after))
                before, is_known = message.owned, True
        yield from _with_member(process)

    def _seen(self, together: Sequence[_Received], recorded: RecordedRound | None) -> SeenRound:
        leader = together[0].completed.message.leader
        # The leader's own line is nearest to its decision.
        own = [each for each in together if each.member == leader]
        first = min(own or together, key=lambda each: self._ms(each.line))
        version = min(2, max(each.completed.version for each in together))
        if recorded is None:
            by_name = {each.name: each for each in together}
            workers = tuple(self._worker(by_name[name]) for name in sorted(by_name))
        else:
            workers = tuple(
                DescribedWorker(self.renamed.get(member, member), member, recorded.subscriptions[member], assignment)
                for member, assignment in (recorded.assignments or {}).items()
                if member in recorded.subscriptions
            )
        described = DescribedRound(self.group, _PROTOCOLS[version], workers)
        return SeenRound(first.line.file, first.line.line, self._ms(first.line), described)

    def _worker(self, received: _Received) -> DescribedWorker:
        got, before = received.completed.message, received.before
        is_eager = received.completed.version == 0
        new = received.completed.owned if is_eager else received.completed.owned.minus(before)
        assignment = attrs.evolve(got, connectors=new.connectors, tasks=new.tasks)
        owned = AssignmentMessage(
            assignment.version, 0, got.leader, got.leader_url, got.config_offset, before.connectors, before.tasks
        )
        # A report is written by connector: the leader reads another order than the log has, and it decides.
        owned = decode_connect_assignment(encode_connect_assignment(owned))
        return DescribedWorker(
            self.renamed.get(received.member, received.member) or received.name,
            received.line.worker,
            SubscriptionMessage(assignment.version, "", got.config_offset, None if is_eager else owned),
            assignment,
        )

    def _ms(self, line: WorkerLine) -> int:
        return 0 if line.time is None else line.time.epoch_ms(self.zone)


def _collide(labels: Sequence[str], received: Sequence[Sequence[_Received]]) -> bool:
    """True if two workers have one name in one generation. Processes of one worker follow one another."""
    seen: set[tuple[str, str, int]] = set()
    for label, each in zip(labels, received, strict=True):
        own = {(label, one.completed.message.leader, one.completed.generation) for one in each}
        if own & seen:
            return True
        seen |= own
    return False


def _with_random(log: WorkerLog) -> str:
    """Client id and the begin of the random part of its member id; empty without one."""
    random = next((found for member in log.members if (found := _RANDOM.search(member))), None)
    return "" if random is None else f"{log.worker} ({random[0][1:9]})"


def _with_member(process: Sequence[_Received]) -> Iterator[_Received]:
    """A member id that the log shows later is that of the process from its start."""
    known = next((each.member for each in process if each.member), "")
    for each in process:
        yield attrs.evolve(each, member=each.member or known)


def _number(line: WorkerLine) -> int:
    assert isinstance(line.message, Completed)
    return line.message.generation


def _both(before: Jobs, after: Jobs) -> Jobs:
    """Jobs that the worker kept or gave back; others ended with its membership."""
    return before.minus(before.minus(after))


def _evidence(line: WorkerLine) -> Evidence:
    return Evidence.line(Place(line.file, line.line))
