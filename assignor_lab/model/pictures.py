"""Pictures of single states and plays, with every answer to them: ``docs/reference/summary-format.md``."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

__all__ = [
    "Picture",
    "AssignorPlacement",
    "SnapshotClient",
    "ClientTasks",
    "DownTask",
    "DownTimes",
    "Gantt",
    "GanttChange",
    "GanttRow",
    "ConnectSnapshot",
    "SnapshotAnswer",
    "GroupRebalance",
    "GroupSize",
    "GroupWorker",
    "SnapshotPlacement",
    "SnapshotProblem",
    "StateSource",
    "SnapshotTask",
]


@attrs.frozen
class StateSource:
    """Origin of a captured state: the facts of its scenario."""

    facts: Mapping[str, object] = attrs.field(factory=dict)

    @property
    def file(self) -> str | None:
        return self._text("file")

    @property
    def group(self) -> str | None:
        return self._text("group")

    @property
    def reason(self) -> str | None:
        return self._text("reason")

    @property
    def line(self) -> int | None:
        return self._number("line")

    @property
    def time_ms(self) -> int | None:
        return self._number("time_ms")

    @property
    def generation(self) -> int | None:
        return self._number("generation")

    @property
    def prepared_ms(self) -> int | None:
        return self._number("prepared_ms")

    def _text(self, name: str) -> str | None:
        found = self.facts.get(name)
        return found if isinstance(found, str) else None

    def _number(self, name: str) -> int | None:
        found = self.facts.get(name)
        return found if isinstance(found, int) else None


@attrs.frozen
class SnapshotClient:
    """A process of the application; with ``process``, a member of that process, with the member's id."""

    process_id: str
    host: str | None
    rack: str | None
    tags: dict[str, str]
    threads: int
    consumers: tuple[str, ...]
    process: str | None = None
    instance_id: str | None = None


@attrs.frozen
class SnapshotTask:
    """A task, and whether it has state that must be restored after a move."""

    id: str
    stateful: bool


@attrs.frozen
class ClientTasks:
    """The tasks of one client; ``warmup`` is ``None`` if clients are no members of processes."""

    active: tuple[str, ...]
    standby: tuple[str, ...]
    warmup: tuple[str, ...] | None = None

    @property
    def copies(self) -> tuple[str, ...]:
        return (*self.standby, *(self.warmup or ()))


@attrs.frozen
class SnapshotProblem:
    """Reason why an assignor has no answer."""

    type: str
    java_type: str | None
    message: str


@attrs.frozen(kw_only=True)
class AssignorPlacement:
    """One assignor's answer for one state; ``assignment`` is ``None`` after an error.

    With a reason in ``not_comparable``, the assignment may differ from the assignor's real decision.
    """

    assignor: str
    error: SnapshotProblem | None
    followup: bool | None
    equals_observed: bool | None
    not_comparable: str | None = None
    assignment: dict[str, ClientTasks] | None


@attrs.frozen(kw_only=True)
class SnapshotPlacement:
    """One state with every answer to it.

    Args:
        scenario: Its id; empty if it could not be built.
        chosen: Reason of the choice.
        lags: Client and task to the lag of its copy, if not zero; ``None`` if clients are members of processes.
    """

    scenario: str
    round: int
    chosen: str = ""
    source: StateSource | None = None
    assumptions: tuple[str, ...]
    clients: tuple[SnapshotClient, ...] = ()
    tasks: tuple[SnapshotTask, ...] = ()
    before: dict[str, ClientTasks] = attrs.field(factory=dict)
    lags: dict[str, dict[str, int | None]] | None = None
    after: tuple[AssignorPlacement, ...] = ()

    @property
    def entries(self) -> int:
        """Its size, for the limit on all pictures of a summary."""
        return len(self.tasks) * (1 + len(self.after))

    @property
    def time_ms(self) -> int | None:
        """Time of the decision, in epoch milliseconds; ``None`` if unknown or if the state is no decision."""
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
    """A worker after a rebalance; ``starts`` and ``stops`` name some jobs, the rest are counted."""

    connectors: int
    tasks: int
    starts: tuple[str, ...]
    more_starts: int
    stops: tuple[str, ...]
    more_stops: int


@attrs.frozen
class GroupRebalance:
    """A rebalance of a simulated group.

    ``assigned`` and ``revoked`` count jobs of Connect. For a Streams group ``revoked`` counts active tasks that leave
    their instance. ``running_ms`` is the time from ``at_ms`` until no task was down for it (``None`` if that was not
    before the next rebalance, or is unknown).
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
    """A task: from, to and index of its instance; from, to and 1 for a restoration, else 0."""

    task: str
    runs: tuple[tuple[int, ...], ...]
    waits: tuple[tuple[int, ...], ...]


@attrs.frozen
class GanttChange:
    """A change of an instance or worker.

    Args:
        change: ``start``, ``stop`` or ``crash``; between recorded decisions ``joined``, ``gone`` or ``restarted``.
    """

    at_ms: int
    change: str
    instance: str


@attrs.frozen
class Gantt:
    """Owners of each task, in milliseconds since the first event, the ends of rebalances, and changes of instances.

    Args:
        changes: ``None`` if the source has none.
    """

    until_ms: int
    instances: tuple[str, ...]
    rows: tuple[GanttRow, ...]
    rows_left_out: int
    marks: tuple[int, ...]
    changes: tuple[GanttChange, ...] | None = None


@attrs.frozen(kw_only=True)
class SnapshotAnswer:
    """One assignor's answer to a rebalance (``workers``), or its play of an episode (``timeline``)."""

    assignor: str
    error: SnapshotProblem | None
    stops_all: bool = False
    delay_ms: int | None = None
    rounds: int | None = None
    workers: tuple[GroupWorker, ...] | None = None
    timeline: tuple[str, ...] = ()
    gantt: Gantt | None = None
    down: DownTimes | None = None
    rebalances: tuple[GroupRebalance, ...] = ()
    rebalances_left_out: int = 0


@attrs.frozen(kw_only=True)
class ConnectSnapshot:
    """One rebalance of a Connect group, or one episode, with every answer to it.

    Args:
        scenario: Its id; empty if it could not be built.
        chosen: Reason of the choice.
        shows: What answers of this kind show besides, as names of fields.
    """

    scenario: str
    round: int
    kind: str
    assumptions: tuple[str, ...]
    workers: tuple[GroupSize, ...]
    answers: tuple[SnapshotAnswer, ...]
    chosen: str = ""
    shows: tuple[str, ...] = ()

    @property
    def entries(self) -> int:
        """0: it is always small."""
        return 0

    @property
    def is_episode(self) -> bool:
        """True if each answer is a play, with a timeline; a rebalance names the workers before it."""
        return not self.workers and all(answer.workers is None for answer in self.answers)


@attrs.frozen
class DownTask:
    """A task that was down.

    ``intervals``: from, to, index in ``causes``, and indexes in ``instances`` of the owners before and after (-1:
    none).
    """

    task: str
    down_ms: int
    times: int
    longest_ms: int
    intervals: tuple[tuple[int, ...], ...]
    intervals_left_out: int


@attrs.frozen
class DownTimes:
    """Downtime of a play's tasks, in milliseconds since the first event; ``begun_ms`` is that event's time if known."""

    begun_ms: int | None
    causes: tuple[str, ...]
    by_cause_ms: tuple[int, ...]
    instances: tuple[str, ...]
    tasks: tuple[DownTask, ...]
    tasks_left_out: int


#: The picture of a state or play, with every answer to it.
Picture = SnapshotPlacement | ConnectSnapshot
