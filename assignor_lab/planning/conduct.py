"""A plan that runs in a play: each step waits for a condition of the play."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial

import attrs

from assignor_lab.model.streams_episodes import EventDetails
from assignor_lab.planning.plans import CALM, LOOKS_EVERY_MS, READY, Action, Plan, draws_of
from assignor_lab.simulation.streams.conducting import Stage
from assignor_lab.simulation.streams.spread import spread_around
from assignor_lab.simulation.streams.timings import StreamsTimings

__all__ = ["GRACE_MS", "NEVER_READY_MS", "RESTS_MS", "Conduct", "Mark", "close_ms", "looks_ms", "start_ms"]

#: From the return of a broker until its replicas are in sync, and the next one may restart.
_IN_SYNC_MS = 15_000
#: Event of a broker's restart.
BROKER_RESTART = "broker_restart"
#: A step that is not over by then counts as failed, and the plan goes no further (Kubernetes waits as long by default).
NEVER_READY_MS = 600_000
#: An absence that begins within this time before a step is charged to that step.
GRACE_MS = 500
#: A wait for rest ends when the group has been at rest for this time.
RESTS_MS = 2_000
#: The group is at rest before a plan begins.
_SETTLED_MS = 6_000
#: A wait for rest ends after so many rebalances for which no decision asked: members are lost again and again.
_MOST_REBALANCES = 1_000
#: From the quickest to the slowest quarter of process starts, as a share of the median (recorded: 1.9 to 2.5 s).
_START_SPREAD = 0.15
#: The same for closing (recorded: 0.2 to 0.6 s).
_CLOSE_SPREAD = 0.5

_Until = Callable[[], bool]


@attrs.frozen
class Mark:
    """The beginning of a step.

    Args:
        at_ms: Milliseconds since the play began.
    """

    name: str
    at_ms: int


class Conduct:
    """Does a plan's steps to one play.

    Args:
        is_settled: True if the group is at rest when the play begins; otherwise the plan waits until it is.
    """

    def __init__(self, plan: Plan, timings: StreamsTimings, seed: str, *, is_settled: bool = True) -> None:
        self._plan, self._timings, self._is_settled, self._seed = plan, timings, is_settled, seed
        self._random = random.Random(seed)  # noqa: S311 - a simulation, not a secret
        self.marks: list[Mark] = []
        #: When the last step was over, and when the group was at rest again; ``None``: not within the play.
        self.done_ms: int | None = None
        self.rest_ms: int | None = None
        #: The step that was not over in time, or ``None``.
        self.failed: str | None = None
        #: Why the group never rests, as a part of a sentence; ``None``: it does, or its decisions ask for rebalances.
        self.restless: str | None = None
        self._steps: Iterator[_Until] = iter(())
        self._until: _Until = lambda: False

    def begin(self, stage: Stage) -> None:
        self._steps = self._play(stage)
        self._until = next(self._steps)

    def is_over(self) -> bool:
        """Checks if the step is over; true ends the play."""
        while self._until():
            following = next(self._steps, None)
            if following is None:
                return True
            self._until = following
        return False

    # --- the plan -------------------------------------------------------------------------------------------

    def _play(self, stage: Stage) -> Iterator[_Until]:
        beat = _beat_ms(self._timings)
        yield _passed(stage, _SETTLED_MS + self._random.randint(0, beat))
        if not self._is_settled:
            yield self._rest_or_late(stage, stage.is_calm)
            yield _passed(stage, self._random.randint(0, beat))
        first_ms = stage.now_ms
        is_whole = stage.is_complete()
        for step in self._plan.steps:
            if step.at_ms is not None and first_ms + step.at_ms > stage.now_ms:
                yield _passed(stage, first_ms + step.at_ms - stage.now_ms)
            self.marks.append(Mark(step.name, stage.now_ms))
            begun = stage.now_ms
            waits = [wait for action in step.actions for wait in self._act(stage, action)]
            late_ms = begun + NEVER_READY_MS + self._longest_wait_ms()
            stage.after(late_ms - begun, lambda: None)
            yield partial(_all_or_late, waits, stage, late_ms)
            if stage.now_ms >= late_ms and not self._plan.goes_on:
                self.failed = step.name
                break
            if waits:
                yield _passed(stage, self._random.randint(0, LOOKS_EVERY_MS))
            wait = self._plan.wait if step.wait is None else step.wait
            if isinstance(wait, int):
                yield _passed(stage, wait)
            elif wait == CALM:
                yield self._rest_or_late(stage, _rests(stage))
            if self.restless is not None:
                break
        self.done_ms = stage.now_ms
        if self.restless is None and not (self.failed is not None and not is_whole and _is_lost(stage)):
            yield self._rest_or_late(stage, stage.is_calm)
        if stage.is_calm():
            self.rest_ms = stage.now_ms
        elif not is_whole and _is_lost(stage):
            self.restless = "before the plan"

    def _rest_or_late(self, stage: Stage, rests: _Until) -> _Until:
        """A wait for rest; a group that goes on rebalancing without an end is given up."""
        late_ms = stage.now_ms + self._plan.rest_within_ms
        begun_ms, seen = stage.now_ms, len(stage.generations)
        unasked = 0

        def is_over() -> bool:
            nonlocal seen, unasked
            if stage.now_ms >= late_ms or rests():
                return True
            if len(stage.generations) > seen and not self._plan.goes_on:
                unasked += sum(each.followup == "none" for each in stage.generations[seen:])
                seen = len(stage.generations)
                if unasked >= _MOST_REBALANCES:
                    when = f"after step {self.marks[-1].name}" if self.marks else "before the plan"
                    seconds = (stage.now_ms - begun_ms) / 1000
                    self.restless = f"{when}, with {unasked:,} rebalances in {seconds:,.0f} s"
                    return True
            return False

        return is_over

    def _longest_wait_ms(self) -> int:
        """The further time that a surge may wait for its started instances."""
        wait = self._plan.wait
        return wait if isinstance(wait, int) else self._plan.rest_within_ms if wait == CALM else 0

    def _act(self, stage: Stage, action: Action) -> list[_Until]:
        """Begins an action; returns the conditions under which its step is over."""
        begin = getattr(self, f"_{action.type}")
        if action.after_ms:
            has_begun: list[list[_Until]] = []
            stage.after(action.after_ms, lambda: has_begun.append(begin(stage, action)))
            return [lambda: bool(has_begun) and all(wait() for wait in has_begun[0])]
        found: list[_Until] = begin(stage, action)
        return found

    # --- actions --------------------------------------------------------------------------------------------

    def _restart(self, stage: Stage, action: Action) -> list[_Until]:
        closes_ms = self._stop(stage, action)
        if action.is_stuck:
            return [lambda: False]
        back: list[bool] = []
        details = self._started(action)

        def start() -> None:
            if action.replace:
                stage.do("lose_disk", action.name)
            stage.do("start", action.name, details)
            back.append(True)

        stage.after(closes_ms + self._plan.down_ms, start)
        return [lambda: bool(back) and self._is_ready(stage, action.name)]

    def _add(self, stage: Stage, action: Action) -> list[_Until]:
        stage.do("start", action.name, self._started(action))
        return [partial(self._is_ready, stage, action.name)]

    def _surge(self, stage: Stage, action: Action) -> list[_Until]:
        """The successor is started first; the instance is stopped when the wait for that is over.

        The step is over when the old process has ended, so that its absences belong to this step.
        """
        successor = action.successor
        stage.do("start", successor, self._started(action))
        has_ended: list[_Until] = []
        wait = self._plan.wait
        has_passed = _passed(stage, wait) if isinstance(wait, int) else _rests(stage) if wait == CALM else lambda: True

        def is_over() -> bool:
            if not has_ended and self._is_ready(stage, successor) and has_passed():
                has_ended.append(_passed(stage, max(self._stop(stage, action), GRACE_MS + 1)))
            return bool(has_ended) and has_ended[0]()

        return [is_over]

    def _remove(self, stage: Stage, action: Action) -> list[_Until]:
        closes_ms = self._stop(stage, action)
        stage.after(max(closes_ms, self._timings.leave_ms) + 1, lambda: None)
        return [_passed(stage, closes_ms), stage.runs_all]

    def _kill(self, stage: Stage, action: Action) -> list[_Until]:
        stage.do("crash", action.name)
        if action.back_after_ms is None:
            return [stage.runs_all]
        back: list[bool] = []
        details = self._started(action)

        def start() -> None:
            if action.replace:
                stage.do("lose_disk", action.name)
            stage.do("start", action.name, details)
            back.append(True)

        stage.after(action.back_after_ms, start)
        return [lambda: bool(back) and self._is_ready(stage, action.name)]

    def _event(self, stage: Stage, action: Action) -> list[_Until]:
        stage.do(action.event, action.name, action.details)
        if action.event == BROKER_RESTART:
            return [_passed(stage, action.details.down_ms + _IN_SYNC_MS)]
        return []

    # --- parts of actions -----------------------------------------------------------------------------------

    def _stop(self, stage: Stage, action: Action) -> int:
        """Stops an instance; returns the milliseconds until its process has ended."""
        closes_ms = close_ms(self._timings, draws_of(self._plan, self._random, f"{self._seed} close", action.name))
        threads = len(stage.world.instances[action.name].threads)
        leaves_ms = [min(closes_ms, self._timings.leave_ms)] * threads
        stage.do("stop", action.name, EventDetails(leave=action.leave, leaves_ms=leaves_ms))
        stage.world.instances[action.name].ends_ms = stage.world.clock.now + closes_ms
        return closes_ms

    def _started(self, action: Action) -> EventDetails:
        """With the time that a process takes until it joins, drawn for this start."""
        drawn = draws_of(self._plan, self._random, f"{self._seed} start", action.name)
        startup_ms = max(0, start_ms(self._plan, self._timings, drawn) - self._timings.join_ms)
        return attrs.evolve(action.details, startup_ms=startup_ms)

    def _is_ready(self, stage: Stage, name: str) -> bool:
        """True if a started process is RUNNING; if steps wait for a time, it need only be up."""
        return stage.is_ready(name) if self._plan.wait in (READY, CALM) else stage.world.instances[name].is_up


def looks_ms(plan: Plan, timings: StreamsTimings, seed: str, *, is_settled: bool) -> list[int]:
    """Delay of each step between its end and the check that sees it, if orders share the draws of a play.

    Args:
        seed: Seed of the conductor.
    """
    drawn = random.Random(seed)  # noqa: S311 - a simulation, not a secret
    for _ in range(1 if is_settled else 2):
        drawn.randint(0, _beat_ms(timings))
    return [drawn.randint(0, LOOKS_EVERY_MS) for _ in plan.steps]


def _beat_ms(timings: StreamsTimings) -> int:
    return max(timings.heartbeat_interval_ms, timings.streams_heartbeat_interval_ms)


def start_ms(plan: Plan, timings: StreamsTimings, drawn: random.Random) -> int:
    """From the start of a process until its first join, drawn for one start."""
    if plan.starts is not None:
        return plan.starts.drawn(drawn)
    median = timings.startup_ms + timings.join_ms if plan.start_ms is None else plan.start_ms
    return spread_around(median, int(median * _START_SPREAD), drawn.random())


def close_ms(timings: StreamsTimings, drawn: random.Random) -> int:
    """From SIGTERM to the end of a process, drawn for one stop."""
    return spread_around(timings.close_ms, int(timings.close_ms * _CLOSE_SPREAD), drawn.random())


def _passed(stage: Stage, wait_ms: int) -> _Until:
    end = stage.now_ms + wait_ms
    stage.after(wait_ms, lambda: None)
    return lambda: stage.now_ms >= end


def _rests(stage: Stage) -> _Until:
    """True from the moment at which the group has been at rest for some time."""
    since: list[int] = []

    def is_over() -> bool:
        if not stage.is_calm():
            since.clear()
            return False
        if not since:
            since.append(stage.now_ms)
            stage.after(RESTS_MS, lambda: None)
        return stage.now_ms - since[0] >= RESTS_MS

    return is_over


def _is_lost(stage: Stage) -> bool:
    """True if members are missing, and no decision asks for the next rebalance."""
    return not stage.is_complete() and (not stage.generations or stage.generations[-1].followup == "none")


def _all_or_late(waits: list[_Until], stage: Stage, late_ms: int) -> bool:
    return stage.now_ms >= late_ms or all(wait() for wait in waits)
