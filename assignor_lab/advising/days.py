"""Days of a group: events drawn from a mix, and the plan of a day under a configuration."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping

import attrs

from assignor_lab.advising.mix import Mix
from assignor_lab.model.streams_episodes import EventDetails
from assignor_lab.planning.instances import new_names
from assignor_lab.planning.making import Options, instance_details, kill_plan, roll_plan, with_times
from assignor_lab.planning.plans import Action, Plan, Step
from assignor_lab.planning.state import PresentState

__all__ = ["Day", "DayEvent", "day_plan", "drawn_day"]

#: An added instance leaves after this time.
_SCALED_MS = 3_600_000
#: Standard deviation of the logarithm of stalls' length, and their bounds.
_STALL_SPREAD = 1.0
_LEAST_STALL_MS, _LONGEST_STALL_MS = 500, 600_000
#: From the end of a stall until its instance is surely in the group again.
_AFTER_STALL_MS = 60_000
#: Longest wait for rest at the beginning and at the end: some groups never rest.
_REST_WITHIN_MS = 1_200_000
#: Most events of a kind in one day: more show nothing new.
_MOST = 12


@attrs.frozen
class DayEvent:
    """An event of a day.

    Args:
        kind: One of :data:`~assignor_lab.advising.mix.KINDS`.
        place: The instance's number in the group.
    """

    kind: str
    at_ms: int
    place: int
    for_ms: int = 0


@attrs.frozen
class Day:
    """A drawn day.

    Rare kinds are in every day, too; ``weights`` corrects for that.

    Args:
        weights: Kind to the events of an average day for one event of this day.
    """

    happenings: tuple[DayEvent, ...]
    weights: Mapping[str, float]


def drawn_day(mix: Mix, instances: int, hours: float, seed: str) -> Day:
    """The events of a day; the seed is the same for all configurations."""
    drawn = random.Random(f"day {seed}")  # noqa: S311 - a simulation, not a secret
    found = []
    weights = {}
    for kind, per_day in mix.per_day.items():
        expected = per_day * hours / 24
        count = min(_MOST, max(1, math.floor(expected + drawn.random())))
        weights[kind] = per_day / count
        for _ in range(count):
            at_ms, place = drawn.randrange(round(hours * 3_600_000)), drawn.randrange(instances)
            median_ms = 1000 * mix.stall_seconds
            length_ms = round(median_ms * math.exp(drawn.gauss(0, _STALL_SPREAD)))
            bounded_ms = min(max(length_ms, _LEAST_STALL_MS), _LONGEST_STALL_MS)
            found.append(DayEvent(kind, at_ms, place, bounded_ms if kind == "stall" else 0))
    return Day(tuple(sorted(found, key=lambda each: (each.at_ms, each.kind))), weights)


def day_plan(day: Day, mix: Mix, state: PresentState, options: Options) -> tuple[Plan, tuple[str, ...]]:
    """The plan of a day, and the kind of event of each step.

    Args:
        options: The configuration's way of restarts: batch, leaving, times.
    """
    names = sorted(state.names)
    scaled = new_names(state.names, sum(each.kind == "scaling" for each in day.happenings))
    begun: list[tuple[int, str, list[Step]]] = []
    for each in day.happenings:
        name = names[each.place % len(names)]
        if each.kind == "scaling":
            begun += _scaling(each, name, state, options, scaled.pop(0))
        else:
            begun.append((each.at_ms, each.kind, _steps(each, name, mix, state, options)))
    begun.sort(key=lambda entry: entry[0])
    steps = tuple(step for _, _, made in begun for step in made)
    kinds = tuple(kind for _, kind, made in begun for _ in made)
    plan = Plan("mix", steps, "ready", options.start_ms, options.down_ms, goes_on=True, rest_within_ms=_REST_WITHIN_MS)
    return with_times(plan, options), kinds


def _steps(happening: DayEvent, name: str, mix: Mix, state: PresentState, options: Options) -> list[Step]:
    at_ms = happening.at_ms
    if happening.kind == "roll":
        first, *others = roll_plan(state, options).steps
        return [attrs.evolve(first, at_ms=at_ms), *others]
    if happening.kind == "kill":
        back_ms = round(1000 * mix.back_after_seconds)
        (step,) = kill_plan(state, name, attrs.evolve(options, back_after_ms=back_ms)).steps
        return [attrs.evolve(step, at_ms=at_ms)]
    stall = Action("event", name, EventDetails(for_ms=happening.for_ms), event="pause")
    return [Step(f"stall of {name}", (stall,), happening.for_ms + _AFTER_STALL_MS, at_ms)]


def _scaling(
    happening: DayEvent, like: str, state: PresentState, options: Options, name: str
) -> list[tuple[int, str, list[Step]]]:
    details = instance_details(state, like)
    details = attrs.evolve(details, host=None, instance_id=None if details.instance_id is None else name)
    leave = True if options.leave else None
    added = Step(f"start of {name}", (Action("add", name, details),), None, happening.at_ms)
    end_ms = happening.at_ms + _SCALED_MS
    removed = Step(f"stop of {name}", (Action("remove", name, leave=leave),), None, end_ms)
    return [(happening.at_ms, happening.kind, [added]), (end_ms, happening.kind, [removed])]
