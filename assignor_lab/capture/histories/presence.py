"""Who was started, stopped and lost between the decisions of a recorded group, and about when."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from assignor_lab.capture.histories.changelogs import SeenChangelogs
from assignor_lab.capture.histories.moments import Moment, Participant
from assignor_lab.capture.histories.thread_changes import ThreadsOfProcess, threads_of_process
from assignor_lab.simulation.streams.timings import Timings

__all__ = ["Happened", "Presence", "instance_names", "prepared_ms", "seen_presence"]

#: A copy that lacks so many records more than have come since is one that lost what it had.
_LOST_RECORDS = 1_000
#: A process that is back before it was missed was away for so long, where nothing tells.
_SHORT_MS = 1_000


@attrs.frozen
class Happened:
    """Something that happened to an instance.

    Args:
        time_ms: When, in epoch milliseconds.
        type: ``start``, ``stop``, ``crash``, ``add_thread``, ``remove_thread``, ``corrupt`` or ``lose_disk``.
        name: Name of the instance.
        details: Further keys of the episode's event.
    """

    time_ms: int
    type: str
    name: str
    details: Mapping[str, Any] = attrs.field(factory=dict)


@attrs.frozen
class Presence:
    """What happened to the instances of a group.

    Args:
        happened: What, by time.
        names: Process id to the name of its instance.
        assumptions: Sentences about what the decisions do not tell.
    """

    happened: tuple[Happened, ...]
    names: Mapping[str, str]
    assumptions: tuple[str, ...]


def instance_names(moments: Sequence[Moment], running: Iterable[str]) -> dict[str, str]:
    """Process id to the name of its instance: what its members' names begin with, where that is one's own.

    A process with the client id of one that was there before is the same instance with another disk.

    Args:
        moments: The decisions.
        running: Process ids of instances that run when the episode begins: an episode calls them by those.
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
    moments: Sequence[Moment],
    protocol: str,
    timings: Timings,
    changelogs: SeenChangelogs,
    *,
    begins_empty: bool,
) -> Presence:
    """What happened to the instances of a group, as its decisions show it.

    A process whose members all have other ids than before is a new one. One that is missing was noticed to be gone
    with that decision, in the classic protocol a session timeout after its last heartbeat.

    Args:
        moments: The decisions, by time.
        protocol: ``classic`` or ``streams``.
        timings: The group's session timeout and heartbeat interval.
        changelogs: What tells whether a process that came back had all that it had before.
        begins_empty: Whether nobody was there before the first decision.
    """
    running = () if begins_empty else tuple(moments[0].participants)
    return _Seen(moments, protocol, timings, changelogs, instance_names(moments, running)).presence(running)


