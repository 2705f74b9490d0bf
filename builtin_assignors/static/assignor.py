"""``static``: pinned tasks on pinned clients, the rest by another assignor on the others (idea of KIP-987)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from assignment_api import (
    ApplicationMetadata,
    AssignedTask,
    ConfigError,
    ProcessID,
    StreamsClientAssignment,
    StreamsClientState,
    TaskAssignment,
    TaskAssignor,
    TaskId,
)
from assignment_api.tracing import RuleStep, Traced
from builtin_assignors._rule_texts import RULE_TEXTS
from builtin_assignors._steps_taken import SILENT
from builtin_assignors.static.config import DELEGATE, StaticConfig
from builtin_assignors.static.delegation import Delegate, Delegated, builtin_delegate
from builtin_assignors.static.pins import TaskPin
from builtin_assignors.static.placement import ClientCandidates, place_actives, place_standbys
from builtin_assignors.static.report import StaticAnswer, UnmetPin, UnmetReason
from builtin_assignors.static.tracing import StaticSteps

__all__ = ["StaticTaskAssignor"]


class StaticTaskAssignor(TaskAssignor):
    """Places pinned tasks on their clients; a delegate places the rest on clients that no pin names.

    These are the rules of KIP-987, a Connect proposal, applied to Streams. A client that a pin names is *static* and
    gets pinned tasks only; all others are *wildcard* clients. If a pin allows several clients, the task's owner keeps
    it, otherwise the client with the fewest tasks gets it, then the smallest process id. The first pin that matches a
    task counts. If a pin cannot be met, the answer's remarks report it, and the delegate places the task.

    Without pins the answer is the delegate's own.

    Args:
        delegate: Creates the assignor for the rest; ``None``: the built-in named by ``assignor.static.delegate``.
    """

    def __init__(self, delegate: Callable[[], TaskAssignor] | None = None) -> None:
        self._made_by = delegate
        self._config = StaticConfig()
        self._configs: Mapping[str, Any] = {}

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Read ``assignor.static.pins``, ``assignor.static.standby.pins`` and ``assignor.static.delegate``.

        Raises:
            ConfigError: if one of them is invalid, or the delegate is no built-in.
        """
        self._configs = configs
        self._config = StaticConfig.from_mapping(configs)
        self._factory()

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        """Place every task; tasks of a client come sorted, actives first, clients in the order of the input.

        Raises:
            AssignorLabError: any error of the delegate.
        """
        return self.explain(application).assignment

    def explain(self, application: ApplicationMetadata) -> StaticAnswer:
        """The answer of :meth:`assign`, with the unmet pins as values."""
        delegate = Delegate(self._factory(), self._configs)
        if not self._config.pins and not self._config.standby_pins:
            return StaticAnswer(delegate.place_all(application))
        return _Decision(application, self._config, delegate).answer()

    def traced(self, application: ApplicationMetadata) -> Traced[TaskAssignment]:
        """The answer of :meth:`assign` with its steps, those of the delegate included."""
        rule_steps: list[RuleStep] = []
        delegate = Delegate(self._factory(), self._configs, rule_steps)
        if not self._config.pins and not self._config.standby_pins:
            return Traced(delegate.place_all(application), rule_steps, RULE_TEXTS)
        decision = _Decision(application, self._config, delegate)
        steps = StaticSteps(decision.task_names, decision.process_ids, self._config.delegate)
        return Traced(decision.answer(steps).assignment, steps.steps, RULE_TEXTS)

    def _factory(self) -> Callable[[], TaskAssignor]:
        if self._made_by is not None:
            return self._made_by
        found = builtin_delegate(self._config.delegate)
        if found is None:
            raise ConfigError(
                f"Invalid value {self._config.delegate:.80} for configuration {DELEGATE}: expected the name of a "
                "built-in assignor other than static"
            )
        return found


