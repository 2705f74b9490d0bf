"""Starts, stops and losses of instances between recorded decisions, with estimated times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import attrs

from assignor_lab.capture.edges.happened import Happened, StartedProcess
from assignor_lab.capture.edges.moments import STREAMS, DecisionMoment, Participant
from assignor_lab.capture.histories.changelogs import SeenChangelogs
from assignor_lab.capture.histories.initial_delay import initial_wait_ms
from assignor_lab.capture.histories.thread_changes import ThreadsOfProcess, threads_of_process
from assignor_lab.model.decision import presence_change
from assignor_lab.model.events import GroupEvent, InstanceCrashed, InstanceRestartedInSession, InstanceStopped
from assignor_lab.model.evidence import Evidence, InferenceRule
from assignor_lab.model.moment import Moment
from assignor_lab.simulation.streams.timings import StreamsTimings

__all__ = [
    "RecordedPresence",
    "expired",
    "instance_names",
    "left_by_request",
    "prepared_ms",
    "seen_presence",
]

#: A record shows the time of a departure, or of that of a group's last members, and not its kind.
_RECORDED = ("gone", "emptied")
_ENDS = ("stop", "crash")
_ABSENT = Evidence.inferred(InferenceRule.ABSENT)
#: A lag that grew by so many records more than were written shows lost state.
_LOST_RECORDS = 1_000
#: Absence of a process that is back before it was missed, if the source has no time.
_SHORT_MS = 1_000
#: An earlier start than this before a static member rejoined is another process.
_BEFORE_JOINING_MS = 60_000


@attrs.frozen
class RecordedPresence:
    """Events of a group's instances, and names by process id."""

    happened: tuple[Happened, ...]
    names: Mapping[str, str]
    assumptions: tuple[str, ...]

    def at_bound(self, place: int) -> RecordedPresence:
        """The same with each inferred end at its earliest (0) or latest (1) time."""
        happened = (
            each
            if each.within_ms is None or each.type == "start"
            else attrs.evolve(each, time_ms=each.within_ms[place])
            for each in self.happened
        )
        return attrs.evolve(self, happened=tuple(sorted(happened, key=lambda each: each.time_ms)))

    def events(self, decided_ms: Sequence[int], timings: StreamsTimings) -> list[GroupEvent]:
        """Ends of processes as events of a history.

        A static member's end and start are one restart if no decision came between them.
        """
        found: list[GroupEvent] = []
        #: Instance to the places of its ends in ``found``.
        ends: dict[str, list[int]] = {}
        for each in self.happened:
            own = ends.setdefault(each.name, [])
            if each.type in _ENDS:
                own.append(len(found))
                made = InstanceStopped if each.type == "stop" else InstanceCrashed
                found.append(made(Moment.at(each.time_ms), _ABSENT, each.name))
            elif each.started is not None and each.started.participant.is_static and own:
                ended_ms = found[own[-1]].at.latest_ms
                if not any(ended_ms < at <= each.time_ms for at in decided_ms):
                    startup_ms = each.started.startup_ms
                    begun_ms = each.time_ms + (timings.startup_ms if startup_ms is None else startup_ms)
                    back = Moment(ended_ms, begun_ms + timings.join_ms)
                    found[own.pop()] = InstanceRestartedInSession(back, _ABSENT, each.name)
        return found


def instance_names(moments: Sequence[DecisionMoment], running: Iterable[str]) -> dict[str, str]:
    """The common prefix of a process's members if it is unique.

    A process with the client id of an earlier one is the same instance with another disk.
    """
    shared = set()
    for moment in moments:
        seen: set[str] = set()
        for each in moment.participants.values():
            if each.client_id in seen:
                shared.add(each.client_id)
            seen.add(each.client_id or "")
    names = {process: process for process in running}
    of_client: dict[str, str] = {}
    for moment in moments:
        for process, each in moment.participants.items():
            client = None if each.client_id in shared else each.client_id
            names.setdefault(process, process if client is None else of_client.get(client, client))
            if client is not None:
                of_client.setdefault(client, names[process])
    return names


def seen_presence(
    moments: Sequence[DecisionMoment],
    protocol: str,
    timings: StreamsTimings,
    changelogs: SeenChangelogs,
    *,
    begins_empty: bool,
) -> RecordedPresence:
    """Events of a group's instances, inferred from its decisions.

    A process whose members all have new ids is a new process. The decision that lacks a process shows when its loss was
    noticed: in the classic protocol a session timeout after its last heartbeat.

    Args:
        changelogs: They show if a process that came back still had its state.
        begins_empty: True if the group was new at the first decision.
    """
    running = () if begins_empty else tuple(moments[0].participants)
    return _Seen(moments, protocol, timings, changelogs, instance_names(moments, running)).presence(running)


