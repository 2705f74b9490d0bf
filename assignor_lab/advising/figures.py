"""The figures of one played day under one configuration, for an average day of the mix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from assignor_lab.advising.configurations import STANDBYS, AdvisedState
from assignor_lab.advising.days import Day, day_plan
from assignor_lab.advising.mix import Mix
from assignor_lab.groups.prices import BYTES_OF_GIB, prices_of
from assignor_lab.groups.streams_episode.playing import traffic_terms
from assignor_lab.model.objective import Objective, by_name
from assignor_lab.planning.measured import cost_of
from assignor_lab.planning.predicted import play_plan
from assignor_lab.simulation.streams.traffic import crossing_bytes

__all__ = [
    "OBJECTIVES",
    "DayCost",
    "Objective",
    "cost_from",
    "disk_bytes_of",
    "document_of_cost",
    "played_day",
    "stateless_cost",
]

_DAYS_OF_MONTH = 30.4375


#: The figures by name, the default first.
OBJECTIVES: Mapping[str, Objective] = by_name(
    Objective("task_seconds", "task-seconds a day", "downtime"),
    Objective("worst_task_seconds", "s", "worst absence"),
    Objective("restored_bytes", "bytes a day", "restored bytes"),
    Objective("dollars", "dollars a month", "cost"),
    Objective("rebalances", "rebalances a day", "rebalances"),
    Objective("disk_bytes", "bytes", "disk space"),
)


@attrs.frozen
class DayCost:
    """The cost of a day.

    Args:
        figures: Objective to its value; ``None``: unknown.
        by_kind: Kind of event to task-seconds of one such event.
        worst_by_kind: Kind of event to the longest absence of a task.
    """

    figures: Mapping[str, float | None]
    by_kind: Mapping[str, float]
    worst_by_kind: Mapping[str, float]


def stateless_cost(day: Day, seconds: Mapping[str, float], worst: Mapping[str, float], rebalances: float) -> DayCost:
    """The cost of a day of a group whose members keep no state.

    Args:
        seconds: Kind of event to task-seconds of all its events.
        worst: Kind of event to the longest absence of a task (s).
        rebalances: For an average day.
    """
    counts = {kind: sum(each.kind == kind for each in day.happenings) for kind in day.weights}
    return DayCost(
        {
            "task_seconds": sum(day.weights[kind] * total for kind, total in seconds.items()),
            "worst_task_seconds": max(worst.values(), default=0.0),
            "restored_bytes": 0.0,
            "dollars": None,
            "rebalances": rebalances,
            "disk_bytes": 0.0,
        },
        {kind: total / counts[kind] for kind, total in seconds.items()},
        worst,
    )


def document_of_cost(cost: DayCost | str) -> dict[str, Any]:
    if isinstance(cost, str):
        return {"error": cost}
    return {"figures": dict(cost.figures), "by_kind": dict(cost.by_kind), "worst_by_kind": dict(cost.worst_by_kind)}


def cost_from(document: Mapping[str, Any]) -> DayCost | str:
    if "error" in document:
        return str(document["error"])
    return DayCost(document["figures"], document["by_kind"], document["worst_by_kind"])


def played_day(day: Day, mix: Mix, subject: AdvisedState, seed: str) -> DayCost:
    """Plays a day; the seed is the same for all configurations.

    Raises:
        AssignorLabError: a subclass, if the configuration does not allow a play.
    """
    plan, kinds = day_plan(day, mix, subject.state, subject.options)
    terms = subject.terms
    played, conduct = play_plan(subject.state, plan, terms.registry, terms.sources, seed, terms.assignor)
    cost = cost_of(played, conduct)
    seconds = dict.fromkeys(day.weights, 0.0)
    worst = dict.fromkeys(day.weights, 0.0)
    rebalances = 0.0
    restored: float | None = 0.0
    for kind, step in zip(kinds, cost.steps, strict=True):
        seconds[kind] += step.task_seconds
        worst[kind] = max(worst[kind], step.worst_task_seconds)
        rebalances += day.weights[kind] * step.rebalances
        known = restored is not None and step.restored_bytes is not None
        restored = restored + day.weights[kind] * step.restored_bytes if known else None  # type: ignore[operator]
    counts = {kind: sum(each.kind == kind for each in day.happenings) for kind in day.weights}
    traffic = traffic_terms("leader", terms.sources, played.episode)
    crossed = crossing_bytes(played, traffic.reads_from)
    dollars, standby_bytes = None, _standby_bytes(subject)
    if crossed is not None and traffic.dollars_per_gib is not None and standby_bytes is not None:
        days = (played.world.clock.now - played.world.begin_ms) / 86_400_000
        episode = subject.state.episode
        per_gib = prices_of(terms.sources.effective(episode.config, str(episode.place))).disk_dollars_per_gib_month
        dollars = (crossed / days * _DAYS_OF_MONTH * traffic.dollars_per_gib + standby_bytes * per_gib) / BYTES_OF_GIB
    return DayCost(
        {
            "task_seconds": sum(day.weights[kind] * total for kind, total in seconds.items()),
            "worst_task_seconds": max(worst.values(), default=0.0),
            "restored_bytes": restored,
            "dollars": dollars,
            "rebalances": rebalances,
            "disk_bytes": disk_bytes_of(subject),
        },
        {kind: total / counts[kind] for kind, total in seconds.items()},
        worst,
    )


def disk_bytes_of(subject: AdvisedState) -> float | None:
    """All copies of all states at rest; ``None`` if a size is unknown."""
    state, standbys = _state_bytes(subject), _standby_bytes(subject)
    return None if state is None or standbys is None else state + standbys


def _standby_bytes(subject: AdvisedState) -> float | None:
    episode = subject.state.episode
    config = subject.terms.sources.effective(episode.config, str(episode.place)).values_for("")
    standbys = int(config.get(STANDBYS, episode.config.get(STANDBYS)) or 0)
    size = _state_bytes(subject)
    return None if size is None else size * min(standbys, len(subject.state.names) - 1)


def _state_bytes(subject: AdvisedState) -> float | None:
    episode = subject.state.episode
    total = 0.0
    for log in episode.changelogs:
        if log is None:
            continue
        if not log.is_known or log.bytes_per_record is None:
            return None
        total += log.records * log.bytes_per_record
    return total
