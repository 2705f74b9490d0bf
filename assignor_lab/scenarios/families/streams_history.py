"""One Streams group over several rounds, as one assignor lives through it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, Self, TypeVar

from assignment_api.errors import AssignorLabError
from assignment_api.streams import AssignedTaskType, TaskAssignment
from assignor_lab.documents.errors import Place
from assignor_lab.scenarios.families.events import Step
from assignor_lab.scenarios.families.shape import Group
from assignor_lab.scenarios.families.state import GroupState, Held
from assignor_lab.scenarios.families.streams_values import GroupValues
from assignor_lab.scenarios.made import MadeDocument, ScenarioHistory
from assignor_lab.scenarios.scenario import Scenario, StreamsContent

__all__ = ["GroupHistory", "HistoryOrderError", "drawn_once", "in_order"]

#: The parts of a document in the order in which they are written.
_KEYS = ("format", "kind", "id", "config", "tasks", "clients", "source", "workload")


class HistoryOrderError(AssignorLabError):
    """The rounds of a history were not asked for one after the other."""


def in_order(name: str, number: int, following: int, rounds: int) -> None:
    """Raises ``HistoryOrderError`` unless round ``number`` of history ``name`` is the one that follows."""
    if number != following or number >= rounds:
        raise HistoryOrderError(
            f"round {number} of {name} was asked for where round {following} of {rounds} is next: make a new history "
            "of the seed to start again"
        )


class GroupHistory(ScenarioHistory):
    """A group and what happens to it; who holds what follows from the answers.

    Args:
        name: Family and seed, the beginning of the ids.
        group: What does not change.
        steps: The rounds.
        values: What the scenarios share; ``None``: nothing is shared with another history.
    """

    def __init__(self, name: str, group: Group, steps: Sequence[Step], values: GroupValues | None = None) -> None:
        self._name = name
        self._group = group
        self._steps = steps
        self._values = GroupValues(group) if values is None else values
        self._state = GroupState(group)
        self._next = 0

    def from_start(self) -> Self:
        """The same history before its first round; it shares what scenarios have in common."""
        return type(self)(self._name, self._group, self._steps, self._values)

    def forget(self) -> None:
        """Shares nothing any more with scenarios that were made before."""
        self._values.forget()

    def round(self, number: int, previous: TaskAssignment | None) -> Mapping[str, Any]:
        """The document of a round; see :class:`assignment_api.plugins.entries.History`.

        Where ``previous`` is ``None`` after the first round, everybody keeps what it had.

        Raises:
            HistoryOrderError: if ``number`` is not the round after the last one.
        """
        step, held = self._advanced(number, previous)
        document = MadeDocument(self._known_parts(number, step), self._other_parts(step, held))
        return {key: document[key] for key in _KEYS if key in document}

    def scenario(self, number: int, previous: TaskAssignment | None, place: Place) -> Scenario:
        """The scenario of a round, as :meth:`round` has its document.

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

    def _advanced(self, number: int, previous: TaskAssignment | None) -> tuple[Step, list[Held]]:
        """The step of a round, once the answer to the round before is carried out, and what everybody has then."""
        in_order(self._name, number, self._next, len(self._steps))
        self._next += 1
        step = self._steps[number]
        if number > 0 and previous is not None:
            self._give(self._steps[number - 1], previous)
        self._state.advance(step)
        return step, [self._state.held(session) for session in step.members]

    def _give(self, step: Step, answer: TaskAssignment) -> None:
        """Hands out an answer. Clients and tasks that the group does not have are passed over."""
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

    def _known_parts(self, number: int, step: Step) -> dict[str, Any]:
        source = {"time_ms": step.time_ms, "group": self._group.name}
        return {
            "format": 1,
            "kind": "streams",
            "id": f"{self._name}-round-{number}",
            "config": dict(self._group.config),
            "source": source if self._group.workload is None else {**source, "generation": number},
        }

    def _other_parts(self, step: Step, held: Sequence[Held]) -> dict[str, Callable[[], Any]]:
        """The larger parts of a document: key to what makes it."""
        parts: dict[str, Callable[[], Any]] = {
            "tasks": partial(self._tasks, step.hidden),
            "clients": partial(self._clients, step, held),
        }
        if self._group.workload is not None:
            parts["workload"] = partial(self._workload, step.hidden)
        return parts

    def _tasks(self, hidden: frozenset[int]) -> list[dict[str, Any]]:
        numbered = zip(self._group.tasks, self._group.subtopology_of, strict=True)
        return [task for task, subtopology in numbered if subtopology.number not in hidden]

    def _workload(self, hidden: frozenset[int]) -> dict[str, Any]:
        assert self._group.workload is not None
        weights = self._group.workload["tasks"]
        return {**self._group.workload, "tasks": {task["id"]: weights[task["id"]] for task in self._tasks(hidden)}}

    def _clients(self, step: Step, held: Sequence[Held]) -> list[dict[str, Any]]:
        logged = [task["id"] for task in self._tasks(step.hidden) if task["logged"]]
        return [self._client(each, logged if step.lags_known else None) for each in held]

    def _client(self, held: Held, logged: Sequence[str] | None) -> dict[str, Any]:
        """What the leader knows of a member: an entry of ``clients``."""
        tasks, session = self._group.tasks, held.session
        return {
            "process_id": session.process_id,
            "rack": session.machine.rack,
            "tags": dict(session.machine.tags),
            "host": session.machine.host,
            "threads": session.machine.threads,
            "consumers": list(session.consumers),
            "previous_active": [tasks[index]["id"] for index in held.active],
            "previous_standby": [tasks[index]["id"] for index in held.stored],
            "lags": None if logged is None else dict(zip(logged, held.lags, strict=True)),
            "previous_by_consumer": {
                consumer: [tasks[index]["id"] for index in reported]
                for consumer, reported in zip(session.consumers, held.reported, strict=True)
            },
        }


class _Restartable(Protocol):
    """A history that can be lived through again."""

    def from_start(self) -> Self:
        """The same history before its first round."""
        ...


H = TypeVar("H", bound=_Restartable)


def drawn_once(history: Callable[[int], H]) -> Callable[[int], H]:
    """``history``, but that group and events are not drawn again where the seed is that of the call before.

    Every assignor lives through a history of its own, one after the other asks for the same seed, and drawing takes
    as long as a round.
    """
    latest: tuple[int, H] | None = None

    def of_seed(seed: int) -> H:
        nonlocal latest
        if latest is None or latest[0] != seed:
            latest = seed, history(seed)
        return latest[1].from_start()

    return of_seed
