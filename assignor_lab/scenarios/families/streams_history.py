"""One Streams group over several rounds, for one assignor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, Self, TypeVar

from assignment_api.errors import AssignorLabError
from assignment_api.streams import AssignedTaskType, TaskAssignment
from assignor_lab.documents.errors import Place
from assignor_lab.scenarios.families.events import DrawnStep
from assignor_lab.scenarios.families.shape import GroupShape
from assignor_lab.scenarios.families.state import FamilyState, MemberTasks
from assignor_lab.scenarios.families.streams_values import GroupValues
from assignor_lab.scenarios.made import MadeDocument, ScenarioHistory
from assignor_lab.scenarios.scenario import Scenario, StreamsContent
from assignor_lab.scenarios.state_parts import StateTask

__all__ = ["StreamsFamilyHistory", "HistoryOrderError", "drawn_once", "in_order"]

#: The parts of a document in their order.
_KEYS = ("format", "kind", "id", "config", "tasks", "clients", "source", "workload")


class HistoryOrderError(AssignorLabError):
    """The rounds of a history were not requested in order."""


def in_order(name: str, number: int, following: int, rounds: int) -> None:
    """Raises ``HistoryOrderError`` unless round ``number`` of history ``name`` is the next one."""
    if number != following or number >= rounds:
        raise HistoryOrderError(
            f"round {number} of {name} was requested, but round {following} of {rounds} is next: make a new history "
            "of the seed to start again"
        )


class StreamsFamilyHistory(ScenarioHistory):
    """A group and its events; owners follow from the answers.

    Args:
        name: Family and seed, the beginning of the ids.
        values: Shared values of the scenarios; ``None``: no sharing with another history.
    """

    def __init__(
        self, name: str, group: GroupShape, steps: Sequence[DrawnStep], values: GroupValues | None = None
    ) -> None:
        self._name = name
        self._group = group
        self._steps = steps
        self._values = GroupValues(group) if values is None else values
        self._state = FamilyState(group)
        self._next = 0

    def from_start(self) -> Self:
        """The same history before its first round; it shares the scenarios' common values."""
        return type(self)(self._name, self._group, self._steps, self._values)

    def forget(self) -> None:
        """Ends the sharing with earlier scenarios."""
        self._values.forget()

    def round(self, number: int, previous: TaskAssignment | None) -> Mapping[str, Any]:
        """The document of a round; see :class:`assignment_api.plugins.entries.History`.

        If ``previous`` is ``None`` after the first round, every client keeps its tasks.

        Raises:
            HistoryOrderError: if ``number`` is not the round after the last one.
        """
        step, held = self._advanced(number, previous)
        document = MadeDocument(self._known_parts(number, step), self._other_parts(step, held))
        return {key: document[key] for key in _KEYS if key in document}

    def scenario(self, number: int, previous: TaskAssignment | None, place: Place) -> Scenario:
        """The scenario of a round, equal to the document of :meth:`round`.

        Raises:
            HistoryOrderError: if ``number`` is not the round after the last one.
        """
        step, held = self._advanced(number, previous)
        known, topology = self._known_parts(number, step), self._values.topology(step.hidden)
        clients = self._values.clients(held, topology, lags_known=step.lags_known)
        return Scenario(
            known["id"],
            known["kind"],
            MadeDocument(known, self._other_parts(step, held)),
            place,
            StreamsContent(self._values.config, topology.tasks, clients, step.time_ms, topology.workload),
        )

    def _advanced(self, number: int, previous: TaskAssignment | None) -> tuple[DrawnStep, list[MemberTasks]]:
        """The step of a round after the answer to the round before, and the tasks of each member then."""
        in_order(self._name, number, self._next, len(self._steps))
        self._next += 1
        step = self._steps[number]
        if number > 0 and previous is not None:
            self._give(self._steps[number - 1], previous)
        self._state.advance(step)
        return step, [self._state.held(session) for session in step.members]

    def _give(self, step: DrawnStep, answer: TaskAssignment) -> None:
        """Applies an answer. Unknown clients and tasks are ignored."""
        number, is_active = self._values.number.get, AssignedTaskType.ACTIVE
        sessions = {self._values.process(session): session for session in step.members}
        self._state.nobody_owns(step.members)
        for client in answer.assignments:
            session = sessions.get(client.process_id)
            if session is not None:
                active: list[int] = []
                standby: list[int] = []
                for task in client.tasks:
                    index = number(task.id)
                    if index is not None:
                        (active if task.type is is_active else standby).append(index)
                self._state.own(session, active, standby)

    # --- documents --------------------------------------------------------------------------------

    def _known_parts(self, number: int, step: DrawnStep) -> dict[str, Any]:
        source = {"time_ms": step.time_ms, "group": self._group.name}
        return {
            "format": 1,
            "kind": "streams",
            "id": f"{self._name}-round-{number}",
            "config": dict(self._group.config),
            "source": source if self._group.workload is None else {**source, "generation": number},
        }

    def _other_parts(self, step: DrawnStep, held: Sequence[MemberTasks]) -> dict[str, Callable[[], Any]]:
        parts: dict[str, Callable[[], Any]] = {
            "tasks": partial(self._task_documents, step.hidden),
            "clients": partial(self._clients, step, held),
        }
        if self._group.workload is not None:
            parts["workload"] = partial(self._workload, step.hidden)
        return parts

    def _tasks(self, hidden: frozenset[int]) -> list[StateTask]:
        numbered = zip(self._group.tasks, self._group.subtopology_of, strict=True)
        return [task for task, subtopology in numbered if subtopology.number not in hidden]

    def _task_documents(self, hidden: frozenset[int]) -> list[dict[str, Any]]:
        return [self._values.task_documents[task.id] for task in self._tasks(hidden)]

    def _workload(self, hidden: frozenset[int]) -> dict[str, Any]:
        assert self._group.workload is not None
        weights = self._group.workload["tasks"]
        return {**self._group.workload, "tasks": {task.id: weights[task.id] for task in self._tasks(hidden)}}

    def _clients(self, step: DrawnStep, held: Sequence[MemberTasks]) -> list[dict[str, Any]]:
        logged = [task.id for task in self._tasks(step.hidden) if task.logged]
        return [self._client(each, logged if step.lags_known else None) for each in held]

    def _client(self, held: MemberTasks, logged: Sequence[str] | None) -> dict[str, Any]:
        tasks, session = self._group.tasks, held.session
        return {
            "process_id": session.process_id,
            "rack": session.machine.rack,
            "tags": dict(session.machine.tags),
            "host": session.machine.host,
            "threads": session.machine.threads,
            "consumers": list(session.consumers),
            "previous_active": [tasks[index].id for index in held.active],
            "previous_standby": [tasks[index].id for index in held.stored],
            "lags": None if logged is None else dict(zip(logged, held.lags, strict=True)),
            "previous_by_consumer": {
                consumer: [tasks[index].id for index in reported]
                for consumer, reported in zip(session.consumers, held.reported, strict=True)
            },
        }


class _Restartable(Protocol):
    def from_start(self) -> Self: ...


H = TypeVar("H", bound=_Restartable)


def drawn_once(history: Callable[[int], H]) -> Callable[[int], H]:
    """``history`` with a cache: group and events are not drawn again for the seed of the call before.

    Every assignor has its own history, and all of them request the same seed in turn; drawing takes as long as a round.
    """
    latest: tuple[int, H] | None = None

    def of_seed(seed: int) -> H:
        nonlocal latest
        if latest is None or latest[0] != seed:
            latest = seed, history(seed)
        return latest[1].from_start()

    return of_seed
