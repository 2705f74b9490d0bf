"""The figures of whole played episodes: time, bytes, dollars and rebalances."""

from __future__ import annotations

import json
from collections.abc import Callable
from statistics import median
from typing import NoReturn

import attrs

from assignment_api.plugins import MetricPlugin
from assignor_lab.groups.streams_episode.session import PlayedEpisode
from assignor_lab.simulation.streams.processing import NOBODY, NOT_NOTICED, REBALANCE, RESTORING, REVOKED
from assignor_lab.simulation.streams.traffic import dollars_of

__all__ = [
    "DOLLARS", "EPISODE_METRICS", "EpisodeMetric", "described_metric", "dollars", "median_of_plays", "text_of_plays",
]  # fmt: skip


@attrs.frozen
class EpisodeMetric:
    """A figure of a played episode: a :class:`assignment_api.plugins.MetricPlugin` of the whole play."""

    name: str
    unit: str
    summary: str
    compute: Callable[[PlayedEpisode], float | None]
    group: str
    unavoidable: str


def _total(key: str) -> Callable[[PlayedEpisode], float | None]:
    def figure(episode: PlayedEpisode) -> float | None:
        value = getattr(episode.totals, key)
        return None if value is None else float(value)

    return figure


def _cause(cause: str) -> Callable[[PlayedEpisode], float | None]:
    def figure(episode: PlayedEpisode) -> float | None:
        seconds = episode.totals.unavailable_by_cause_s.get(cause, 0.0)
        return None if seconds is None else float(seconds)

    return figure


def _worst_load(episode: PlayedEpisode) -> float | None:
    """Active tasks of the busiest thread at the end, above an even share; none if no thread is left."""
    held = [
        len(thread.active)
        for instance in episode.played.world.instances.values()
        if instance.is_up
        for thread in instance.threads
    ]
    if not held or not sum(held):
        return None
    return max(held) - sum(held) / len(held)


def _unowned(episode: PlayedEpisode) -> float:
    world = episode.played.world
    threads = [thread for instance in world.instances.values() if instance.is_up for thread in instance.threads]
    held = {task for thread in threads for task in thread.active}
    return float(len(world.tasks) - len(held)) if threads else 0.0


def dollars(per_gib: float) -> Callable[[PlayedEpisode], float | None]:
    """The price of bytes read from other zones, in dollars for a GiB."""

    def figure(episode: PlayedEpisode) -> float | None:
        return dollars_of(episode.totals.cross_zone_bytes, per_gib)

    return figure


def median_of_plays(figure: Callable[[PlayedEpisode], float | None], answer: PlayedEpisode) -> float | None:
    """The median of a figure over the plays of a past; ``None`` if a play does not know it."""
    found = [value for each in answer.plays if (value := figure(each)) is not None]
    return float(median(found)) if len(found) == len(answer.plays) else None


def text_of_plays(error: float | None, answer: PlayedEpisode) -> str:
    """Each figure in each play, in the order of the draws, and the error of the own assignor's play, as JSON."""
    plays = sorted(answer.plays, key=lambda each: each.number)
    figures = {metric.name: [metric.compute(each) for each in plays] for metric in EPISODE_METRICS}
    return json.dumps({"error": error, "plays": figures}, separators=(",", ":"))


DOLLARS = "cross_zone_dollars"
_AWAY = "From a crash or a close until the group notices, then until a copy is ready."
_NEW_COPIES = "The first copy of each task, and state lost with disks."

