"""From a captured state to the beginning of a play: members, threads, tasks, copies and settings as they are now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

import attrs

from assignment_api import AssignorLabError, TaskAssignment
from assignment_api.plugins import ConfigSources
from assignment_api.streams import AssignedTask, ProcessID, StreamsClientAssignment, TaskId
from assignor_lab.capture.edges.decision_input import protocol_of
from assignor_lab.capture.edges.decisions import moment_of
from assignor_lab.capture.edges.episodes import changelog_documents, tasks_of_subtopologies
from assignor_lab.capture.edges.moments import CLASSIC, DecisionMoment, Participant
from assignor_lab.capture.histories.changelogs import seen_changelogs
from assignor_lab.groups.streams_episode.playing import under_protocol
from assignor_lab.planning.shipped import shipped_constants
from assignor_lab.scenarios import Scenario, scenario_from_document
from assignor_lab.scenarios.consumers import static_members_of
from assignor_lab.simulation.streams.episode import StreamsEpisode, drawn_process_id
from assignor_lab.simulation.streams.formats.episodes import read_episode, with_workload
from assignor_lab.simulation.streams.formats.timings import with_settings
from assignor_lab.simulation.streams.timings import TIMING_KEYS, StreamsTimings, timings_of_settings

__all__ = [
    "EmptyGroupError",
    "NoStateError",
    "PresentState",
    "present_state",
    "under_configuration",
    "under_other_protocol",
]

#: Keys that decide placements, and which facts of new instances a plan needs.
_ASSIGNOR, _TAGS = "task.assignor.class", "rack.aware.assignment.tags"
_OF_PLACEMENT = ("num.standby.replicas", _TAGS, "rack.aware.assignment.strategy")
#: Longest play: eight hours.
_UNTIL_MS = 8 * 3_600_000
#: Beginning of plays if the state has no time.
_BEGIN_MS = 1_000_000_000


class NoStateError(AssignorLabError):
    """A source is no state of a Streams group that a plan can begin with."""


class EmptyGroupError(AssignorLabError):
    """The group has no member."""


@attrs.frozen(eq=False)
class PresentState:
    """The present group.

    Args:
        episode: An episode without events that begins with it.
        assigned: The tasks of each process in the classic protocol, as the leader assigned them last; ``None`` for
            the streams protocol.
        is_probing: True if that assignment requests a probing rebalance, which is still to come.
        names: The names of the instances, in the order of the episode's clients.
        are_known: True if the names are those of the source, and not process ids.
        is_settled: True if the group is at rest under its settings; otherwise plays wait until it is.
        given: Timings that the settings or the command give, by name.
    """

    episode: StreamsEpisode
    assigned: TaskAssignment | None
    is_probing: bool
    names: tuple[str, ...]
    are_known: bool
    given: Mapping[str, int]
    settings: Mapping[str, Any]
    is_settled: bool = True

    @property
    def is_classic(self) -> bool:
        return self.episode.protocol == CLASSIC


def present_state(
    scenario: Scenario,
    settings: Mapping[str, Any] | None = None,
    timings: Mapping[str, int] | None = None,
    workload: Path | None = None,
) -> PresentState:
    """The group of a captured state, as plays begin with it.

    Args:
        scenario: The state: the last decision of a classic group, or a streams group.
        settings: Settings in place of those of the state (``--config``, ``-c``).
        timings: Timings in place of those that the settings give (``--timings``).
        workload: File with the weight of the tasks in place of the state's; ``None``: the state's.

    Raises:
        NoStateError: if the scenario is none.
        EmptyGroupError: if the group has no member.
        DocumentFormatError: if a part of it contradicts another.
    """
    document = dict(scenario.document)
    if protocol_of(document) is None or "events" in document:
        raise NoStateError(
            f"{scenario.place}: {scenario.id!r:.80} is no state of a Streams group: give a file of 'assignor "
            "capture', 'record' or 'import'"
        )
    members = document["clients"] if protocol_of(document) == CLASSIC else document["members"]
    if not members:
        raise EmptyGroupError(f"{scenario.place}: group {scenario.id!r:.80} has no member: there is nothing to plan")
    document["source"] = {"time_ms": _BEGIN_MS, **(document.get("source") or {})}
    if protocol_of(document) == CLASSIC:
        document["clients"] = [_with_static_members(client) for client in document["clients"]]
    assumptions = []
    is_decided = "observed" in document
    if not is_decided:
        assumptions.append("the state holds no decision: the group decides and comes to rest before the plan begins")
        document["observed"] = _observed(document)
    moment = moment_of(document)
    known = {**document.get("settings", {}), **(settings or {})}
    given = {**timings_of_settings(known), **(timings or {})}
    names, are_known = _names(moment)
    made = _episode(scenario, moment, known, given, assumptions)
    episode = read_episode(made if workload is None else with_workload(made, workload))
    episode = attrs.evolve(
        episode,
        names=tuple(names[str(client.process_id)] for client in episode.clients),
        # Without a decision, the broker of a streams group decides as soon as members send heartbeats.
        is_at_rest=is_decided or protocol_of(document) == CLASSIC,
    )
    is_classic = protocol_of(document) == CLASSIC
    return PresentState(
        episode,
        _assigned(moment) if is_classic and is_decided else None,
        moment.followup == "probing",
        episode.names,
        are_known,
        given,
        known,
        is_settled=is_decided,
    )


def under_configuration(state: PresentState, sources: ConfigSources) -> PresentState:
    """The state with the racks, tags, standbys and assignor of a configuration in place of its own."""
    effective = sources.effective(state.episode.config, str(state.episode.place))
    known = {key: effective.entries[key].value for key in _OF_PLACEMENT if key in effective.entries}
    tags = known.get(_TAGS)
    if isinstance(tags, str):
        known[_TAGS] = [tag.strip() for tag in tags.split(",") if tag.strip()]
    chosen = effective.entries.get(_ASSIGNOR)
    assignor = state.episode.assignor
    if state.is_classic and chosen is not None and chosen.value is not None and chosen.origin.layer.is_explicit:
        assignor = str(chosen.value)
    config = {**state.episode.config, **known}
    return attrs.evolve(state, episode=attrs.evolve(state.episode, config=config, assignor=assignor))


def under_other_protocol(state: PresentState, protocol: str) -> PresentState:
    """The group under a protocol, with the same tasks, copies and timeouts.

    Static members stay static if the assignor's broker accepts them (Kafka 4.4 in the streams protocol).
    """
    if protocol == state.episode.protocol:
        return state
    return attrs.evolve(state, episode=under_protocol(state.episode, protocol), assigned=None, is_probing=False)


def _with_static_members(client: Mapping[str, Any]) -> dict[str, Any]:
    static = {} if "members" in client else static_members_of(client["consumers"])
    return {**client, "members": static} if static else dict(client)


def _observed(document: Mapping[str, Any]) -> dict[str, Any]:
    if protocol_of(document) != CLASSIC:
        held = ("active", "standby", "warmup")
        return {"members": {each["id"]: {key: each[key] for key in held} for each in document["members"]}}
    return {
        "assignment": {
            each["process_id"]: {"active": each["previous_active"], "standby": each["previous_standby"]}
            for each in document["clients"]
        },
        "followup": False,
        "threads": None,
    }


def _episode(
    scenario: Scenario,
    moment: DecisionMoment,
    settings: Mapping[str, Any],
    given: Mapping[str, int],
    assumptions: list[str],
) -> Scenario:
    document = moment.input.document
    is_classic = protocol_of(document) == CLASSIC
    changelogs = seen_changelogs([moment], moment.time_ms)
    clients = _classic_clients(document, moment, assumptions) if is_classic else _streams_clients(document, moment)
    assumptions += [*changelogs.assumptions, *_defaults(given, is_classic=is_classic), *document.get("assumptions", ())]
    config = {**document["config"]}
    made: dict[str, Any] = {
        "format": 1,
        "kind": "streams-episode",
        "id": scenario.id,
        "protocol": "classic" if is_classic else "streams",
        **({"assignor": document["source"]["assignor"]} if "assignor" in document["source"] else {}),
        "initial": {
            "format": 1,
            "kind": "streams",
            "id": scenario.id,
            "config": config,
            "tasks": document["tasks"] if is_classic else tasks_of_subtopologies([document]),
            "clients": clients,
            "source": {"time_ms": moment.time_ms},
            **({"workload": _workload(document["workload"])} if "workload" in document else {}),
        },
        "changelogs": changelog_documents(changelogs.by_task),
        "events": [],
        "until_ms": _UNTIL_MS,
        "assumptions": list(dict.fromkeys(assumptions)),
    }
    timings = {**shipped_constants(), **given}
    return scenario_from_document(with_settings(made, settings, timings), scenario.place)


def _workload(workload: Mapping[str, Any]) -> dict[str, Any]:
    """The weight of the tasks in the form of a classic state; the records of a state are in its changelogs."""
    tasks = {
        task: {key: value for key, value in weighs.items() if key != "state_records"}
        for task, weighs in workload.get("tasks", {}).items()
    }
    return {**workload, **({"tasks": tasks} if tasks else {})}


def _classic_clients(
    document: Mapping[str, Any], moment: DecisionMoment, assumptions: list[str]
) -> list[dict[str, Any]]:
    threads = document["observed"].get("threads") or {}
    acceptable = int(document["config"].get("acceptable.recovery.lag") or 10_000)
    is_probing, behind = moment.followup == "probing", 0
    made = []
    for client in document["clients"]:
        active, standby = moment.placed.get(client["process_id"], ((), ()))
        lags = {}
        for task, lag in (client["lags"] or {}).items():
            if task in active:
                lags[task] = -2
            elif task in standby:
                # Copies of a group at rest have caught up; a warm-up has the lag of its decision.
                is_behind = is_probing and lag > acceptable
                lags[task] = lag if is_behind else 0
                behind += is_behind
            elif lag >= 0:
                lags[task] = lag
        held = {
            name: threads[name]["active"] + threads[name]["standby"] for name in client["consumers"] if name in threads
        }
        made.append(
            {
                **client,
                "previous_active": list(active),
                "previous_standby": list(standby),
                "lags": lags,
                "previous_by_consumer": held or None,
            }
        )
    if any(client["previous_by_consumer"] is None for client in made):
        for client in made:
            client["previous_by_consumer"] = None
    if behind:
        assumptions.append(f"{behind} copies that warm up count with their lag at the group's last decision")
    return made


def _streams_clients(document: Mapping[str, Any], moment: DecisionMoment) -> list[dict[str, Any]]:
    made = []
    for process, each in moment.participants.items():
        members = [member for member in document["members"] if member["process_id"] == process]
        targets = document["observed"]["members"]
        held = {
            member["id"]: [
                [f"{name}_{number}" for name, numbers in targets[member["id"]][kind].items() for number in numbers]
                for kind in ("active", "standby", "warmup")
            ]
            for member in members
        }
        static = {
            member["id"]: {"client_id": member.get("client_id"), "instance_id": member["instance_id"]}
            for member in members
            if member["instance_id"] is not None
        }
        made.append(
            {
                **({"members": static} if static else {}),
                "process_id": _process_id(process, document["id"]),
                "rack": each.rack or None,
                "tags": dict(each.tags),
                "host": None,
                "threads": len(members),
                "consumers": list(held),
                "previous_active": [task for active, _, _ in held.values() for task in active],
                "previous_standby": [task for _, copies, warm in held.values() for task in (*copies, *warm)],
                "lags": None,
                "previous_by_consumer": {name: [task for of in kinds for task in of] for name, kinds in held.items()},
            }
        )
    return made


def _process_id(process: str, group: str) -> str:
    """A member of the streams protocol chooses any name for its process; plays need a UUID."""
    try:
        return str(UUID(process))
    except ValueError:
        return str(drawn_process_id(group, process, 0))


def _defaults(given: Mapping[str, int], *, is_classic: bool) -> list[str]:
    prefix = "" if is_classic else "streams."
    stays = "the absence of tasks of stopped members" if is_classic else "the absence of tasks after a kill"
    keys = {
        f"{prefix}session.timeout.ms": stays,
        f"{prefix}heartbeat.interval.ms": "the time until members learn of a change",
    }
    default = StreamsTimings()
    return [
        f"{key} is unknown: Kafka's default, {getattr(default, TIMING_KEYS[key])} ms, counts (give it with --config "
        f"or -c); {depends} depends on it"
        for key, depends in keys.items()
        if TIMING_KEYS[key] not in given
    ]


def _names(moment: DecisionMoment) -> tuple[dict[str, str], bool]:
    """Process id to the instance's name, and true if each instance has one.

    The name is the client id or ``group.instance.id`` if no other instance has it, else the process id.
    """
    known = {process: _name_of(each) for process, each in moment.participants.items()}
    counts = Counter(known.values())
    found = {
        _process_id(process, moment.input.document["id"]): name if name is not None and counts[name] == 1 else process
        for process, name in known.items()
    }
    return found, None not in counts


def _name_of(participant: Participant) -> str | None:
    return participant.client_id or participant.instance_id


def _assigned(moment: DecisionMoment) -> TaskAssignment:
    return TaskAssignment(
        [
            StreamsClientAssignment.of(
                ProcessID(UUID(process)),
                [
                    *(AssignedTask.active(TaskId.parse(task)) for task in active),
                    *(AssignedTask.standby(TaskId.parse(task)) for task in standby),
                ],
            )
            for process, (active, standby) in moment.placed.items()
        ]
    )