@attrs.define
class _Seen:
    moments: Sequence[DecisionMoment]
    protocol: str
    timings: StreamsTimings
    changelogs: SeenChangelogs
    names: dict[str, str]
    happened: list[Happened] = attrs.field(factory=list)
    #: Latest appearance and its index.
    up: dict[str, tuple[Participant, int]] = attrs.field(factory=dict)
    #: Last appearance, its index, and the index of the end in ``happened``.
    gone: dict[str, tuple[Participant, int, int]] = attrs.field(factory=dict)
    #: Logged events, by client id and time.
    changes: dict[str, list[tuple[int, str]]] = attrs.field(factory=dict)
    #: Client id and assumed time of a stop to its bounds.
    open_stops: dict[tuple[str, int], tuple[int, int]] = attrs.field(factory=dict)
    logged: set[str] = attrs.field(factory=set)
    unlogged: int = 0
    worked_out: int = 0

    def presence(self, running: Iterable[str]) -> RecordedPresence:
        self._read_changes()
        for process in running:
            each = self.moments[0].participants[process]
            self.up[self.names[process]] = (each, 0)
            self._threads(self.names[process], each, 0, is_start=False)
        for place, moment in enumerate(self.moments):
            self._take(place, moment)
        for name in self.up:
            self._restarted(name, until_ms=None)
        self._end_with_group()
        self._corrupted()
        assumptions = []
        if self.worked_out:
            assumptions.append(
                (
                    "the times of starts, stops and losses of instances come from the decisions: a missing instance "
                    "is assumed to have "
                )
                + (
                    f"sent its last heartbeat {self.timings.session_timeout_ms} ms before the rebalance"
                    if self.protocol == "classic"
                    else "stopped in order and left at once"
                )
            )
        if self.unlogged:
            instances = "one instance" if self.unlogged == 1 else f"{self.unlogged} instances"
            assumptions.append(
                f"{instances} did not come back: the records do not distinguish stops from kills, and a stop is assumed"
            )
        return RecordedPresence(
            tuple(sorted(self.happened, key=lambda each: each.time_ms)), self.names, tuple(assumptions)
        )

    def _read_changes(self) -> None:
        rejoined: dict[str, list[int]] = {}
        for moment in self.moments:
            for each in moment.noted:
                if each.type == "rejoined":
                    rejoined.setdefault(each.client, []).append(each.time_ms)
                else:
                    self.changes.setdefault(each.client, []).append((each.time_ms, each.type))
        self.logged.update(
            client for client, of in self.changes.items() if any(type_ not in _RECORDED for _, type_ in of)
        )
        for client, times in rejoined.items():
            logged = self.changes.setdefault(client, [])
            starts = [at for at, type_ in logged if type_ == "start"]
            for before, at in pairwise([0, *sorted(times)]):
                if not any(at - _BEFORE_JOINING_MS < start <= at for start in starts):
                    self.worked_out += 1
                    begun = at - self.timings.join_ms
                    start = begun - self.timings.startup_ms
                    stop = start - _SHORT_MS
                    logged += [(stop, "stop"), (start, "start"), (begun, "begun")]
                    self.open_stops[client, stop] = self._within_session(client, before, at, stop, start)
        for logged in self.changes.values():
            logged.sort()

    def _within_session(
        self, client: str, before_ms: int, rejoined_ms: int, likeliest_ms: int, start_ms: int
    ) -> tuple[int, int]:
        """Bounds of the end of a static member that rejoined in its session.

        It sent heartbeats until its end, so that is less than a session before. It took part in the decision before.

        Args:
            before_ms: Its rejoin before.
        """
        took_part = (
            moment.time_ms
            for moment in self.moments
            if moment.time_ms < likeliest_ms and any(each.client_id == client for each in moment.participants.values())
        )
        earliest = max(rejoined_ms - self.timings.session_timeout_ms, before_ms + 1, max(took_part, default=0) + 1)
        return min(earliest, likeliest_ms), max(likeliest_ms, start_ms - 1)

    def _corrupted(self) -> None:
        names: dict[str | None, set[str]] = {}
        known: set[str] = set()
        for moment in self.moments:
            for process, each in moment.participants.items():
                names.setdefault(each.client_id, set()).add(self.names[process])
            known.update(task for held in moment.placed.values() for tasks in held for task in tasks)
        found = []
        for moment in self.moments:
            for noted in moment.noted:
                (name, *others) = names.get(noted.client, {""})
                tasks = [task for task in noted.tasks if task in known]
                if name and not others and tasks and self._runs(name, noted.time_ms):
                    found.append(Happened(noted.time_ms, "corrupt", name, tasks=tuple(tasks)))
        self.happened += found

    def _runs(self, name: str, time_ms: int) -> bool:
        of = sorted((each for each in self.happened if each.name == name), key=lambda each: each.time_ms)
        changes = [each.type for each in of if each.time_ms <= time_ms and each.type in ("start", "stop", "crash")]
        if changes:
            return changes[-1] == "start"
        return any(name == self.names[process] for process in self.moments[0].participants)

    def _take(self, place: int, moment: DecisionMoment) -> None:
        here = {self.names[process]: each for process, each in moment.participants.items()}
        change = presence_change(
            {name: each.share for name, (each, _) in self.up.items()}, {name: each.share for name, each in here.items()}
        )
        for name in change.gone:
            self._restarted(name, until_ms=moment.time_ms)
            self._end(name, place)
        for name, each in here.items():
            is_back = name in change.restarted
            if name not in change.new:
                self._restarted(name, until_ms=moment.time_ms, has_later=is_back)
            if is_back:
                self._end(name, place, is_back=True)
            if is_back or name in change.new:
                self._start(name, each, place)
            self.up[name] = (each, place)

    # --- ends -------------------------------------------------------------------------------------

    def _restarted(self, name: str, *, until_ms: int | None, has_later: bool = False) -> None:
        """The group continues without a decision. ``has_later``: the next decision shows the last restart."""
        each, _ = self.up[name]
        if not each.is_static or each.client_id is None:
            return
        began = self._began(name)
        found: list[tuple[int, int, int | None]] = []
        ended: int | None = None
        for at, change in self.changes.get(each.client_id, ()):
            if at <= began or (until_ms is not None and at > until_ms):
                continue
            if change == "stop":
                ended = at
            elif change == "start" and ended is not None:
                found.append((ended, at, None))
                ended = None
            elif change == "begun" and found and ended is None and found[-1][2] is None:
                found[-1] = (*found[-1][:2], at)
        for stop, start, begun in found[: len(found) - 1 if has_later else len(found)]:
            started = StartedProcess(each, each.thread_count, None, None if begun is None else begun - start)
            within = self.open_stops.get((each.client_id, stop))
            self.happened += [Happened(stop, "stop", name, within), Happened(start, "start", name, started=started)]

    def _end(self, name: str, place: int, *, is_back: bool = False) -> None:
        """Since the previous decision. ``is_back``: with another process."""
        moment = self.moments[place]
        # A static member can have restarted since then.
        earlier = max(self.moments[place - 1].time_ms, self._began(name))
        each, last = self.up.pop(name)
        self.gone[name] = (each, last, len(self.happened))
        logged = self._logged(each, "stop", self._began(name), moment.time_ms)
        if logged is not None:
            self.happened.append(Happened(logged, "stop", name, self.open_stops.get((each.client_id or "", logged))))
            return
        if self.protocol == "classic" and left_by_request(each, moment):
            at = moment.time_ms - 1 if moment.prepared_ms is None else moment.prepared_ms - 1
            self.happened.append(Happened(max(earlier + 1, at), "stop", name, leaves=True))
            return
        fenced = self._logged(each, "fenced", self._began(name), moment.time_ms)
        if fenced is not None:
            # The coordinator waited one session timeout.
            lost = max(earlier + 1, fenced - self.timings.streams_session_timeout_ms)
            within = (lost, min(lost + self.timings.streams_heartbeat_interval_ms, moment.time_ms - 1))
            self.happened.append(Happened(lost, "crash", name, within_ms=within))
            return
        recorded = self._logged(each, "gone", self._began(name), moment.time_ms)
        emptied = self._logged(each, "emptied", self._began(name), moment.time_ms)
        self.worked_out += recorded is None
        at = moment.time_ms - 1 if recorded is None else recorded
        bounds: tuple[int, int] | None = None
        if self.protocol == "classic" and is_back and each.is_static and not expired(each, moment):
            # A static member that returns in time keeps its session.
            began = prepared_ms(self.moments, place, self.protocol, self.timings)
            at = began - self.timings.startup_ms - self.timings.join_ms - _SHORT_MS
            bounds = at + _SHORT_MS - self.timings.session_timeout_ms, at + _SHORT_MS - 1
        elif self.protocol == "classic":
            at = moment.time_ms - self.timings.session_timeout_ms
            bounds = self._silent_since(moment)
        if emptied is not None:
            at, bounds = self._before_emptied(emptied)
        # An instance with a log but without a logged stop was killed.
        has_log = each.client_id in self.logged
        kind = "crash" if has_log else "stop"
        first, last_ms = earlier + 1, moment.time_ms - 1
        at = max(first, min(at, last_ms))
        if bounds is not None:
            bounds = min(at, max(first, bounds[0])), max(at, min(bounds[1], last_ms))
        self.happened.append(Happened(at, kind, name, within_ms=bounds))
        self.unlogged += not has_log

    def _before_emptied(self, emptied_ms: int) -> tuple[int, tuple[int, int]]:
        """The end of a group's last instance, and its bounds: the group was empty at once, or after its session."""
        silent = emptied_ms - self.timings.session_timeout_ms
        return silent, (silent, emptied_ms - 1)

    def _end_with_group(self) -> None:
        """Ends after the last decision, with the last members of the group."""
        last_ms = self.moments[-1].time_ms
        for name, (each, _) in self.up.items():
            logged = {kind: at for at, kind in self.changes.get(each.client_id or "", ()) if at > last_ms}
            is_over = not any(at > last_ms for at in self._starts(name))
            if "stop" in logged or not is_over or not any(kind in logged for kind in _RECORDED):
                continue
            at, within = logged.get("gone", 0), None
            if "emptied" in logged:
                at, within = self._before_emptied(logged["emptied"])
                at, within = max(at, last_ms + 1), (max(within[0], last_ms + 1), within[1])
            has_log = each.client_id in self.logged
            self.happened.append(Happened(at, "crash" if has_log else "stop", name, within_ms=within))
            self.worked_out += "gone" not in logged
            self.unlogged += not has_log

    def _starts(self, name: str) -> list[int]:
        return [each.time_ms for each in self.happened if each.name == name and each.type == "start"]

    def _silent_since(self, moment: DecisionMoment) -> tuple[int, int]:
        """Bounds of the end of an instance that the coordinator missed at the end of its session.

        The session began with the last heartbeat, and the instance ended within one heartbeat interval of it. The
        decision followed the end of the session within one further interval, in which the others rejoined.
        """
        interval = self.timings.heartbeat_interval_ms
        if moment.prepared_ms is not None:
            silent = moment.prepared_ms - self.timings.session_timeout_ms
            return silent, silent + interval
        latest = moment.time_ms - self.timings.assign_ms - self.timings.session_timeout_ms
        return latest - interval, latest + interval

    def _began(self, name: str) -> int:
        starts = self._starts(name)
        return starts[-1] if starts else self.moments[0].time_ms

    def _logged(self, each: Participant, kind: str, after_ms: int, until_ms: int) -> int | None:
        found = [
            at
            for at, change in self.changes.get(each.client_id or "", ())
            if change == kind and after_ms < at <= until_ms
        ]
        return found[-1] if found else None

    # --- starts -----------------------------------------------------------------------------------

    def _start(self, name: str, each: Participant, place: int) -> None:
        moment = self.moments[place]
        joined = prepared_ms(self.moments, place, self.protocol, self.timings)
        at = joined - self.timings.startup_ms - self.timings.join_ms
        ended_ms = self.happened[self.gone[name][2]].time_ms if name in self.gone else 0
        logged = self._logged(each, "start", ended_ms, moment.time_ms)
        threads = self._threads(name, each, place, is_start=True)
        startup_ms: int | None = None
        if logged is not None:
            at = logged
            begun = self._logged(each, "begun", logged, moment.time_ms)
            startup_ms = None if begun is None else begun - logged
        else:
            self.worked_out += 1
        if name in self.gone:
            before, last, index = self.gone.pop(name)
            ended = self.happened[index]
            is_logged = each.client_id in self.logged
            self.unlogged -= not is_logged
            if before.process_id != each.process_id:
                self.happened.append(Happened(ended.time_ms + 1, "lose_disk", name, process_id=each.process_id))
            elif not is_logged and not self._kept(each.process_id, last, place):
                self.happened[index] = attrs.evolve(ended, type="crash")
            if logged is None:
                at = min(max(at, ended.time_ms + _SHORT_MS), moment.time_ms - 1)
            at = max(at, ended.time_ms + 2)
        within = None if logged is not None else self._joined_within(at, place)
        members = threads.members if each.member_ids else None
        joins = self._joins_ms(threads, place, joined, at) if logged is None or startup_ms is not None else ()
        started = StartedProcess(each, len(threads.members) or each.thread_count, members, startup_ms, joins)
        self.happened.append(Happened(at, "start", name, within, started))

    def _joins_ms(self, threads: ThreadsOfProcess, place: int, joined_ms: int, at_ms: int) -> tuple[int, ...]:
        """A thread that is missing in a decision joined after it."""
        if all(seen == place for seen in threads.seen):
            return ()
        times = (
            joined_ms if seen == place else prepared_ms(self.moments, seen, self.protocol, self.timings)
            for seen in threads.seen
        )
        return tuple(max(0, each - at_ms) for each in times)

    def _joined_within(self, at_ms: int, place: int) -> tuple[int, int] | None:
        """Bounds of a change that led to a decision whose rebalance has no recorded beginning."""
        moment = self.moments[place]
        if self.protocol == STREAMS and place:
            return self._before_target(at_ms, place)
        if self.protocol != "classic" or moment.prepared_ms is not None or not place:
            return None
        return at_ms, max(at_ms, min(at_ms + self.timings.heartbeat_interval_ms, moment.time_ms - 1))

    def _before_target(self, at_ms: int, place: int) -> tuple[int, int] | None:
        """Bounds of a join: a broker computes no target within ``streams.assignment.interval.ms`` of the last one.

        The first heartbeat after that interval computes it.
        """
        waited = self.moments[place].time_ms - self.moments[place - 1].time_ms
        most = self.timings.assignment_interval_ms + self.timings.streams_heartbeat_interval_ms
        return (max(0, at_ms - waited + 1), at_ms) if waited < most else None

    def _threads(self, name: str, each: Participant, place: int, *, is_start: bool) -> ThreadsOfProcess:
        found = threads_of_process(self.moments, place, each.process_id, self.timings, is_start=is_start)
        for change in found.changes:
            begun = prepared_ms(self.moments, change.place, self.protocol, self.timings)
            is_added = change.type == "add_thread"
            at = begun - (self.timings.join_ms if is_added else self.timings.request_ms)
            member = None if self.protocol == "classic" else change.member_id
            earlier = self.moments[change.place - 1].time_ms
            at = max(earlier + 1, at)
            within = self._joined_within(at, change.place)
            made = Happened(at, change.type, name, within, thread=change.thread, member_id=member)
            self.happened.append(made)
        return found

    def _kept(self, process: str, last: int, place: int) -> bool:
        """With all its state of the tasks that it had run."""
        ran = self.moments[last].placed.get(process, ((), ()))[0]
        away = self.moments[place].time_ms - self.moments[last].time_ms
        lags = self.moments[place].input.lags_of(process)
        for task in ran:
            growth = self.changelogs.growth(task, away)
            if growth is not None and lags.get(task, 0) > growth + _LOST_RECORDS:
                return False
        return True


