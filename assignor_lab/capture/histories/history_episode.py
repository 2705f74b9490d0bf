"""A history as an episode that can be played: the world's events, what tasks weigh, and what followed in reality."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from assignor_lab.capture.errors import OneDecisionError
from assignor_lab.capture.histories.changelogs import SeenChangelogs, seen_changelogs
from assignor_lab.capture.histories.history import History
from assignor_lab.capture.histories.moments import CLASSIC, STREAMS, Moment, protocol_of
from assignor_lab.capture.histories.presence import Presence, prepared_ms, seen_presence
from assignor_lab.capture.histories.recorded_downtime import recorded_downtime
from assignor_lab.capture.histories.settings import settings_of_decisions
from assignor_lab.documents.wording import plural
from assignor_lab.simulation.streams.timings import TIMING_KEYS, Timings, timings_of_settings
from assignor_lab.simulation.streams.timings_format import with_settings

__all__ = ["history_episode"]

#: Time that an episode goes on after the last decision.
_AFTERWARDS_MS = 15_000
#: Most gaps that a sentence names.
_MOST_GAPS = 8


def history_episode(
    history: History, timings: Mapping[str, int] | None = None, settings: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The episode behind a history, as a document of kind ``streams-episode``.

    Who joined, left and was lost when is in it as events; what Kafka decided stands under ``recorded``, which no
    simulation reads.

    Args:
        history: The history.
        timings: Durations by the names of :class:`~assignor_lab.simulation.streams.timings.Timings`, in place of those
            that the settings give.
        settings: Settings of the group in place of those of its decisions; what neither has, has Kafka's default.

    Raises:
        OneDecisionError: if it is too short.
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
    known = Timings.from_mapping(given)
    begins_empty = _begins_empty(moments[0])
    # Where changelogs end depends on nothing that has to be worked out, but for the moment that is called 0.
    changelogs = seen_changelogs(moments, moments[0].time_ms)
    presence = seen_presence(moments, history.protocol, known, changelogs, begins_empty=begins_empty)
    first_ms = moments[0].time_ms
    if begins_empty and presence.happened:
        first_ms = min(first_ms, presence.happened[0].time_ms)
    changelogs = seen_changelogs(moments, first_ms)
    made = _Made(history, presence, changelogs, known, first_ms, begins_empty).document(given)
    told = [sentence for key, sentence in changed.items() if key not in (settings or {})]
    return with_settings({**made, "assumptions": [*told, *made["assumptions"]]}, known_settings, given)


def _begins_empty(first: Moment) -> bool:
    """Whether nobody had or did anything before the first decision: the group begins with it."""
    document = first.document
    if protocol_of(document) == STREAMS:
        return not any(member["active"] or member["standby"] for member in document["members"])
    clients = document["clients"]
    return not any(client["previous_active"] or client["previous_standby"] for client in clients)


@attrs.frozen
class _Made:
    history: History
    presence: Presence
    changelogs: SeenChangelogs
    timings: Timings
    first_ms: int
    begins_empty: bool

    def document(self, given: Mapping[str, int]) -> dict[str, Any]:
        moments, first = self.history.moments, self.history.moments[0].document
        until = max([moments[-1].time_ms, *(each.time_ms for each in self.presence.happened)])
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
            },
            "changelogs": {key: dict(each) for key, each in self.changelogs.documents.items()},
            "missing_topics": self._missing_topics(tasks),
            "events": [
                {"at_ms": each.time_ms - self.first_ms, "type": each.type, "client": each.name, **each.details}
                for each in self.presence.happened
            ],
            "until_ms": until + _AFTERWARDS_MS - self.first_ms,
            "timings": dict(given),
            "assumptions": [*self._assumptions(given)],
            "recorded": {
                "generations": [self._generation(place) for place in range(len(moments))],
                **self._downtime(until + _AFTERWARDS_MS),
            },
        }

    # --- the group at the beginning ---------------------------------------------------------------

    def _tasks(self) -> list[dict[str, Any]]:
        """All tasks, each as the latest decision knows it: internal topics are created in the first one."""
        if self.history.protocol == STREAMS:
            return _tasks_of_subtopologies(moment.document for moment in self.history.moments)
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

    def _missing_topics(self, tasks: Sequence[Mapping[str, Any]]) -> list[str]:
        """Repartition topics, where the first decision is that of a new application."""
        if not self.begins_empty or any(each["records"] for each in self.changelogs.documents.values()):
            return []
        return sorted({
            partition["topic"]
            for task in tasks
            for partition in task["partitions"] or ()
            if partition["topic"].endswith("-repartition")
        })  # fmt: skip

    def _downtime(self, until_ms: int) -> dict[str, Any]:
        # Members of the streams protocol exchange tasks between two epochs: their targets do not show when.
        if self.history.protocol == STREAMS:
            return {}
        moments, empty = self.history.moments, self.begins_empty
        return {
            "downtime": recorded_downtime(moments, self.presence, self.first_ms, until_ms, begins_empty=empty)
        }  # fmt: skip

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
        told = [*self._gaps(), *self.presence.assumptions, *self.changelogs.assumptions, *self._changed_tasks()]
        key = "session.timeout.ms" if self.history.protocol == CLASSIC else "streams.session.timeout.ms"
        if TIMING_KEYS[key] not in given:
            told.append(
                f"{key} of the group is unknown: Kafka's default, {getattr(self.timings, TIMING_KEYS[key])} ms, counts "
                f"(give {key} with --config or -c)"
            )
        return list(dict.fromkeys([*told, *self.history.documents[0].get("assumptions", ())]))

    def _gaps(self) -> list[str]:
        """The generations that the source does not have."""
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

    def _changed_tasks(self) -> list[str]:
        """What is said where the application has come back with another topology."""
        if self.history.protocol == STREAMS:
            return []
        # In the first decision of a new application its internal topics are not there yet.
        sets = [{task["id"] for task in moment.document["tasks"]} for moment in self.history.moments[1:]]
        passing = len(set().union(*sets) - sets[0].intersection(*sets))
        if not passing:
            return []
        return [
            f"the application has changed its topology, or its topics their partitions: {passing} tasks that only some "
            "decisions have are there from the beginning to the end"
        ]


def _tasks_of_subtopologies(documents: Any) -> list[dict[str, Any]]:
    sizes: dict[str, tuple[int, bool]] = {}
    for document in documents:
        for each in document["subtopologies"]:
            before = sizes.get(each["id"], (0, False))
            sizes[each["id"]] = max(before[0], each["tasks"]), before[1] or each["stateful"]
    return [
        {
            "id": f"{name}_{number}", "stateful": is_stateful, "logged": is_stateful, "stores": None,
            "partitions": None,
        }
        for name, (count, is_stateful) in sizes.items()
        for number in range(count)
    ]  # fmt: skip


def _client_of(moment: Moment, process: str) -> dict[str, Any]:
    """A process of a streams group with what it had before the decision."""
    each = moment.participants[process]
    had: dict[str, list[str]] = {"active": [], "standby": []}
    for member in moment.document["members"]:
        if member["process_id"] == process:
            for kind, tasks in had.items():
                tasks += [f"{name}_{number}" for name, numbers in member[kind].items() for number in numbers]
    return {
        "process_id": process, "rack": each.settings.get("rack"), "tags": dict(each.settings.get("tags", {})),
        "host": None, "threads": each.settings["threads"], "consumers": [], "previous_active": had["active"],
        "previous_standby": had["standby"], "lags": None, "previous_by_consumer": None,
    }  # fmt: skip
