"""Plans static workers (KIP-987, "Choosing static assignments"): jobs for each worker's lists.

Weights and sizes are in one unit of the user's choice. The heaviest job goes first, to the worker with the most room
relative to its size; nothing is random.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from assignment_api.connect import STATIC_CONNECTORS, STATIC_TASKS, ConnectorTaskId
from assignment_api.errors import AssignorLabError
from assignor_lab.documents.json_text import parse_json
from assignor_lab.documents.shapes import Mismatch, boolean, count, faults_at, list_of, map_of, number, record, text
from assignor_lab.scenarios import Place

__all__ = [
    "ConnectorDemand",
    "PlannedWorker",
    "StaticPlan",
    "StaticPlanError",
    "WorkerOffer",
    "check_listable",
    "plan_static",
    "read_plan_input",
]

_LARGEST = 100_000


class StaticPlanError(AssignorLabError):
    """The input does not allow a plan."""


@attrs.frozen
class ConnectorDemand:
    """A connector to place.

    Args:
        is_maximum: ``tasks`` is only an upper bound.
    """

    name: str
    tasks: int
    connector_weight: float = 0.1
    task_weight: float = 1.0
    is_maximum: bool = False


@attrs.frozen
class WorkerOffer:
    """An available worker.

    Args:
        wildcard: It lists no jobs, and runs all unlisted ones.
    """

    name: str
    size: float
    wildcard: bool = False


@attrs.frozen
class PlannedWorker:
    """Planned configuration of a worker.

    Args:
        configs: Empty for a wildcard worker.
    """

    name: str
    configs: Mapping[str, str]
    load: float
    size: float

    def properties(self) -> str:
        return "".join(f"{key}={value}\n" for key, value in self.configs.items())


@attrs.frozen
class StaticPlan:
    """The plan.

    Args:
        uncovered: Jobs without room on any worker; wildcard workers run them.
    """

    workers: tuple[PlannedWorker, ...]
    uncovered: tuple[str, ...]
    warnings: tuple[str, ...]


def plan_static(connectors: Sequence[ConnectorDemand], workers: Sequence[WorkerOffer]) -> StaticPlan:
    """Create a plan.

    Raises:
        StaticPlanError: if a name occurs twice, or a connector cannot be listed.
    """
    _check(connectors, workers)
    jobs = _jobs(connectors)
    static = [worker for worker in workers if not worker.wildcard]
    loads = {worker.name: 0.0 for worker in static}
    listed: dict[str, tuple[list[str], list[ConnectorTaskId]]] = {worker.name: ([], []) for worker in static}
    uncovered: list[str] = []
    for weight, job in jobs:
        room = [worker for worker in static if loads[worker.name] + weight <= worker.size + 1e-9]
        if not room:
            uncovered.append(str(job))
            continue
        # Least loaded relative to its size afterwards; the input's order decides ties.
        best = min(room, key=lambda worker: (loads[worker.name] + weight) / worker.size if worker.size else 0.0)
        loads[best.name] += weight
        names, tasks = listed[best.name]
        if isinstance(job, str):
            names.append(job)
        else:
            tasks.append(job)
    planned = tuple(
        PlannedWorker(worker.name, {}, 0.0, worker.size)
        if worker.wildcard
        else PlannedWorker(worker.name, _configs(*listed[worker.name]), round(loads[worker.name], 6), worker.size)
        for worker in workers
    )
    return StaticPlan(planned, tuple(uncovered), tuple(_warnings(connectors, workers, listed, jobs, uncovered)))


def _jobs(connectors: Sequence[ConnectorDemand]) -> list[tuple[float, str | ConnectorTaskId]]:
    jobs: list[tuple[float, str | ConnectorTaskId]] = []
    for each in connectors:
        jobs.append((each.connector_weight, each.name))
        jobs.extend((each.task_weight, ConnectorTaskId(each.name, task)) for task in range(each.tasks))
    return sorted(jobs, key=lambda job: -job[0])


def _configs(connectors: list[str], tasks: list[ConnectorTaskId]) -> dict[str, str]:
    ordered = [str(task) for task in sorted(tasks, key=ConnectorTaskId.sort_key)]
    return {
        "connect.protocol": "static",
        STATIC_CONNECTORS: ",".join(sorted(connectors)),
        STATIC_TASKS: ",".join(ordered),
    }


def _check(connectors: Sequence[ConnectorDemand], workers: Sequence[WorkerOffer]) -> None:
    for kind, names in (("connector", [each.name for each in connectors]), ("worker", [each.name for each in workers])):
        seen: set[str] = set()
        for name in names:
            if name in seen:
                raise StaticPlanError(f"{kind} {name!r:.80} is there twice: give each once")
            seen.add(name)
    for each in connectors:
        check_listable(each.name)
    if sum(each.tasks + 1 for each in connectors) > _LARGEST:
        raise StaticPlanError(f"more than {_LARGEST} jobs: plan parts of the cluster one by one")


def check_listable(connector: str) -> None:
    """Refuses a connector whose name cannot be in a list of a worker's configuration.

    Raises:
        StaticPlanError: if it cannot.
    """
    if "," in connector or connector != connector.strip() or "\n" in connector or not connector:
        raise StaticPlanError(
            f"connector {connector!r:.80} cannot be listed in {STATIC_CONNECTORS}: its name is empty, holds a "
            "comma or a line end, or begins or ends with a blank; leave it to a wildcard worker"
        )


def _warnings(
    connectors: Sequence[ConnectorDemand],
    workers: Sequence[WorkerOffer],
    listed: Mapping[str, tuple[list[str], list[ConnectorTaskId]]],
    jobs: Sequence[tuple[float, str | ConnectorTaskId]],
    uncovered: Sequence[str],
) -> list[str]:
    warnings = []
    wildcard = [worker.name for worker in workers if worker.wildcard]
    if uncovered and wildcard:
        warnings.append(
            f"{len(uncovered)} jobs are in no worker's list: wildcard workers {', '.join(wildcard)} run them"
        )
    elif uncovered:
        warnings.append(
            f"{len(uncovered)} jobs are in no worker's list, and there is no wildcard worker: they will not run; "
            "add a worker, or room"
        )
    elif wildcard:
        warnings.append(
            f"every job is listed by a worker: wildcard workers {', '.join(wildcard)} stay idle, as a reserve for jobs "
            "whose only worker goes"
        )
    heaviest = jobs[0][0] if jobs else 0.0
    for worker in workers:
        if worker.wildcard:
            continue
        names, tasks = listed[worker.name]
        if not names and not tasks:
            fits = any(weight <= worker.size for weight, _ in jobs)
            why = "no job is left for it" if fits or not jobs else "no job is light enough for it"
            warnings.append(f"worker {worker.name} is idle: {why}")
        if worker.size < heaviest:
            warnings.append(f"worker {worker.name} (size {worker.size:g}) cannot take the heaviest jobs ({heaviest:g})")
    bounds = {each.name for each in connectors if each.is_maximum}
    for worker in workers:
        names, tasks = listed.get(worker.name, ([], []))
        if tasks and not names and all(task.connector in bounds for task in tasks):
            warnings.append(
                f"worker {worker.name} lists only tasks up to tasks.max: it stays idle if the connectors make fewer"
            )
    single = sum(1 for _ in jobs) - len(uncovered)
    if single and not wildcard:
        warnings.append("each job is listed by one worker alone: while that is away, the job does not run")
    return warnings


_connector = record(
    {"name": text},
    {"tasks": count, "tasks.max": count, "connector_weight": number, "task_weight": number},
)
_worker = record({"name": text, "size": number}, {"wildcard": boolean})
_input = record({"connectors": list_of(_connector), "workers": list_of(_worker)}, {"weights": map_of(text, number)})


def read_plan_input(data: bytes, place: Place) -> tuple[list[ConnectorDemand], list[WorkerOffer]]:
    """Read connectors and workers of a JSON document.

    ``{"connectors": [{"name", "tasks" or "tasks.max", "connector_weight"?, "task_weight"?}], "workers": [{"name",
    "size", "wildcard"?}], "weights"?: {connector: weight of each of its tasks}}``.

    Raises:
        DocumentFormatError: with its place, if it is something else.
    """
    with faults_at(place):
        document = _input(parse_json(data))
        weights = document.get("weights", {})
        connectors = []
        for index, each in enumerate(document["connectors"]):
            if ("tasks" in each) == ("tasks.max" in each):
                raise Mismatch('give either "tasks" or "tasks.max"', "connectors", index)
            connectors.append(
                ConnectorDemand(
                    each["name"],
                    each.get("tasks", each.get("tasks.max")),
                    each.get("connector_weight", 0.1),
                    each.get("task_weight", weights.get(each["name"], 1.0)),
                    "tasks.max" in each,
                )
            )
        workers = [WorkerOffer(each["name"], each["size"], each.get("wildcard", False)) for each in document["workers"]]
    return connectors, workers
