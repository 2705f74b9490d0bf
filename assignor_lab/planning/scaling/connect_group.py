"""Scalings of a Connect group. Each task has a thread of its own, so the workers are the limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import attrs

from assignment_api.connect import ConfiguredJobs, ConnectorTaskId
from assignor_lab.planning.connect_plan import ConnectContender, connect_plan, cost_of_workers, play_connect_plan
from assignor_lab.planning.connect_state import ConnectState
from assignor_lab.planning.making import Options
from assignor_lab.planning.plans import Plan
from assignor_lab.planning.predict import Terms
from assignor_lab.planning.scaling.plays import ScalingPlay, Thread, check_begun, plan_through, seconds_since

__all__ = ["ScaledConnectGroup"]

#: ``offset.flush.interval.ms``, in seconds.
_COMMIT_S = 60.0


@attrs.frozen(eq=False, slots=False)
class ScaledConnectGroup:
    """A Connect group."""

    state: ConnectState
    terms: Terms
    options: Options
    unit: str = "worker"
    task: str = "task"
    thread: str = "worker"
    remedy: str = "raise tasks.max of its connectors"
    commit_s: float = _COMMIT_S
    reads: Mapping[str, Sequence[tuple[str, int]]] = attrs.field(factory=dict)
    input_bytes_per_s: Mapping[str, float] = attrs.field(factory=dict)
    lags: Mapping[str, float] = attrs.field(factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        return self.state.names

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        return tuple(str(task) for task in ConfiguredJobs(self.state.episode.connectors).jobs().tasks)

    @property
    def threads(self) -> int:
        return len(self.names)

    def _plan_to(self, count: int) -> Plan:
        return connect_plan("scale", None, self.state, attrs.evolve(self.options, to=count))

    def played(self, counts: Sequence[int], seed: str) -> ScalingPlay:
        """One play.

        Raises:
            PlanError: if an earlier step is not over in time.
        """
        plan = plan_through(self.names, counts, self._plan_to)
        variant = ConnectContender("scaled", self.state, plan, self.terms)
        cluster, marks, done_ms, rest_ms, failed = play_connect_plan(variant, seed)
        check_begun(plan, len(marks), counts[-1], failed)
        begin_ms = marks[-1]
        owned: dict[str, list[tuple[float, float, Thread]]] = {task: [] for task in self.tasks}
        for job, runs in cluster.runs.runs.items():
            if isinstance(job, ConnectorTaskId) and str(job) in owned:
                owned[str(job)] = [
                    (*seconds_since(begin_ms, run.start_ms, run.end_ms), (run.worker, 0))
                    for run in sorted(runs, key=lambda run: run.start_ms)
                ]
        cost = cost_of_workers(cluster, marks, done_ms, rest_ms, failed)
        return ScalingPlay(cost, cost.at_seconds[-1], owned, counts[-1])
