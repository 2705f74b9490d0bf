"""A Streams application as a problem, sorted by id."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations_with_replacement

import attrs

from assignment_api.optimum.problem import Problem
from assignment_api.streams.application import ApplicationMetadata
from assignment_api.streams.assignment import TaskAssignment
from assignment_api.streams.client_state import LATEST_OFFSET, lags_of
from assignment_api.streams.ids import ProcessID, TaskId
from assignment_api.streams.tasks import TaskInfo

__all__ = ["Numbered", "owners_of", "problem_of", "spread_of"]

_ALL_CAUGHT_UP = 2**63 - 1
#: Most places of standbys to try; above, goal ``spread`` is left out.
_MOST_PLACES = 20_000


@attrs.frozen(eq=False)
class Numbered:
    """An application as a problem.

    Args:
        stateful: For each task, True if stateful and logged.
        copies: For each task, processes with a copy that did not run it.
        tags: For each tag of ``rack.aware.assignment.tags`` (KIP-708), its value on each process.
        standbys: Of a stateful task, at most one on each process.
    """

    problem: Problem
    tasks: list[TaskId]
    processes: list[ProcessID]
    stateful: list[bool]
    copies: list[tuple[int, ...]]
    tags: list[list[str | None]] = attrs.field(factory=list)
    standbys: int = 0


def owners_of(numbered: Numbered, answer: TaskAssignment) -> list[int] | None:
    """Process of each active task; ``None`` if a task is not placed exactly once."""
    task_number = {task: index for index, task in enumerate(numbered.tasks)}
    process_number = {process: index for index, process in enumerate(numbered.processes)}
    owners = [-1] * len(numbered.tasks)
    for assigned in answer.assignments:
        process = process_number.get(assigned.process_id)
        for task in map(task_number.get, assigned.active_tasks()):
            if task is None or process is None or owners[task] >= 0:
                return None
            owners[task] = process
    return None if -1 in owners else owners


def spread_of(numbered: Numbered, answer: TaskAssignment) -> float:
    """Goal ``spread`` with an answer's standbys.

    A copy that repeats a tag's value counts 1 for that tag, and so does a missing copy. Of surplus copies (a warm-up),
    those with new values count.
    """
    if not numbered.tags:
        return 0.0
    task_number = {task: index for index, task in enumerate(numbered.tasks)}
    process_number = {process: index for index, process in enumerate(numbered.processes)}
    copies: list[list[int]] = [[] for _ in numbered.tasks]
    for is_active in (True, False):
        for assigned in answer.assignments:
            process = process_number.get(assigned.process_id)
            held = assigned.active_tasks() if is_active else assigned.standby_tasks()
            for task in map(task_number.get, held):
                if task is not None and process is not None:
                    copies[task].append(process)
    clashes = 0
    for held_by, logged in zip(copies, numbered.stateful, strict=True):
        if logged:
            clashes += _clashes(numbered, held_by)
    return float(clashes)


def _clashes(numbered: Numbered, copies: Sequence[int]) -> int:
    seen: list[set[str | None]] = [set() for _ in numbered.tags]
    rest = list(copies)
    clashes = len(numbered.tags) * (1 + numbered.standbys)
    for turn in range(min(1 + numbered.standbys, len(rest))):
        new = [
            sum(values[process] not in known for values, known in zip(numbered.tags, seen, strict=True))
            for process in rest
        ]
        best = new.index(max(new)) if turn else 0
        clashes -= new[best]
        process = rest.pop(best)
        for values, known in zip(numbered.tags, seen, strict=True):
            known.add(values[process])
    return clashes


def problem_of(application: ApplicationMetadata) -> Numbered:
    """The problem of placing active tasks.

    *Ready* for a stateful task: processes with a caught-up copy (KIP-441: they ran it, or lag by
    ``acceptable.recovery.lag`` at most), else those with the smallest lag. Weights and racks count if known of every
    task. Lags are read even if not computed.
    """
    # Hashing an id is slow: a million look-ups take seconds.
    infos = sorted(application.task_infos().values(), key=lambda info: info.id.sort_key())
    tasks = [info.id for info in infos]
    clients = application.streams_client_states()
    processes = sorted(clients)
    number = {task: index for index, task in enumerate(tasks)}
    stateful = [info.is_stateful and info.is_logged for info in infos]
    before: list[tuple[int, ...]] = [()] * len(tasks)
    copies: list[tuple[int, ...]] = [()] * len(tasks)
    for process, client in enumerate(clients[each] for each in processes):
        alone = (process,)
        for held, known in ((client.previous_active_tasks, before), (client.previous_standby_tasks, copies)):
            for task in map(number.get, held):
                if task is not None:
                    known[task] = known[task] + alone if known[task] else alone
    threads = [max(clients[process].num_stream_threads, 1) for process in processes]
    problem = Problem(
        threads=threads,
        before=before,
        ready=_ready(application, tasks, processes, stateful, before, copies),
        weights=_weights(application, tasks, stateful),
        rack=None,
    )
    configs = application.assignment_configs()
    standbys = max(min(configs.num_standby_replicas, len(processes) - 1), 0)
    tags = [
        [clients[process].client_tags.get(key) for process in processes] for key in configs.rack_aware_assignment_tags
    ]
    problem = _with_zones(_with_racks(problem, application, infos, processes), tags, standbys, stateful)
    return Numbered(problem, tasks, processes, stateful, copies, tags, standbys)


def _with_zones(
    problem: Problem, tags: Sequence[Sequence[str | None]], standbys: int, stateful: Sequence[bool]
) -> Problem:
    if not tags or not standbys or True not in stateful:
        return problem
    values = list(zip(*tags, strict=True))
    zones = {each: number for number, each in enumerate(sorted(set(values), key=repr))}
    if math.comb(len(zones) + standbys - 1, standbys) > _MOST_PLACES:
        return problem
    held = Counter(values)
    most = [min(1 + standbys, len(set(each))) for each in tags]
    row = tuple([_fewest_clashes(zone, zones, held, standbys, sum(most)) for zone in zones])
    nothing = (0.0,) * len(zones)
    costs = [row if logged else nothing for logged in stateful]
    return attrs.evolve(problem, zone=[zones[each] for each in values], far={**problem.far, "tags": costs})


_Zone = tuple[str | None, ...]


def _fewest_clashes(
    active: _Zone, zones: Iterable[_Zone], held: Mapping[_Zone, int], standbys: int, most: int
) -> float:
    """Fewest repeated values of the standbys of a task in zone ``active``; ``most``: possible values."""
    best = 0
    for others in combinations_with_replacement(zones, standbys):
        chosen = (active, *others)
        if all(count <= held[zone] for zone, count in Counter(chosen).items()):
            best = max(best, sum(len(set(values)) for values in zip(*chosen, strict=True)))
            if best == most:
                break
    return float(len(active) * (1 + standbys) - best)


def _ready(
    application: ApplicationMetadata,
    tasks: Sequence[TaskId],
    processes: Sequence[ProcessID],
    stateful: Sequence[bool],
    before: Sequence[tuple[int, ...]],
    copies: Sequence[tuple[int, ...]],
) -> list[tuple[int, ...]]:
    clients = application.streams_client_states()
    acceptable = application.assignment_configs().acceptable_recovery_lag
    lags: list[Mapping[TaskId, int]] = [lags_of(clients[process]) or {} for process in processes]
    if acceptable == _ALL_CAUGHT_UP or True not in stateful:
        return [()] * len(tasks)
    known = bool(lags) and all(client.has_lags() for client in clients.values())
    ready: list[tuple[int, ...]] = []
    for task, is_stateful, active, standby in zip(tasks, stateful, before, copies, strict=True):
        if not is_stateful or not (active or standby or known):
            ready.append(())
            continue
        if not known:
            ready.append(active)
            continue
        holders = tuple(sorted({*active, *standby}))
        # All processes without a copy lack the whole changelog.
        other = next((process for process in range(len(processes)) if process not in holders), None)
        if other is not None and 0 <= lags[other].get(task, -1) <= acceptable:
            ready.append(())
            continue
        lag = [(_lag(lags[process].get(task)), process) for process in holders]
        caught_up = tuple([process for behind, process in lag if behind <= acceptable])
        if not caught_up and lag:
            least = min(lag)[0]
            caught_up = tuple([process for behind, process in lag if behind == least])
        ready.append(caught_up if len(caught_up) < len(processes) else ())
    return ready


def _lag(lag: int | None) -> int:
    if lag == LATEST_OFFSET:
        return 0
    return _ALL_CAUGHT_UP if lag is None or lag < 0 else lag


def _weights(
    application: ApplicationMetadata, tasks: Sequence[TaskId], stateful: Sequence[bool]
) -> dict[str, Sequence[float]]:
    weights: dict[str, Sequence[float]] = {"stateful": list(map(int, stateful))}
    workload = application.workload()
    if workload is None:
        return weights
    known = [workload.of(task) for task in tasks]
    found = {
        "bytes": [each.state_bytes if logged else 0.0 for each, logged in zip(known, stateful, strict=True)],
        "traffic": [each.input_bytes_per_s for each in known],
        "load": [each.weight for each in known],
    }
    for name, values in found.items():
        complete = [each for each in values if each is not None]
        if len(complete) == len(values):
            weights[name] = complete
    if "load" not in weights and "traffic" in weights:
        weights["load"] = weights["traffic"]
    return weights


def _with_racks(
    problem: Problem, application: ApplicationMetadata, infos: Sequence[TaskInfo], processes: Sequence[ProcessID]
) -> Problem:
    clients = application.streams_client_states()
    racks = [clients[process].rack_id for process in processes]
    names = sorted({rack for rack in racks if rack is not None})
    if None in racks or not racks:
        return problem
    rows: dict[tuple[tuple[str, ...], ...], tuple[float, ...]] = {}
    far: list[tuple[float, ...]] = []
    for info in infos:
        places = _sources(info)
        if places is None:
            return problem
        row = rows.get(places)
        if row is None:
            row = rows[places] = tuple([float(sum(rack not in replicas for replicas in places)) for rack in names])
        far.append(row)
    found: dict[str, Sequence[tuple[float, ...]]] = {"partitions": far}
    traffic = problem.weights.get("traffic")
    if traffic is not None:
        # Input by partition is unknown: equal shares.
        counts = [max(len(info.source_partitions()), 1) for info in infos]
        found["traffic"] = [
            tuple([each * share / count for each in row])
            for row, share, count in zip(far, traffic, counts, strict=True)
        ]
    number = {rack: index for index, rack in enumerate(names)}
    return attrs.evolve(problem, rack=[number[rack] for rack in racks if rack is not None], far=found)


def _sources(info: TaskInfo) -> tuple[tuple[str, ...], ...] | None:
    if info.topic_partitions is None:
        return None
    found = tuple([partition.rack_ids or () for partition in info.topic_partitions if partition.is_source])
    return None if () in found else found
