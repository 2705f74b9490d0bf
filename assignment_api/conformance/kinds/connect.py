"""Groups of Kafka Connect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import attrs

from assignment_api.conformance.history import Capabilities, Event, History
from assignment_api.conformance.kinds.kind import Kind, Trouble, World
from assignment_api.conformance.subject import Answering
from assignment_api.connect import (
    CONNECT_PROTOCOL,
    MAX_DELAY_KEY,
    NO_GENERATION,
    NO_JOBS,
    ConfiguredJobs,
    ConnectAssignment,
    ConnectAssignorError,
    ConnectorTaskId,
    ConnectProtocol,
    Jobs,
    Rebalance,
    UnsupportedConnectProtocolError,
    Worker,
    WorkerAssignment,
)

__all__ = ["CONNECT"]

#: Within so many rebalances Kafka's released assignor settled in each of 12,000 histories.
_BOUND = 4
_START_MS = 1_700_000_000_000
_DELAY_MS = 300_000
_MOST_WORKERS, _MOST_TASKS = 10, 14


@attrs.define(eq=False)
class _Member:
    id: str
    owned: Jobs = NO_JOBS


class _ConnectWorld(World[Rebalance]):
    bound = _BOUND

    def __init__(self, history: History, capabilities: Capabilities) -> None:
        self._protocol = ConnectProtocol.from_config(capabilities.protocol)
        self._delay_ms = history.delay_ms
        self._connectors = {f"c{number}": count for number, (count, _) in enumerate(history.tasks)}
        self._named = len(self._connectors)
        self._has_texts = bool(history.texts)
        self._may_be_empty = capabilities.empty
        self._claims: dict[str, Jobs] = {}
        self._number = 0
        self._members: list[_Member] = []
        self._away = 0
        for _ in history.members:
            self._add()
        self._generation, self._completed = 0, NO_GENERATION
        self._time_ms = _START_MS
        self._waits_ms = 0

    def configs(self) -> Mapping[str, Any]:
        if self._has_texts:
            return {MAX_DELAY_KEY: str(self._delay_ms), CONNECT_PROTOCOL: self._protocol.value}
        return {MAX_DELAY_KEY: self._delay_ms, CONNECT_PROTOCOL: self._protocol.value}

    def state(self) -> Rebalance:
        incremental = self._protocol.is_incremental
        return Rebalance(
            ConfiguredJobs(self._connectors),
            [Worker(member.id, self._reported(member) if incremental else NO_JOBS) for member in self._members],
            self._protocol,
            self._time_ms,
            self._generation,
            self._completed,
            None if self._completed == NO_GENERATION else self._protocol,
        )

    def happens(self, event: Event) -> None:
        self._time_ms += 1_000
        happening = getattr(self, f"_{event.type}")
        happening(event)

    def carry_out(self, state: Rebalance, answer: ConnectAssignment) -> None:
        after = _owned_after(state, answer)
        self._claims = {}
        for member in self._members:
            member.owned = after.get(member.id, NO_JOBS)
        self._completed = self._generation
        self._generation += 1
        self._waits_ms = 0 if answer.has_revocations or answer.rejoin else answer.delay_ms

    def rest(self) -> None:
        self._time_ms += self._waits_ms
        self._waits_ms = 0

    # --- events -----------------------------------------------------------------------------------

    def _nothing(self, event: Event) -> None: ...

    def _join(self, event: Event) -> None:
        self._add()

    def _leave(self, event: Event) -> None:
        if len(self._members) > 1:
            self._members.pop(1 + event.which % (len(self._members) - 1))
            self._away += 1

    def _return(self, event: Event) -> None:
        if self._away:
            self._away -= 1
            self._time_ms += (_DELAY_MS + 1_000) * (event.size % 2)
            self._add()

    def _more(self, event: Event) -> None:
        if self._connectors:
            name = sorted(self._connectors)[event.which % len(self._connectors)]
            self._connectors[name] = min(self._connectors[name] + 1, _MOST_TASKS)

    def _fewer(self, event: Event) -> None:
        if self._connectors:
            name = sorted(self._connectors)[event.which % len(self._connectors)]
            self._connectors[name] = max(self._connectors[name] - 1, 0)

    def _both(self, event: Event) -> None:
        """A worker that missed a rebalance reports a reassigned task."""
        member = self._members[event.which % len(self._members)]
        others = [task for each in self._members if each is not member for task in each.owned.tasks]
        if others:
            self._claims[member.id] = Jobs((), (others[event.size % len(others)],))

    def _lead(self, event: Event) -> None:
        """The new leader's assignor has seen no earlier rebalance."""
        self._members.append(self._members.pop(0))
        self._completed = self._generation - 1 if self._generation else NO_GENERATION

    def _reported(self, member: _Member) -> Jobs:
        claimed = self._claims.get(member.id, NO_JOBS)
        return Jobs(member.owned.connectors, (*member.owned.tasks, *claimed.tasks))

    def _create(self, event: Event) -> None:
        self._connectors[f"c{self._named}"] = event.size + 1
        self._named += 1

    def _delete(self, event: Event) -> None:
        if len(self._connectors) > (not self._may_be_empty):
            del self._connectors[sorted(self._connectors)[event.which % len(self._connectors)]]

    def _add(self) -> None:
        if len(self._members) < _MOST_WORKERS:
            self._members.append(_Member(f"w{self._number}"))
            self._number += 1


