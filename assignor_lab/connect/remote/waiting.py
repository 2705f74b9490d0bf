"""Jobs of a cluster without a worker, followed from one read to the next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from assignor_lab.connect.remote.state import ClusterState
from assignor_lab.documents.wording import plural
from assignor_lab.kafka.herder.statuses import InstanceStatus, JobState

__all__ = ["DEFAULT_MAX_DELAY_MS", "WaitingJobs"]

DEFAULT_MAX_DELAY_MS = 300_000
#: Time for the rebalance after the delay, and for the owners' states.
_MARGIN_MS = 60_000


@attrs.define
class WaitingJobs:
    """Jobs without an owner, and the time of the first look at which each had none."""

    max_delay_ms: int = DEFAULT_MAX_DELAY_MS
    since_ms: dict[str, int] = attrs.field(init=False, factory=dict)
    _begin_ms: int | None = attrs.field(init=False, default=None)

    def look(self, state: ClusterState) -> Iterator[str]:
        """One line for each change since the last look."""
        instances = dict(_instances(state))
        at_ms = state.time_ms
        self._begin_ms = at_ms if self._begin_ms is None else self._begin_ms
        seconds = f"{(at_ms - self._begin_ms) / 1000:.0f} s"
        # The state of a job whose worker ended may stay RUNNING.
        dead = {worker.worker_id for worker in state.workers if worker.answers is False}
        waiting = {
            job: each for job, each in instances.items() if each.state == JobState.UNASSIGNED or each.worker_id in dead
        }
        for job in [job for job in self.since_ms if job not in waiting]:
            lasted = (at_ms - self.since_ms.pop(job)) / 1000
            now = instances.get(job)
            place = "gone" if now is None else f"{now.state} on {now.worker_id}"
            yield f"{seconds}: {job} is {place}; it was seen without a worker for {lasted:.0f} s"
        new = [job for job in waiting if job not in self.since_ms]
        self.since_ms.update(dict.fromkeys(new, at_ms))
        yield from (f"{seconds}: {line}" for line in _by_worker(new, waiting))

    def is_stale(self, state: ClusterState) -> bool:
        """True if a job has had no owner for longer than any delay explains."""
        return any(state.time_ms - since > self.max_delay_ms + _MARGIN_MS for since in self.since_ms.values())


def _by_worker(jobs: list[str], waiting: Mapping[str, InstanceStatus]) -> Iterator[str]:
    owned: dict[str, list[str]] = {}
    for job in jobs:
        owned.setdefault(waiting[job].worker_id, []).append(job)
    for worker, names in owned.items():
        states = ", ".join(sorted({str(waiting[name].state) for name in names}))
        yield f"{plural(len(names), 'job')} of {worker} without a worker ({states}): {', '.join(names)}"


def _instances(state: ClusterState) -> Iterator[tuple[str, InstanceStatus]]:
    for connector in state.connectors:
        for instance in connector.instances():
            is_configured = instance.number is None or connector.tasks is None or instance.number in connector.tasks
            if is_configured:
                yield connector.name if instance.number is None else f"{connector.name}-{instance.number}", instance
