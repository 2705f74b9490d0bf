"""A history as a playable episode."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from assignor_lab.capture.errors import OneDecisionError
from assignor_lab.capture.histories.changed_tasks import changed_tasks, tasks_of_subtopologies
from assignor_lab.capture.histories.changelogs import SeenChangelogs, seen_changelogs
from assignor_lab.capture.histories.current_downtime import current_downtime
from assignor_lab.capture.histories.history import DecisionHistory
from assignor_lab.capture.histories.moments import CLASSIC, STREAMS, DecisionMoment, protocol_of
from assignor_lab.capture.histories.presence import Happened, RecordedPresence, prepared_ms, seen_presence
from assignor_lab.capture.histories.recorded_downtime import recorded_downtime
from assignor_lab.capture.histories.settings import longest_session_ms, settings_of_decisions
from assignor_lab.documents.wording import plural
from assignor_lab.scenarios.settings import without_effect
from assignor_lab.simulation.streams.timings import TIMING_KEYS, StreamsTimings, timings_of_settings
from assignor_lab.simulation.streams.timings_format import with_settings

__all__ = ["history_episode"]

#: An episode continues for this time after the last decision.
_AFTERWARDS_MS = 15_000
_SESSION = TIMING_KEYS["session.timeout.ms"]
_MOST_GAPS = 8


def history_episode(
    history: DecisionHistory, timings: Mapping[str, int] | None = None, settings: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The episode behind a history, as a ``streams-episode`` document.

    Its events are joins, leaves and losses. Kafka's decisions are under ``recorded``, which no simulation reads.

    Args:
        timings: Durations that replace those of settings.
        settings: Replace those of the decisions; missing ones have Kafka's defaults.
    """
    moments = history.moments
    of_decisions, changed = settings_of_decisions(history.documents)
    known_settings = {**of_decisions, **(settings or {})}
    given = {**timings_of_settings(known_settings), **(timings or {})}
    if len(moments) < 2:
        raise OneDecisionError(
            f"{history.place}: one decision of group {history.group!r:.80} alone is a state and no history: give more "
            "of its logs or records, or score it"
        )
    known = StreamsTimings.from_mapping(given)
    bound = longest_session_ms(moments) if history.protocol == CLASSIC and _SESSION not in given else None
    is_bounded = bound is not None and bound < known.session_timeout_ms
    if bound is not None and is_bounded:
        given = {**given, _SESSION: bound}
        known = StreamsTimings.from_mapping(given)
    begins_empty = _begins_empty(moments[0])
    # Ends of changelogs need only the start time.
    changelogs = seen_changelogs(moments, moments[0].time_ms)
    presence = seen_presence(moments, history.protocol, known, changelogs, begins_empty=begins_empty)
    first_ms = moments[0].time_ms
    if begins_empty and presence.happened:
        first_ms = min(first_ms, presence.happened[0].time_ms)
    changelogs = seen_changelogs(moments, first_ms)
    made = _Made(history, presence, changelogs, known, first_ms, begins_empty).document(given)
    assumptions = [sentence for key, sentence in changed.items() if key not in (settings or {})]
    if history.protocol == STREAMS:
        assumptions += [each for each in without_effect(settings or {}) if each not in made["assumptions"]]
    if is_bounded:
        assumptions.append(
            "session.timeout.ms of the group is unknown, and Kafka's default is too long: an instance was missed "
            f"within {bound} ms of its last decision. This bound counts (give session.timeout.ms with --config or -c)"
        )
    return with_settings({**made, "assumptions": [*assumptions, *made["assumptions"]]}, known_settings, given)


def _total_s(downtime: Mapping[str, Any]) -> float:
    return float(sum(end - begin for rows in downtime["tasks"].values() for begin, end in rows)) / 1000


def _is_open(event: Happened) -> bool:
    return event.within_ms is not None and event.within_ms[0] < event.within_ms[1]