def _badly_typed(answer: object) -> str | None:
    if not isinstance(answer, ConnectAssignment):
        return f"the answer is {type(answer).__name__}, expected ConnectAssignment"
    delay_ms: Any = answer.delay_ms
    if type(delay_ms) is not int or delay_ms < 0:
        return f"delay_ms is {delay_ms!r:.80}, expected a whole number from 0"
    # An author's answer may contain anything.
    workers: dict[Any, Any] = dict(answer.workers)
    for member, assignment in workers.items():
        if not isinstance(member, str) or not isinstance(assignment, WorkerAssignment):
            return f"the entry of {member!r:.80} is {type(assignment).__name__}, expected WorkerAssignment"
        both: tuple[Any, ...] = (assignment.assigned, assignment.revoked)
        for jobs in both:
            if not isinstance(jobs, Jobs) or not all(isinstance(name, str) for name in jobs.connectors):
                return f"the entry of {member} holds {jobs!r:.80}, expected Jobs"
            if not all(isinstance(task, ConnectorTaskId) for task in jobs.tasks):
                return f"a task of {member} is no ConnectorTaskId"
    return None


def _fingerprint(state: Rebalance) -> Mapping[str, object]:
    return {
        "the workers": tuple(worker.member_id for worker in state.workers),
        "the configured jobs": repr(state.configured),
        "the rebalance": (state.protocol, state.time_ms, state.generation, state.last_completed_generation),
        **{f"worker {worker.member_id}": repr(worker) for worker in state.workers},
    }


