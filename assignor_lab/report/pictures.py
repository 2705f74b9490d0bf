"""Single states and groups of a summary, with every answer to them, as values: ``docs/reference/summary-format.md``."""

from __future__ import annotations

import attrs

from assignor_lab.report.down_times import DownTimes

__all__ = [
    "AssignorPlacement",
    "Client",
    "ClientTasks",
    "Gantt",
    "GanttRow",
    "Group",
    "GroupAnswer",
    "GroupRebalance",
    "GroupSize",
    "GroupWorker",
    "Placement",
    "Problem",
    "StateSource",
    "Task",
]


@attrs.frozen
class StateSource:
    """Where a captured state was read."""

    file: str | None = None
    line: int | None = None
    time_ms: int | None = None
    group: str | None = None
    generation: int | None = None
    prepared_ms: int | None = None
    reason: str | None = None


@attrs.frozen
class Client:
    """A process of the application; where ``process`` is given, a member of that process, with the member's id."""

    process_id: str
    host: str | None
    rack: str | None
    tags: dict[str, str]
    threads: int
    consumers: tuple[str, ...]
    process: str | None = None
    instance_id: str | None = None


@attrs.frozen
class Task:
    """A task, and whether it has state that a move would have to bring along."""

    id: str
    stateful: bool


@attrs.frozen
class ClientTasks:
    """What one client runs."""

    active: tuple[str, ...]
    standby: tuple[str, ...]
    warmup: tuple[str, ...] = ()


@attrs.frozen
class Problem:
    """Why an assignor has no answer."""

    type: str
    java_type: str | None
    message: str


@attrs.frozen
class AssignorPlacement:
    """One assignor's answer for one state; ``assignment`` is ``None`` after an error.

    Where ``not_comparable`` gives a reason, the assignment is not what the assignor would really decide.
    """

    assignor: str
    error: Problem | None
    followup: bool | None
    equals_observed: bool | None
    assignment: dict[str, ClientTasks] | None
    not_comparable: str | None = None


@attrs.frozen
class Placement:
    """One state with every answer to it; ``lags``: client and task to what a copy lacked, where it lacked anything."""

    scenario: str
    round: int
    chosen: str
    source: StateSource | None
    assumptions: tuple[str, ...]
    clients: tuple[Client, ...]
    tasks: tuple[Task, ...]
    before: dict[str, ClientTasks]
    after: tuple[AssignorPlacement, ...]
    lags: dict[str, dict[str, int | None]] = attrs.field(factory=dict)

    @property
    def time_ms(self) -> int | None:
        """When it was decided, in epoch milliseconds; ``None``: the source does not tell, or nobody decided it."""
        is_real = self.source is not None and (self.source.file is not None or self.source.group is not None)
        return self.source.time_ms if self.source is not None and is_real else None


@attrs.frozen
class GroupSize:
    """A worker of a Connect group before a rebalance."""

    id: str
    connectors: int
    tasks: int


@attrs.frozen
class GroupWorker:
    """What becomes of a worker; ``starts`` and ``stops`` name jobs, the rest of which are counted."""

    connectors: int
    tasks: int
    starts: tuple[str, ...]
    more_starts: int
    stops: tuple[str, ...]
    more_stops: int


@attrs.frozen
class GroupRebalance:
    """A rebalance of a simulated group.

    ``assigned`` and ``revoked`` count jobs of Connect; of a Streams group ``revoked`` counts active tasks that leave
    their instance, and ``running_ms`` says how long it took from ``at_ms`` until no task was down for it (``None``: not
    before the next rebalance, or it is not known).
    """

    at_ms: int
    because: tuple[str, ...]
    leader: str
    protocol: str
    members: int
    assigned: int
    revoked: int
    delay_ms: int
    running_ms: int | None = None


@attrs.frozen
class GanttRow:
    """A task: from, to and number of the instance that ran it; from, to and 1 where its state came back, else 0."""

    task: str
    runs: tuple[tuple[int, ...], ...]
    waits: tuple[tuple[int, ...], ...]


@attrs.frozen
class Gantt:
    """Who ran which task when, in milliseconds since the first event, and when rebalances were over."""

    until_ms: int
    instances: tuple[str, ...]
    rows: tuple[GanttRow, ...]
    rows_left_out: int
    marks: tuple[int, ...]


@attrs.frozen
class GroupAnswer:
    """One assignor's answer to a rebalance (``workers``), or its play of an episode (``timeline``)."""

    assignor: str
    error: Problem | None
    stops_all: bool
    delay_ms: int | None
    rounds: int | None
    workers: tuple[GroupWorker, ...] | None
    timeline: tuple[str, ...]
    rebalances: tuple[GroupRebalance, ...]
    rebalances_left_out: int
    gantt: Gantt | None = None
    down: DownTimes | None = None


@attrs.frozen
class Group:
    """One rebalance of a Connect group, or one episode, with every answer to it."""

    scenario: str
    round: int
    kind: str
    chosen: str
    assumptions: tuple[str, ...]
    workers: tuple[GroupSize, ...]
    answers: tuple[GroupAnswer, ...]

    @property
    def is_episode(self) -> bool:
        """Whether each answer is a play, with a timeline: a rebalance names the workers that were there before it."""
        return not self.workers and all(answer.workers is None for answer in self.answers)