@attrs.define
class _Seen:
    moments: Sequence[Moment]
    protocol: str
    timings: Timings
    changelogs: SeenChangelogs
    names: dict[str, str]
    happened: list[Happened] = attrs.field(factory=list)
    #: Instances that run to their latest appearance and its place.
    up: dict[str, tuple[Participant, int]] = attrs.field(factory=dict)
    #: Instances that are gone to their last appearance, its place, and where their end stands in ``happened``.
    gone: dict[str, tuple[Participant, int, int]] = attrs.field(factory=dict)
    #: What instances logged of themselves, by client id, by time.
    told: dict[str, list[tuple[int, str]]] = attrs.field(factory=dict)
    untold: int = 0
    worked_out: int = 0

    def presence(self, running: Iterable[str]) -> Presence:
        for moment in self.moments:
            for done in moment.document["source"].get("done", ()):
                self.told.setdefault(done["client"], []).append((done["time_ms"], done["type"]))
        for process in running:
            each = self.moments[0].participants[process]
            self.up[self.names[process]] = (each, 0)
            self._threads(self.names[process], each, 0, is_start=False)
        for place, moment in enumerate(self.moments):
            self._take(place, moment)
        self._corrupted()
        told = []
        if self.worked_out:
            told.append(
                "when instances were started, stopped and lost is worked out from the decisions: who is missing was "
                + (
                    f"heard of last {self.timings.session_timeout_ms} ms before that was noticed"
                    if self.protocol == "classic"
                    else "stopped in order and left at once"
                )
            )
        if self.untold:
            who = "one instance" if self.untold == 1 else f"{self.untold} instances"
            told.append(
                f"whether {who} that did not come back had been stopped in order or killed is not told: taken as "
                "stopped"
            )
        return Presence(tuple(sorted(self.happened, key=lambda each: each.time_ms)), self.names, tuple(told))

    def _corrupted(self) -> None:
        """Notes tasks that instances logged as corrupted while they ran."""
        names: dict[str | None, set[str]] = {}
        known: set[str] = set()
        for moment in self.moments:
            for process, each in moment.participants.items():
                names.setdefault(each.client_id, set()).add(self.names[process])
            known.update(task for held in moment.placed.values() for tasks in held for task in tasks)
        found = []
        for moment in self.moments:
            for done in moment.document["source"].get("done", ()):
                (name, *others) = names.get(done["client"], {""})
                tasks = [task for task in done.get("tasks", ()) if task in known]
                if name and not others and tasks and self._runs(name, done["time_ms"]):
                    found.append(Happened(done["time_ms"], "corrupt", name, {"tasks": tasks}))
        self.happened += found

    def _runs(self, name: str, time_ms: int) -> bool:
        """Whether an instance runs at a moment, by what is noted so far."""
        of = sorted((each for each in self.happened if each.name == name), key=lambda each: each.time_ms)
        changes = [each.type for each in of if each.time_ms <= time_ms and each.type in ("start", "stop", "crash")]
        if changes:
            return changes[-1] == "start"
        return any(name == self.names[process] for process in self.moments[0].participants)

    def _take(self, place: int, moment: Moment) -> None:
        here = {self.names[process]: each for process, each in moment.participants.items()}
        for name in [name for name in self.up if name not in here]:
            self._end(name, place)
        for name, each in here.items():
            before = self.up.get(name)
            if before is not None and (
                before[0].process_id != each.process_id or before[0].members.isdisjoint(each.members)
            ):
                self._end(name, place)
                before = None
            if before is None:
                self._start(name, each, place)
            self.up[name] = (each, place)

    # --- ends -------------------------------------------------------------------------------------

    def _end(self, name: str, place: int) -> None:
        """Somebody has gone since the decision before."""
        moment, earlier = self.moments[place], self.moments[place - 1].time_ms
        each, last = self.up.pop(name)
        self.gone[name] = (each, last, len(self.happened))
        logged = self._logged(each, "stop", self._began(name), moment.time_ms)
        if logged is not None:
            self.happened.append(Happened(logged, "stop", name))
            return
        if self.protocol == "classic" and _left_by_request(each, moment):
            at = moment.time_ms - 1 if moment.prepared_ms is None else moment.prepared_ms - 1
            self.happened.append(Happened(max(earlier + 1, at), "stop", name, {"leave": True}))
            return
        fenced = self._logged(each, "fenced", self._began(name), moment.time_ms)
        if fenced is not None:
            # The coordinator waited for its heartbeat for that long.
            lost = fenced - self.timings.streams_session_timeout_ms
            self.happened.append(Happened(max(earlier + 1, lost), "crash", name))
            return
        self.worked_out += 1
        at = moment.time_ms - 1
        if self.protocol == "classic":
            noticed = moment.time_ms - self.timings.heartbeat_interval_ms // 2
            at = noticed - self.timings.session_timeout_ms + self.timings.heartbeat_interval_ms // 2
        # Whose log is there and says nothing of a stop has been killed.
        has_log = bool(each.client_id and self.told.get(each.client_id))
        kind = "crash" if has_log else "stop"
        self.happened.append(Happened(max(earlier + 1, min(at, moment.time_ms - 1)), kind, name))
        self.untold += not has_log

    def _began(self, name: str) -> int:
        """When an instance that runs was started, as far as that is known."""
        starts = [each.time_ms for each in self.happened if each.name == name and each.type == "start"]
        return starts[-1] if starts else self.moments[0].time_ms

    def _logged(self, each: Participant, kind: str, after_ms: int, until_ms: int) -> int | None:
        """When an instance last logged something between two moments; ``None``: it did not."""
        found = [
            at for at, what in self.told.get(each.client_id or "", ()) if what == kind and after_ms < at <= until_ms
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
        details = {**self._settings(each, threads), "process_id": each.process_id}
        if logged is not None:
            at = logged
            begun = self._logged(each, "begun", logged, moment.time_ms)
            if begun is not None:
                details["startup_ms"] = begun - logged
        else:
            self.worked_out += 1
        if name in self.gone:
            before, last, index = self.gone.pop(name)
            ended = self.happened[index]
            is_told = bool(each.client_id and self.told.get(each.client_id))
            self.untold -= not is_told
            if before.process_id != each.process_id:
                self.happened.append(Happened(ended.time_ms + 1, "lose_disk", name, {"process_id": each.process_id}))
            elif not is_told and not self._kept(each.process_id, last, place):
                self.happened[index] = attrs.evolve(ended, type="crash")
            if logged is None:
                at = min(max(at, ended.time_ms + _SHORT_MS), moment.time_ms - 1)
            at = max(at, ended.time_ms + 2)
        self.happened.append(Happened(at, "start", name, details))

    def _threads(self, name: str, each: Participant, place: int, *, is_start: bool) -> ThreadsOfProcess:
        """The threads that its process has from now on; notes those that are added and removed."""
        found = threads_of_process(self.moments, place, each.process_id, self.timings, is_start=is_start)
        for change in found.changes:
            begun = prepared_ms(self.moments, change.place, self.protocol, self.timings)
            is_added = change.type == "add_thread"
            at = begun - (self.timings.join_ms if is_added else self.timings.request_ms)
            details = dict(change.details)
            if self.protocol == "classic":
                details.pop("member_id", None)
            earlier = self.moments[change.place - 1].time_ms
            self.happened.append(Happened(max(earlier + 1, at), change.type, name, details))
        return found

    def _settings(self, each: Participant, threads: ThreadsOfProcess) -> Mapping[str, Any]:
        """Its settings with the threads that it was started with."""
        settings = {**each.settings, "threads": len(threads.members) or each.settings["threads"]}
        if "member_ids" in settings:
            settings["member_ids"] = list(threads.members)
        return settings

    def _kept(self, process: str, last: int, place: int) -> bool:
        """Whether a process came back with all that it had of the tasks that it had run."""
        ran = self.moments[last].placed.get(process, ((), ()))[0]
        away = self.moments[place].time_ms - self.moments[last].time_ms
        client = next(
            (each for each in self.moments[place].document.get("clients", ()) if each["process_id"] == process), None
        )
        lags = {} if client is None else client["lags"] or {}
        for task in ran:
            growth = self.changelogs.growth(task, away)
            if growth is not None and lags.get(task, 0) > growth + _LOST_RECORDS:
                return False
        return True


def _left_by_request(each: Participant, moment: Moment) -> bool:
    """Whether the coordinator's reason is a LeaveGroup request of the instance."""
    return bool(each.client_id) and "LeaveGroup" in moment.reason and f"{each.client_id}-" in moment.reason


def prepared_ms(moments: Sequence[Moment], place: int, protocol: str, timings: Timings) -> int:
    """When the rebalance that led to a decision began: as told, or a heartbeat before, when all have heard of it."""
    moment = moments[place]
    if moment.prepared_ms is not None:
        return moment.prepared_ms
    if protocol != "classic":
        return moment.time_ms - timings.request_ms
    earlier = moments[place - 1].time_ms + 1 if place else 0
    waits = timings.heartbeat_interval_ms if place else timings.initial_rebalance_delay_ms
    # Whoever came with it joined when its threads had been started.
    begun = [each["time_ms"] for each in moment.document["source"].get("done", ()) if each["type"] == "begun"]
    joined = min(max(begun, default=0) + 1, moment.time_ms - 1)
    return max(earlier, moment.time_ms - timings.assign_ms - waits, joined)