class _Decision:
    """An unfinished answer."""

    def __init__(self, application: ApplicationMetadata, config: StaticConfig, delegate: Delegate) -> None:
        self._application = application
        self._delegate = delegate
        self._config = config
        states = application.streams_client_states()
        self._clients = sorted(states.values(), key=lambda client: client.process_id.sort_key())
        self._tasks = sorted(application.all_tasks(), key=TaskId.sort_key)
        self._number_of = {task: number for number, task in enumerate(self._tasks)}
        self._counts = [0] * len(self._clients)
        self._unmet: list[UnmetPin] = []
        named = [self._is_named(client) for client in self._clients]
        self._wildcard = [client for client, is_named in enumerate(named) if not is_named]

    def _is_named(self, client: StreamsClientState) -> bool:
        return any(pin.matches_client(client) for pin in (*self._config.pins, *self._config.standby_pins))

    @property
    def task_names(self) -> list[str]:
        return list(map(str, self._tasks))

    @property
    def process_ids(self) -> list[ProcessID]:
        return [client.process_id for client in self._clients]

    def answer(self, steps: StaticSteps = SILENT) -> StaticAnswer:
        actives = self._pinned_actives()
        rest = [task for task in range(len(self._tasks)) if task not in actives]
        pins = self._pin_of(self._config.pins)
        steps.pinned(actives, pins, self._owners(lambda client: client.previous_active_tasks))
        steps.unmet([task for task in rest if task in pins], pins)
        standby_pins, replicas = self._pinned_standbys()
        delegated = self._delegated(rest, standby_pins)
        steps.told_by_delegate(self._delegate.steps or ())
        steps.delegated([str(self._tasks[task]) for task in rest], delegated)
        holders = self._holders(actives, delegated)
        standbys = self._place_standbys(actives, standby_pins, replicas, holders)
        steps.standbys(standbys, {task: each.clients for task, each in standby_pins.items()})
        lacking = bool(rest) and not self._wildcard and bool(self._clients)
        remarks = [str(unmet) for unmet in self._unmet]
        if lacking:
            remarks.append("every client is named by a pin, so tasks without a pin went to such clients, too")
        assignment = self._assignment(actives, delegated, standbys, remarks)
        return StaticAnswer(assignment, tuple(self._unmet), lacking)

    # --- pins -------------------------------------------------------------------------------------

    def _first_pins(self, pins: Sequence[TaskPin], tasks: Iterable[int]) -> dict[int, list[int]]:
        """Place of each pin to the tasks that it pins; the first matching pin counts."""
        pinned: dict[int, list[int]] = {place: [] for place in range(len(pins))}
        for task in tasks:
            for place, pin in enumerate(pins):
                if pin.matches_task(self._tasks[task]):
                    pinned[place].append(task)
                    break
        return pinned

    def _pin_of(self, pins: Sequence[TaskPin]) -> dict[int, int]:
        """Task to the number of its pin, from 1; tasks without a pin are left out."""
        pinned = self._first_pins(pins, range(len(self._tasks)))
        return {task: place + 1 for place, tasks in pinned.items() for task in tasks}

    def _valid_clients(self, pin: TaskPin) -> list[int]:
        """Clients that the pin names, without clients that have no threads."""
        return [
            number
            for number, client in enumerate(self._clients)
            if client.num_stream_threads > 0 and pin.matches_client(client)
        ]

    def _candidates(
        self, pins: Sequence[TaskPin], tasks: Iterable[int], *, is_standby: bool
    ) -> dict[int, ClientCandidates]:
        """Pinned task to its clients, in the order of tasks; unmet pins are reported and left out."""
        found: dict[int, ClientCandidates] = {}
        for place, pinned in self._first_pins(pins, tasks).items():
            pin = pins[place]
            clients = self._valid_clients(pin)
            if not pinned:
                self._unmet.append(UnmetPin(pin, is_standby, UnmetReason.NO_TASK))
            elif not clients:
                self._unmet.append(UnmetPin(pin, is_standby, UnmetReason.NO_CLIENT, self._ids(pinned)))
            else:
                candidates = ClientCandidates(clients, self._counts)
                found.update((task, candidates) for task in pinned)
        return {task: found[task] for task in sorted(found)}

    def _ids(self, tasks: Iterable[int]) -> tuple[TaskId, ...]:
        return tuple(self._tasks[task] for task in tasks)

    def _pinned_actives(self) -> dict[int, int]:
        allowed = self._candidates(self._config.pins, range(len(self._tasks)), is_standby=False)
        return place_actives(allowed, self._owners(lambda client: client.previous_active_tasks), self._counts)

    def _owners(self, previous: Callable[[StreamsClientState], Iterable[TaskId]]) -> dict[int, list[int]]:
        owners: dict[int, list[int]] = {}
        for number, client in enumerate(self._clients):
            for task in previous(client):
                if task in self._number_of:
                    owners.setdefault(self._number_of[task], []).append(number)
        return owners

    def _pinned_standbys(self) -> tuple[dict[int, ClientCandidates], int]:
        """Task to the clients that its standby pin allows, and the number of standbys of each task."""
        replicas = max(self._application.assignment_configs().num_standby_replicas, 0)
        if not replicas:
            return {}, 0
        stateful = (self._number_of[task] for task in self._application.stateful_tasks())
        return self._candidates(self._config.standby_pins, sorted(stateful), is_standby=True), replicas

    # --- the delegate -----------------------------------------------------------------------------

    def _delegated(self, rest: Sequence[int], standby_pins: Mapping[int, ClientCandidates]) -> Delegated:
        """The delegate's placement of all tasks without a pin that could be met.

        Tasks with pinned standbys are delegated separately and without standbys: any standby in that answer is a
        warm-up, and has to stay one.
        """
        chosen = self._wildcard or range(len(self._clients))
        clients = {self._clients[client].process_id for client in chosen}
        whole = [self._tasks[task] for task in rest if task not in standby_pins]
        without_standbys = [self._tasks[task] for task in rest if task in standby_pins]
        first = self._delegate.place(self._application, whole, clients) if whole else Delegated()
        if not without_standbys:
            return first
        second = self._delegate.place_without_standbys(
            self._application, without_standbys, clients, first.warmups(self._application)
        )
        return first.joined(second)

    # --- standbys ---------------------------------------------------------------------------------

    def _holders(self, actives: Mapping[int, int], delegated: Delegated) -> dict[int, set[int]]:
        holders: dict[int, set[int]] = {task: set() for task in range(len(self._tasks))}
        for task, client in actives.items():
            holders[task].add(client)
        for number, state in enumerate(self._clients):
            for assigned in delegated.tasks.get(state.process_id, ()):
                holders[self._number_of[assigned.id]].add(number)
                self._counts[number] += 1
        return holders

    def _place_standbys(
        self,
        actives: Mapping[int, int],
        standby_pins: Mapping[int, ClientCandidates],
        replicas: int,
        holders: Mapping[int, set[int]],
    ) -> dict[int, list[int]]:
        """Standbys of pinned tasks: on the clients of a standby pin, the others on wildcard clients."""
        if not replicas:
            return {}
        owners = self._owners(lambda client: client.previous_standby_tasks)
        pinned = place_standbys(
            {task: (each, replicas) for task, each in standby_pins.items()}, owners, holders, self._counts
        )
        self._report_too_few(pinned, replicas)
        elsewhere = ClientCandidates(self._wildcard or range(len(self._clients)), self._counts)
        stateful = {self._number_of[task] for task in self._application.stateful_tasks()}
        lacking = {
            task: (elsewhere, replicas - len(pinned.get(task, ())))
            for task in sorted(stateful)
            if task in actives or task in standby_pins
        }
        others = place_standbys(lacking, owners, holders, self._counts)
        return {task: [*pinned.get(task, ()), *others[task]] for task in lacking}

    def _report_too_few(self, pinned: Mapping[int, Sequence[int]], replicas: int) -> None:
        short = [task for task, clients in pinned.items() if len(clients) < replicas]
        for place, tasks in self._first_pins(self._config.standby_pins, short).items():
            if tasks:
                pin = self._config.standby_pins[place]
                self._unmet.append(UnmetPin(pin, True, UnmetReason.TOO_FEW_CLIENTS, self._ids(tasks)))

    # --- the answer -------------------------------------------------------------------------------

    def _assignment(
        self,
        actives: Mapping[int, int],
        delegated: Delegated,
        standbys: Mapping[int, Sequence[int]],
        remarks: Sequence[str],
    ) -> TaskAssignment:
        tasks: dict[ProcessID, list[AssignedTask]] = {
            process: list(delegated.tasks.get(process, ())) for process in self._application.streams_client_states()
        }
        for task, client in actives.items():
            tasks[self._clients[client].process_id].append(AssignedTask.active(self._tasks[task]))
        for task, clients in standbys.items():
            for client in clients:
                tasks[self._clients[client].process_id].append(AssignedTask.standby(self._tasks[task]))
        return TaskAssignment(
            [
                StreamsClientAssignment(
                    process, tuple(sorted(held, key=_role_and_id)), delegated.deadlines.get(process)
                )
                for process, held in tasks.items()
            ],
            [*remarks, *delegated.remarks],
        )


def _role_and_id(task: AssignedTask) -> tuple[str, tuple[bytes, int, int]]:
    return (task.type.value, task.id.sort_key())  # "active" comes before "standby"
