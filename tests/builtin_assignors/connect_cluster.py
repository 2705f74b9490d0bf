"""Kafka: ``DistributedHerder``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import attrs

from assignment_api.connect import (
    MAX_DELAY_KEY,
    NO_GENERATION,
    NO_JOBS,
    WILDCARD,
    ConfiguredJobs,
    ConnectAssignment,
    ConnectAssignor,
    ConnectorTaskId,
    ConnectProtocol,
    Jobs,
    Rebalance,
    StaticJobs,
    Worker,
)

Job = str | ConnectorTaskId
Told = Mapping[str, tuple[str, str]]


def each_job(jobs: Jobs) -> list[Job]:
    return [*jobs.connectors, *jobs.tasks]


def job_texts(jobs: Jobs) -> str:
    ordered = jobs.sorted()
    return " ".join([*ordered.connectors, *map(str, ordered.tasks)])


def told(answer: ConnectAssignment) -> Told:
    return {
        member: (job_texts(each.assigned), job_texts(each.revoked))
        for member, each in answer.workers.items()
        if len(each.assigned) + len(each.revoked) > 0
    }


def tasks(*texts: str) -> tuple[ConnectorTaskId, ...]:
    return tuple(map(ConnectorTaskId.parse, texts))


def static(connectors: Sequence[str] | None = None, task_texts: Sequence[str] | None = None) -> StaticJobs:
    return StaticJobs(connectors, None if task_texts is None else tasks(*task_texts))


class Cluster:
    def __init__(
        self,
        assignor: ConnectAssignor,
        connectors: Mapping[str, int],
        *,
        max_delay: int = 300_000,
        protocol: ConnectProtocol = ConnectProtocol.SESSIONED,
        settings: Mapping[str, object] | None = None,
        time: int = 1_000,
    ) -> None:
        assignor.configure({MAX_DELAY_KEY: max_delay, **(settings or {})})
        self.assignor = assignor
        self.connectors = dict(connectors)
        self.protocol = protocol
        self.time = time
        self.owned: dict[str, Jobs] = {}
        self.static: dict[str, StaticJobs] = {}
        self.generation = NO_GENERATION
        self.completed = NO_GENERATION
        self.deadline: int | None = None
        self.rebalance_due = False

    def join(self, *members: str, lists: StaticJobs = WILDCARD) -> None:
        for member in members:
            self.owned[member] = NO_JOBS
            self.static[member] = lists

    def leave(self, *members: str) -> None:
        for member in members:
            del self.owned[member]

    def rebalance(self, at: int | None = None, *, lost_by: Sequence[str] = ()) -> ConnectAssignment:
        """One round; ``lost_by`` do not receive their answer and continue as before."""
        self.time = self.time if at is None else at
        self.generation += 1
        rebalance = Rebalance(
            ConfiguredJobs(self.connectors),
            [
                Worker(member, owned if self.protocol.is_incremental else NO_JOBS, self.static[member])
                for member, owned in self.owned.items()
            ],
            self.protocol,
            self.time,
            self.generation,
            self.completed,
        )
        answer = self.assignor.assign(rebalance)
        check_answer(rebalance, answer)
        after = answer.owned_after(rebalance)
        self.owned = {member: owned if member in lost_by else after[member] for member, owned in self.owned.items()}
        self.completed = self.generation
        self.deadline = self.time + answer.delay_ms if answer.delay_ms > 0 else None
        self.rebalance_due = answer.has_revocations or bool(lost_by)
        return answer

    def settle(self, limit: int = 20) -> int:
        """Rebalances until none is due; returns the number of rounds, including the first."""
        self.rebalance()
        for rounds in range(1, limit):
            if self.rebalance_due:
                self.rebalance()
            elif self.deadline is not None:
                self.rebalance(self.deadline)
            else:
                return rounds
        raise AssertionError(f"not stable after {limit} rounds: {self.owned}")

    # --- state ------------------------------------------------------------------------------------

    def sizes(self, members: Sequence[str] | None = None) -> tuple[list[int], list[int]]:
        chosen = self.owned if members is None else members
        return (
            sorted(len(self.owned[member].connectors) for member in chosen),
            sorted(len(self.owned[member].tasks) for member in chosen),
        )

    def owners(self) -> dict[Job, list[str]]:
        found: dict[Job, list[str]] = {}
        for member, jobs in self.owned.items():
            for job in each_job(jobs):
                found.setdefault(job, []).append(member)
        return found

    def configured(self) -> ConfiguredJobs:
        return ConfiguredJobs(self.connectors)


def check_answer(rebalance: Rebalance, answer: ConnectAssignment) -> None:
    """The assertions of Kafka's own tests after every round (Kafka: ``IncrementalCooperativeAssignorTest``)."""
    owned_before = {job for worker in rebalance.workers for job in each_job(worker.owned)}
    assigned = Counter(job for told in answer.workers.values() for job in each_job(told.assigned))
    assert list(answer.workers) == [worker.member_id for worker in rebalance.workers]
    assert owned_before.isdisjoint(assigned), "something that is owned was assigned"
    assert all(number == 1 for number in assigned.values()), "a job was assigned twice"
    assert all(job in rebalance.configured for job in assigned), "a job that is not configured was assigned"


@attrs.frozen
class Roles:
    listers: Mapping[Job, Sequence[str]]
    wildcards: Sequence[str]


def roles(cluster: Cluster) -> Roles:
    listers: dict[Job, list[str]] = {}
    wildcards = []
    for member in cluster.owned:
        lists = cluster.static[member]
        if cluster.protocol is not ConnectProtocol.STATIC or not lists.is_set:
            wildcards.append(member)
            continue
        for job in each_job(lists.jobs()):
            if job in cluster.configured():
                listers.setdefault(job, []).append(member)
    return Roles(listers, wildcards)


def check_stable(cluster: Cluster) -> None:
    """Conditions once no rebalance is due (KIP-987; Kafka: ``IncrementalCooperativeAssignor``)."""
    who = roles(cluster)
    owners = cluster.owners()
    jobs = cluster.configured().jobs()
    for job in each_job(jobs):
        found = owners.pop(job, [])
        if job in who.listers:
            assert len(found) == 1, f"static job {job} is on {found}"
            assert found[0] in who.listers[job], f"static job {job} is on {found}, which does not list it"
        elif who.wildcards:
            assert len(found) == 1, f"job {job} is on {found}"
            assert found[0] in who.wildcards, f"job {job} is on a static worker"
        else:
            assert found == [], f"wildcard job {job} is on a static worker"
    assert owners == {}, "deleted jobs are left"
    for sizes in cluster.sizes(who.wildcards):
        assert not sizes or sizes[-1] - sizes[0] <= 1, f"loads of the wildcard workers: {sizes}"