EPISODE_METRICS: tuple[EpisodeMetric, ...] = (
    EpisodeMetric(
        "unavailable_task_seconds",
        "task-seconds",
        "Time in which a task was not processed, summed over all tasks.",
        _total("unavailable_task_s"),
        "life cycle",
        _AWAY,
    ),
    EpisodeMetric(
        "unavailable_without_restoring_task_seconds",
        "task-seconds",
        "The part of the unavailable time that is not restoring, summed over all tasks.",
        _total("unavailable_without_restoring_task_s"),
        "life cycle",
        "From a crash or a close until the group knows, and one rebalance.",
    ),
    EpisodeMetric(
        "worst_task_unavailable_seconds",
        "s",
        "Time in which the worst task was not processed.",
        _total("worst_task_s"),
        "life cycle",
        _AWAY,
    ),
    EpisodeMetric(
        "nobody_in_group_task_seconds",
        "task-seconds",
        "The part of the unavailable time in which no member was in the group.",
        _cause(NOBODY),
        "life cycle",
        "From the first start until its first member has joined.",
    ),
    EpisodeMetric(
        "not_noticed_task_seconds",
        "task-seconds",
        "The part of the unavailable time in which the group did not know yet.",
        _cause(NOT_NOTICED),
        "life cycle",
        "The session timeout after a crash, for each task that was there.",
    ),
    EpisodeMetric(
        "rebalance_task_seconds",
        "task-seconds",
        "The part of the unavailable time in which the task had no owner.",
        _cause(REBALANCE),
        "life cycle",
        "The join phase of one rebalance.",
    ),
    EpisodeMetric(
        "revoked_task_seconds",
        "task-seconds",
        "The part of the unavailable time on the way from one member to another.",
        _cause(REVOKED),
        "life cycle",
        "None where a task stays.",
    ),
    EpisodeMetric(
        "restoring_task_seconds",
        "task-seconds",
        "The part of the unavailable time in which its owner was not ready: state came back.",
        _cause(RESTORING),
        "life cycle",
        "Opening existing stores, and restoring all state without a copy.",
    ),
    EpisodeMetric(
        "restored_bytes",
        "bytes",
        "State that was read from changelogs, by active tasks, standbys and warm-ups.",
        _total("restored_bytes"),
        "cost",
        _NEW_COPIES,
    ),
    EpisodeMetric(
        "restored_bytes_before_processing",
        "bytes",
        "State that was read from changelogs while active tasks waited for it.",
        _total("restored_before_processing_bytes"),
        "cost",
        "State of which no copy was left.",
    ),
    EpisodeMetric(
        "cross_zone_bytes",
        "bytes",
        "Bytes read from another rack (zone): input, restored state, and changelogs that copies follow.",
        _total("cross_zone_bytes"),
        "cost",
        "Partitions none of whose replicas is in any client's rack.",
    ),
    EpisodeMetric(
        DOLLARS,
        "dollars",
        "Price of the bytes read from other racks (zones).",
        dollars(0.0),
        "cost",
        "Partitions none of whose replicas is in any client's rack.",
    ),
    EpisodeMetric(
        "rebalances",
        "rebalances",
        "Generations, or epochs of the streams protocol.",
        _total("rebalances"),
        "life cycle",
        "One for each member that joins or leaves apart from others.",
    ),
    EpisodeMetric(
        "longest_until_stable_seconds",
        "s",
        "Longest time from an event to the last assignment that it led to.",
        _total("longest_until_stable_s"),
        "life cycle",
        "One rebalance.",
    ),
    EpisodeMetric(
        "warmups",
        "warm-ups",
        "Copies that were begun so that a task may move.",
        _total("warmups"),
        "movement",
        "None without joins.",
    ),
    EpisodeMetric(
        "cold_takeovers",
        "tasks",
        "Tasks given to instances whose copy lacked more than acceptable.recovery.lag.",
        _total("cold_takeovers"),
        "movement",
        "Each task once, when the group is new; tasks of which no copy is left.",
    ),
    EpisodeMetric(
        "active_tasks_above_even_share",
        "tasks",
        "Tasks of the busiest thread beyond an even share at the end.",
        _worst_load,
        "balance",
        "Less than one, where the tasks do not divide evenly among the threads.",
    ),
    EpisodeMetric(
        "tasks_not_owned",
        "tasks",
        "Tasks without an owner at the end, although an instance was there.",
        _unowned,
        "coverage",
        "Those that are on their way from one member to another at that moment.",
    ),
)


def described_metric(metric: EpisodeMetric) -> MetricPlugin:
    return MetricPlugin(
        metric.name, metric.unit, "lower", metric.summary, _not_to_be_called, metric.group, metric.unavoidable,
        kind="streams",
    )  # fmt: skip


def _not_to_be_called(*_state: object) -> NoReturn:
    raise TypeError("the lab computes its own figures of episodes from the whole play")