def _begins_empty(first: DecisionMoment) -> bool:
    document = first.document
    if protocol_of(document) == STREAMS:
        return not any(member["active"] or member["standby"] for member in document["members"])
    clients = document["clients"]
    return not any(client["previous_active"] or client["previous_standby"] for client in clients)


@attrs.frozen
class _Made:
    history: DecisionHistory
    presence: RecordedPresence
    changelogs: SeenChangelogs
    timings: StreamsTimings
    first_ms: int
    begins_empty: bool

    def document(self, given: Mapping[str, int]) -> dict[str, Any]:
        moments, first = self.history.moments, self.history.moments[0].document
        ends = (each.time_ms if each.within_ms is None else each.within_ms[1] for each in self.presence.happened)
        until = max([moments[-1].time_ms, *ends])
        tasks, clients = self._tasks(), [] if self.begins_empty else self._clients()
        return {
            "format": 1,
            "kind": "streams-episode",
            "id": self.history.group or first["id"],
            "protocol": self.history.protocol,
            **({"assignor": first["source"]["assignor"]} if "assignor" in first["source"] else {}),
            "initial": {
                "format": 1,
                "kind": "streams",
                "id": first["id"],
                "config": first["config"],
                "tasks": tasks,
                "clients": clients,
                "source": {"time_ms": self.first_ms, "group": self.history.group},
                **self._workload(tasks),
            },
            "changelogs": {key: dict(each) for key, each in self.changelogs.documents.items()},
            "missing_topics": self._missing_topics(tasks),
            "events": [
                {
                    "at_ms": each.time_ms - self.first_ms,
                    "type": each.type,
                    **({"client": each.name} if each.name else {}),
                    **(
                        {"within_ms": [max(0, at - self.first_ms) for at in each.within_ms or ()]}
                        if _is_open(each)
                        else {}
                    ),
                    **each.details,
                }
                for each in self._happened()
            ],
            "until_ms": until + _AFTERWARDS_MS - self.first_ms,
            "timings": dict(given),
            "assumptions": [*self._assumptions(given)],
            "recorded": {
                "generations": [self._generation(place) for place in range(len(moments))],
                **self._downtime(until + _AFTERWARDS_MS),
            },
        }

    def _happened(self) -> list[Happened]:
        """At equal times changes of tasks come first."""
        happened = self.presence.happened
        changes = changed_tasks(
            self.history.moments, happened, self.history.protocol, self.timings, self.first_ms,
            begins_empty=self.begins_empty,
        )  # fmt: skip
        return sorted([*changes, *happened], key=lambda each: each.time_ms)

    # --- the group at the beginning ---------------------------------------------------------------

    def _tasks(self) -> list[dict[str, Any]]:
        """From the latest decision that has it: the first decision creates internal topics."""
        if self.history.protocol == STREAMS:
            return tasks_of_subtopologies(moment.document for moment in self.history.moments)
        found: dict[str, dict[str, Any]] = {}
        for moment in self.history.moments:
            for task in moment.document["tasks"]:
                known = found.get(task["id"])
                if known is None or known["partitions"] is None or task["partitions"] is not None:
                    found[task["id"]] = dict(task)
        return list(found.values())

    def _clients(self) -> list[dict[str, Any]]:
        first = self.history.moments[0]
        if self.history.protocol == CLASSIC:
            return [dict(client) for client in first.document["clients"]]
        return [_client_of(first, process) for process in first.participants]

    def _workload(self, tasks: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        """The latest known figure counts."""
        known = {task["id"] for task in tasks}
        weights: dict[str, dict[str, Any]] = {}
        found: dict[str, Any] = {}
        for document in self.history.documents:
            workload = document.get("workload", {})
            found |= {key: value for key, value in workload.items() if key != "tasks"}
            for task, weighs in workload.get("tasks", {}).items():
                if task in known:
                    # Records over time are in the changelogs.
                    weights.setdefault(task, {}).update({k: v for k, v in weighs.items() if k != "state_records"})
        if weights:
            found["tasks"] = weights
        return {"workload": found} if found else {}

    def _missing_topics(self, tasks: Sequence[Mapping[str, Any]]) -> list[str]:
        """Repartition topics, if the first decision is of a new application."""
        if not self.begins_empty or any(each["records"] for each in self.changelogs.documents.values()):
            return []
        return sorted({
            partition["topic"]
            for task in tasks
            for partition in task["partitions"] or ()
            if partition["topic"].endswith("-repartition")
        })  # fmt: skip

    def _downtime(self, until_ms: int) -> dict[str, Any]:
        moments, empty = self.history.moments, self.begins_empty
        if self.history.protocol == STREAMS:
            found = current_downtime(moments, self.presence, self.first_ms, until_ms)
            return {} if found is None else {"downtime": found}

        def downtime(presence: RecordedPresence) -> dict[str, Any]:
            return recorded_downtime(moments, presence, self.first_ms, until_ms, self.timings, begins_empty=empty)

        found = downtime(self.presence)
        if any(map(_is_open, self.presence.happened)):
            totals = [_total_s(downtime(self.presence.at_bound(place))) for place in (0, 1)]
            found |= {"bounds_s": [min(totals), max(totals)]}
        return {"downtime": found}

    # --- what followed ----------------------------------------------------------------------------

    def _generation(self, place: int) -> dict[str, Any]:
        moment = self.history.moments[place]
        begun = prepared_ms(self.history.moments, place, self.history.protocol, self.timings)
        names = self.presence.names
        return {
            "t_ms": begun - self.first_ms,
            "assignment_t_ms": moment.time_ms - self.first_ms,
            "generation": moment.generation,
            "reason": moment.reason,
            "members": sum(len(each.members) for each in moment.participants.values()),
            "followup": moment.followup,
            "assigned": {
                names[process]: {"active": list(active), "standby": list(standby)}
                for process, (active, standby) in sorted(moment.placed.items())
            },
        }

    def _assumptions(self, given: Mapping[str, int]) -> list[str]:
        assumptions = [*self._gaps(), *self.presence.assumptions, *self.changelogs.assumptions]
        key = "session.timeout.ms" if self.history.protocol == CLASSIC else "streams.session.timeout.ms"
        if TIMING_KEYS[key] not in given:
            assumptions.append(
                f"{key} of the group is unknown: Kafka's default, {getattr(self.timings, TIMING_KEYS[key])} ms, counts "
                f"(give {key} with --config or -c)"
            )
        return list(dict.fromkeys([*assumptions, *self.history.documents[0].get("assumptions", ())]))

    def _gaps(self) -> list[str]:
        gaps = self.history.gaps
        if not gaps:
            return []
        missing = sum(last - first + 1 for first, last in gaps)
        named = [str(first) if first == last else f"{first} to {last}" for first, last in gaps[:_MOST_GAPS]]
        more = [f"{len(gaps) - _MOST_GAPS} more gaps"] if len(gaps) > _MOST_GAPS else []
        verb = "is" if missing == 1 else "are"
        return [
            f"{plural(missing, 'generation')} between the recorded ones {verb} not in the source "
            f"({', '.join([*named, *more])}): an event within a gap is played when the next recorded one shows it"
        ]


def _client_of(moment: DecisionMoment, process: str) -> dict[str, Any]:
    each = moment.participants[process]
    had: dict[str, list[str]] = {"active": [], "standby": []}
    for member in moment.document["members"]:
        if member["process_id"] == process:
            for kind, tasks in had.items():
                tasks += [f"{name}_{number}" for name, numbers in member[kind].items() for number in numbers]
    static = {
        member["id"]: {"client_id": member.get("client_id"), "instance_id": member["instance_id"]}
        for member in moment.document["members"]
        if member["process_id"] == process and member["instance_id"] is not None
    }
    return {
        "process_id": process, "rack": each.settings.get("rack"), "tags": dict(each.settings.get("tags", {})),
        "host": None, "threads": each.settings["threads"], "consumers": [], "previous_active": had["active"],
        "previous_standby": had["standby"], "lags": None, "previous_by_consumer": None,
        **({"members": static} if static else {}),
    }  # fmt: skip