class _ConnectKind(Kind[Rebalance]):
    name = "connect"
    events = ("nothing", "join", "leave", "return", "more", "create", "delete", "fewer", "both", "lead")
    settings = MappingProxyType({"texts": 1})
    may_be_empty = False
    sorts = 0
    most_of_member = 1
    delays = (0, _DELAY_MS)
    answering = Answering(
        call=lambda assignor, state: assignor.assign(state),
        fingerprint=_fingerprint,
        shown=lambda state: state,
        badly_typed=_badly_typed,
        refusals=(ConnectAssignorError, UnsupportedConnectProtocolError),
        lives=True,
    )

    def world(self, history: History, capabilities: Capabilities) -> World[Rebalance]:
        return _ConnectWorld(history, capabilities)

    def troubles(self, state: Rebalance, answer: ConnectAssignment) -> Iterator[Trouble]:
        members = {worker.member_id: worker for worker in state.workers}
        strange = next((member for member in answer.workers if member not in members), None)
        if strange is not None:
            yield "accepted", f"the group has no member {strange!r:.80}"
            return
        missing = next((member for member in members if member not in answer.workers), None)
        if missing is not None:
            yield "accepted", f"member {missing} has no entry in the answer"
            return
        yield from _wrongly_assigned(state, answer)
        yield from _lost(state, answer)

    def placement(self, state: Rebalance, answer: ConnectAssignment) -> Any:
        return {
            member: [sorted(owned.connectors), sorted(map(str, owned.tasks))]
            for member, owned in sorted(_owned_after(state, answer).items())
        }

    def asks_again(self, state: Rebalance, answer: ConnectAssignment) -> bool:
        return answer.has_revocations or answer.rejoin or answer.delay_ms > 0

    def threads(self, state: Rebalance) -> Mapping[str, int]:
        return {worker.member_id: 1 for worker in state.workers}

    def work(self, state: Rebalance, answer: ConnectAssignment) -> Mapping[str, Sequence[str]]:
        return {member: [*jobs[0], *jobs[1]] for member, jobs in self.placement(state, answer).items()}

    def turned(self, state: Rebalance) -> Rebalance:
        return attrs.evolve(state, workers=tuple(reversed(state.workers)))

    def documents(self, states: Sequence[Rebalance], name: str) -> list[dict[str, Any]]:
        if not states:
            return []
        return [
            {
                "format": 1,
                "kind": "connect",
                "id": name,
                "protocol": states[0].protocol.value,
                "max_delay_ms": 0,
                "rounds": [_round(state) for state in states],
            }
        ]

    def sized(self, number: int, capabilities: Capabilities) -> Rebalance:
        workers = max(number // 8, 2)
        tasks = [ConnectorTaskId("c", task) for task in range(number)]
        owned = [Jobs((), tasks[place :: workers - 1]) if place < workers - 1 else NO_JOBS for place in range(workers)]
        owned[0] = Jobs(("c",), owned[0].tasks)
        protocol = ConnectProtocol.from_config(capabilities.protocol)
        jobs = owned if protocol.is_incremental else [NO_JOBS] * workers
        members = [Worker(f"w{place:04}", held) for place, held in enumerate(jobs)]
        return Rebalance(ConfiguredJobs({"c": number}), members, protocol, time_ms=_START_MS, generation=1)


def _owned_after(state: Rebalance, answer: ConnectAssignment) -> dict[str, Jobs]:
    assignments = {
        worker.member_id: answer.workers.get(worker.member_id, WorkerAssignment()) for worker in state.workers
    }
    return attrs.evolve(answer, workers=assignments).owned_after(state)


def _wrongly_assigned(state: Rebalance, answer: ConnectAssignment) -> Iterator[Trouble]:
    owners: dict[object, list[str]] = {}
    for worker in state.workers:
        for job in (*worker.owned.connectors, *worker.owned.tasks):
            owners.setdefault(job, []).append(worker.member_id)
    given: dict[object, str] = {}
    for member, assignment in answer.workers.items():
        for job in (*assignment.assigned.connectors, *assignment.assigned.tasks):
            if job not in state.configured:
                yield "accepted", f"{member} is given {job}, which is not configured"
            elif job in owners:
                yield "accepted", f"{member} is given {job} while {owners[job][0]} still has it"
            elif job in given:
                yield "accepted", f"{job} is given to {given[job]} and to {member}"
            given[job] = member
        for job in (*assignment.revoked.connectors, *assignment.revoked.tasks):
            if member not in owners.get(job, ()):
                yield "nothing in vain", f"{member} is to stop {job}, which it does not have"


def _lost(state: Rebalance, answer: ConnectAssignment) -> Iterator[Trouble]:
    if answer.has_revocations or answer.rejoin or answer.delay_ms > 0:
        return  # the next rebalance may assign it
    running: dict[object, list[str]] = {}
    for member, owned in _owned_after(state, answer).items():
        for job in (*owned.connectors, *owned.tasks):
            running.setdefault(job, []).append(member)
    for job in (*state.configured.connectors(), *state.configured.tasks()):
        holders = running.pop(job, [])
        if len(holders) != 1:
            yield "nothing lost", f"{job} runs on {' and '.join(holders) or 'no worker'}, and no rebalance follows"
    for job, holders in running.items():
        yield "nothing lost", f"{job} is not configured any more and goes on running on {' and '.join(holders)}"


def _round(state: Rebalance) -> dict[str, Any]:
    return {
        "time_ms": state.time_ms,
        "connectors": dict(state.configured.task_counts),
        "members": [
            {
                "id": worker.member_id,
                "owned": {"connectors": list(worker.owned.connectors), "tasks": list(map(str, worker.owned.tasks))},
                "static": {"connectors": None, "tasks": None},
            }
            for worker in state.workers
        ],
    }


CONNECT = _ConnectKind()