def left_by_request(each: Participant, moment: DecisionMoment) -> bool:
    """By a LeaveGroup request, in the coordinator's reason."""
    return bool(each.client_id) and "LeaveGroup" in moment.reason and f"{each.client_id}-" in moment.reason


def expired(each: Participant, moment: DecisionMoment) -> bool:
    return "heartbeat expiration" in moment.reason and any(member in moment.reason for member in each.members)


def prepared_ms(moments: Sequence[DecisionMoment], place: int, protocol: str, timings: StreamsTimings) -> int:
    """As logged, or one heartbeat interval before the decision, or the delay of a new group before its first one."""
    moment = moments[place]
    if moment.prepared_ms is not None:
        return moment.prepared_ms
    earlier = moments[place - 1].time_ms + 1 if place else 0
    if protocol != "classic":
        # A departure precedes the epoch that it causes, in a large group by a moment.
        gone = (each.time_ms for each in moment.noted if each.type == "gone")
        own = (at for at in gone if earlier <= at <= moment.time_ms)
        delay_ms = 0 if place else timings.streams_initial_rebalance_delay_ms
        return max([moment.time_ms - timings.request_ms - delay_ms, *own])
    waits = timings.heartbeat_interval_ms if place else initial_wait_ms(moment, timings.initial_rebalance_delay_ms)
    # A process that came with it joined after its threads' start.
    begun = [each.time_ms for each in moment.noted if each.type == "begun"]
    joined = min(max(begun, default=0) + 1, moment.time_ms - 1)
    return max(earlier, moment.time_ms - timings.assign_ms - waits, joined)
