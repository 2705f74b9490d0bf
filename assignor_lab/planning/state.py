"""From a captured state to the beginning of a play: members, threads, tasks, copies and settings as they are now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from uuid import UUID

import attrs

from assignment_api import AssignorLabError, TaskAssignment
from assignment_api.plugins import ConfigSources
from assignment_api.streams import AssignedTask, ProcessID, StreamsClientAssignment, TaskId
from assignor_lab.capture.edges.decisions import moment_of_state
from assignor_lab.capture.edges.episodes import opening_document, static_names
from assignor_lab.capture.edges.moments import CLASSIC, DecisionMoment, Participant
from assignor_lab.capture.histories.changelogs import seen_changelogs
from assignor_lab.groups.streams_episode.playing import under_protocol
from assignor_lab.planning.shipped import shipped_constants
from assignor_lab.scenarios import Scenario, scenario_from_document
from assignor_lab.scenarios.scenario import GroupContent, StreamsContent
from assignor_lab.scenarios.settings import Settings
from assignor_lab.scenarios.state_parts import StateClient
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
    settings: Settings
    is_settled: bool = True

    @property
    def is_classic(self) -> bool:
        return self.episode.protocol == CLASSIC


def present_state(
    scenario: Scenario,
    settings: Settings | None = None,
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
    content = scenario.content
    if not isinstance(content, StreamsContent | GroupContent):
        raise NoStateError(
            f"{scenario.place}: {scenario.id!r:.80} is no state of a Streams group: give a file of 'assignor "
            "capture', 'record' or 'import'"
        )
    is_classic = isinstance(content, StreamsContent)
    if not (content.clients if isinstance(content, StreamsContent) else content.members):
        raise EmptyGroupError(f"{scenario.place}: group {scenario.id!r:.80} has no member: there is nothing to plan")
    assumptions = []
    is_decided = scenario.observed is not None
    if not is_decided:
        assumptions.append("the state holds no decision: the group decides and comes to rest before the plan begins")
    moment = moment_of_state(scenario.document, _BEGIN_MS)
    known = {**moment.input.settings, **(settings or {})}
    given = {**timings_of_settings(known), **(timings or {})}
    names, are_known = _names(moment, scenario.id)
    made = _episode(scenario, moment, known, given, assumptions)
    episode = read_episode(made if workload is None else with_workload(made, workload))
    episode = attrs.evolve(
        episode,
        names=tuple(names[str(client.process_id)] for client in episode.clients),
        # Without a decision, the broker of a streams group decides as soon as members send heartbeats.
        is_at_rest=is_decided or is_classic,
    )
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


def _episode(
    scenario: Scenario,
    moment: DecisionMoment,
    settings: Settings,
    given: Mapping[str, int],
    assumptions: list[str],
) -> Scenario:
    is_classic = moment.protocol == CLASSIC
    changelogs = seen_changelogs([moment], moment.time_ms)
    clients = _classic_clients(moment, assumptions) if is_classic else _streams_clients(moment, scenario.id)
    assumptions += [*changelogs.assumptions, *_defaults(given, is_classic=is_classic), *scenario.assumptions]
    made = opening_document(moment, clients, changelogs.by_task, _UNTIL_MS, assumptions)
    return scenario_from_document(with_settings(made, settings, {**shipped_constants(), **given}), scenario.place)


def _classic_clients(moment: DecisionMoment, assumptions: list[str]) -> list[StateClient]:
    threads = moment.input.by_thread
    acceptable = int(moment.evidence.recovery_lag or 10_000)
    is_probing, behind = moment.followup == "probing", 0
    made = []
    for client in moment.input.clients:
        active, standby = moment.placed.get(client.process_id, ((), ()))
        lags = {}
        for task, lag in (client.lags or {}).items():
            if task in active:
                lags[task] = -2
            elif task in standby:
                # Copies of a group at rest have caught up; a warm-up has the lag of its decision.
                is_behind = is_probing and lag > acceptable
                lags[task] = lag if is_behind else 0
                behind += is_behind
            elif lag >= 0:
                lags[task] = lag
        held = {name: threads[name] for name in client.consumers if name in threads}
        made.append(
            attrs.evolve(
                client,
                previous_active=active,
                previous_standby=standby,
                lags=lags,
                previous_by_consumer=held or None,
            )
        )
    if any(client.previous_by_consumer is None for client in made):
        made = [attrs.evolve(client, previous_by_consumer=None) for client in made]
    if behind:
        assumptions.append(f"{behind} copies that warm up count with their lag at the group's last decision")
    return made


def _streams_clients(moment: DecisionMoment, group: str) -> list[StateClient]:
    made, targets = [], moment.input.targets
    for process, each in moment.participants.items():
        members = [member for member in moment.input.members if member.process_id == process]
        held = {member.id: targets[member.id] for member in members}
        made.append(
            StateClient(
                _process_id(process, group),
                each.rack or None,
                each.tags,
                host=None,
                threads=len(members),
                consumers=list(held),
                previous_active=[task for active, _, _ in held.values() for task in active],
                previous_standby=[task for _, copies, warm in held.values() for task in (*copies, *warm)],
                lags=None,
                previous_by_consumer={name: [task for of in kinds for task in of] for name, kinds in held.items()},
                members=static_names(members),
            )
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


def _names(moment: DecisionMoment, group: str) -> tuple[dict[str, str], bool]:
    """Process id to the instance's name, and true if each instance has one.

    The name is the client id or ``group.instance.id`` if no other instance has it, else the process id.
    """
    known = {process: _name_of(each) for process, each in moment.participants.items()}
    counts = Counter(known.values())
    found = {
        _process_id(process, group): name if name is not None and counts[name] == 1 else process
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
