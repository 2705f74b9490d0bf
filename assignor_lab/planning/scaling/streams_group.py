"""Scalings of a Streams group, in both protocols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import attrs

from assignor_lab.planning.making import Options, scale_plan, with_times
from assignor_lab.planning.measured import cost_of
from assignor_lab.planning.plans import Plan
from assignor_lab.planning.predict import Terms
from assignor_lab.planning.predicted import RestlessGroupError, play_plan
from assignor_lab.planning.scaling.plays import ScalingPlay, Thread, plan_through, seconds_since
from assignor_lab.planning.state import PresentState

__all__ = ["ScaledStreamsGroup"]


@attrs.frozen(eq=False, slots=False)
class ScaledStreamsGroup:
    """A Streams group."""

    state: PresentState
    terms: Terms
    options: Options
    unit: str = "instance"
    task: str = "task"
    thread: str = "thread"
    remedy: str = "give its input topics more partitions"
    lags: Mapping[str, float] = attrs.field(factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        return self.state.names

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        return tuple(str(task.id) for task in self.state.episode.tasks)

    @property
    def threads(self) -> int:
        return sum(max(1, client.num_stream_threads) for client in self.state.episode.clients)

    @property
    def reads(self) -> Mapping[str, Sequence[tuple[str, int]]]:
        return {
            str(task.id): [(each.topic, each.partition) for each in task.source_partitions()]
            for task in self.state.episode.tasks
        }

    @property
    def input_bytes_per_s(self) -> Mapping[str, float]:
        known = dict(zip(self.tasks, self.state.episode.input_bytes_per_s, strict=True))
        return known if any(known.values()) else {}

    @property
    def commit_s(self) -> float:
        return self.state.episode.timings.commit_interval_ms / 1000

    def plan_to(self, count: int) -> Plan:
        """The plan that scales the present group to a count."""
        return with_times(scale_plan(self.state, attrs.evolve(self.options, to=count)), self.options)

    def played(self, counts: Sequence[int], seed: str) -> ScalingPlay:
        """One play.

        Raises:
            RestlessGroupError: if the group does not come to rest before the scaling.
        """
        plan = plan_through(self.state.names, counts, self.plan_to)
        terms = self.terms
        played, conduct = play_plan(self.state, plan, terms.registry, terms.sources, seed, terms.assignor)
        if len(conduct.marks) < len(plan.steps):
            raise RestlessGroupError(
                f"{self.state.episode.place}: the group does not come to rest before it scales: give a state with a "
                "decision"
            )
        world = played.world
        begin_ms, end_ms = world.begin_ms + conduct.marks[-1].at_ms, world.clock.now
        owned: dict[str, list[tuple[float, float, Thread]]] = {}
        for task, runs, threads in zip(self.tasks, world.ledger.runs, world.ledger.threads, strict=True):
            owned[task] = [
                (*seconds_since(begin_ms, begin, None if end is None or end >= end_ms else end), (name, key))
                for (begin, end, name), key in zip(runs, threads, strict=True)
            ]
        cost = cost_of(played, conduct)
        count = sum(len(each.threads) for each in world.instances.values() if each.is_up)
        return ScalingPlay(cost, cost.at_seconds[-1], owned, count)
