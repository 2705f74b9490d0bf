"""One Streams group over several rounds, as one assignor lives through it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, Self, TypeVar

from assignment_api.errors import AssignorLabError
from assignment_api.streams import TaskAssignment
from assignor_lab.scenarios.families.events import Step
from assignor_lab.scenarios.families.shape import Group
from assignor_lab.scenarios.families.state import GroupState

__all__ = ["GroupHistory", "HistoryOrderError", "drawn_once", "in_order"]


#: ``tasks`` of a document, and its ``workload`` if it has one.
_Topology = tuple[list[dict[str, Any]], dict[str, Any]]


class HistoryOrderError(AssignorLabError):
    """The rounds of a history were not asked for one after the other."""


def in_order(name: str, number: int, following: int, rounds: int) -> None:
    """Raises ``HistoryOrderError`` unless round ``number`` of history ``name`` is the one that follows."""
    if number != following or number >= rounds:
        raise HistoryOrderError(
            f"round {number} of {name} was asked for where round {following} of {rounds} is next: make a new history "
            "of the seed to start again"
        )


class GroupHistory:
    """A group and what happens to it; who holds what follows from the answers.

    Args:
        name: Family and seed, the beginning of the ids.
        group: What does not change.
        steps: The rounds.
    """

    def __init__(self, name: str, group: Group, steps: Sequence[Step]) -> None:
        self._name = name
        self._group = group
        self._steps = steps
        self._state = GroupState(group)
        self._next = 0
        #: What the documents say of the topology, for the sub-topologies that are hidden.
        self._shown: dict[frozenset[int], _Topology] = {}

    def from_start(self) -> Self:
        """The same history before its first round."""
        return type(self)(self._name, self._group, self._steps)

    def round(self, number: int, previous: TaskAssignment | None) -> Mapping[str, Any]:
        """The document of a round; see :class:`assignment_api.plugins.entries.History`.

        Where ``previous`` is ``None`` after the first round, everybody keeps what it had.

        Raises:
            HistoryOrderError: if ``number`` is not the round after the last one.
        """
        in_order(self._name, number, self._next, len(self._steps))
        self._next += 1
        step = self._steps[number]
        if number > 0:
            self._state.give(self._steps[number - 1].members, previous)
        self._state.advance(step)
        clients = [self._state.client_document(session) for session in step.members]
        if not step.lags_known:
            for client in clients:
                client["lags"] = None
        tasks, workload = self._topology(step.hidden)
        return {
            "format": 1,
            "kind": "streams",
            "id": f"{self._name}-round-{number}",
            "config": dict(self._group.config),
            "tasks": tasks,
            "clients": clients,
            "source": self._source(number, step),
            **workload,
        }

    def _source(self, number: int, step: Step) -> dict[str, Any]:
        source = {"time_ms": step.time_ms, "group": self._group.name}
        return source if self._group.workload is None else {**source, "generation": number}

    def _topology(self, hidden: frozenset[int]) -> _Topology:
        """The tasks and the workload: the same objects in every round with the same sub-topologies."""
        if hidden not in self._shown:
            group = self._group
            numbered = zip(group.tasks, group.subtopology_of, strict=True)
            tasks = [task for task, subtopology in numbered if subtopology.number not in hidden]
            workload = {}
            if group.workload is not None:
                weights = group.workload["tasks"]
                workload["workload"] = {**group.workload, "tasks": {task["id"]: weights[task["id"]] for task in tasks}}
            self._shown[hidden] = tasks, workload
        return self._shown[hidden]


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
