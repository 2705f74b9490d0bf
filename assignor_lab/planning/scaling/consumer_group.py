"""Scalings of a plain consumer group, under the classic protocol and KIP-848."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import attrs

from assignor_lab.planning.consumer_plan import (
    ConsumerContender,
    consumer_plan,
    cost_of_consumers,
    play_consumer_plan,
)
from assignor_lab.planning.consumer_state import ConsumerState
from assignor_lab.planning.making import Options
from assignor_lab.planning.plans import Plan
from assignor_lab.planning.predict import Terms
from assignor_lab.planning.scaling.plays import ScalingPlay, check_begun, plan_through, seconds_since
from assignor_lab.scenarios import Scenario

__all__ = ["ScaledConsumerGroup"]

#: ``auto.commit.interval.ms``, in seconds.
_COMMIT_S = 5.0


@attrs.frozen(eq=False, slots=False)
class ScaledConsumerGroup:
    """A consumer group; a task is a partition."""

    scenario: Scenario
    state: ConsumerState
    terms: Terms
    options: Options
    unit: str = "consumer"
    task: str = "partition"
    thread: str = "consumer"
    remedy: str = "give the topic more partitions"
    commit_s: float = _COMMIT_S

    @property
    def names(self) -> tuple[str, ...]:
        return self.state.names

    @cached_property
    def _partitions(self) -> dict[str, tuple[str, int]]:
        subscribed = {topic for each in self.state.episode.consumers.values() for topic in each.topics}
        return {
            f"{name}-{number}": (name, number)
            for name, topic in sorted(self.state.episode.topics.items())
            if name in subscribed
            for number in range(topic.partitions)
        }

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(self._partitions)

    @property
    def threads(self) -> int:
        return len(self.names)

    @property
    def reads(self) -> Mapping[str, Sequence[tuple[str, int]]]:
        return {task: [partition] for task, partition in self._partitions.items()}

    @property
    def input_bytes_per_s(self) -> Mapping[str, float]:
        return self._known("input_bytes_per_s")

    @property
    def lags(self) -> Mapping[str, float]:
        return self._known("lag")

    def _known(self, figure: str) -> dict[str, float]:
        workload = self.scenario.document.get("workload", {}).get("partitions", {})
        found = {
            task: workload.get(topic, {}).get(str(number), {}).get(figure)
            for task, (topic, number) in self._partitions.items()
        }
        known = {task: float(figure) for task, figure in found.items() if figure is not None}
        return known if any(known.values()) else {}

    def _plan_to(self, count: int) -> Plan:
        return consumer_plan("scale", None, self.state, attrs.evolve(self.options, to=count))

    def played(self, counts: Sequence[int], seed: str) -> ScalingPlay:
        """One play.

        Raises:
            PlanError: if an earlier step is not over in time.
        """
        plan = plan_through(self.names, counts, self._plan_to)
        variant = ConsumerContender("scaled", self.state, plan, self.terms)
        play, marks, done_ms, rest_ms, failed = play_consumer_plan(variant, seed)
        check_begun(plan, len(marks), counts[-1], failed)
        begin_ms = marks[-1]
        owned = {
            f"{topic}-{number}": [(*seconds_since(begin_ms, begin, end), (name, 0)) for begin, end, name in runs]
            for (topic, number), runs in play.world.ledger.runs.items()
        }
        cost = cost_of_consumers(play, marks, done_ms, rest_ms, failed)
        return ScalingPlay(cost, cost.at_seconds[-1], owned, len(play.world.consumers))
