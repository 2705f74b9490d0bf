"""Published incidents as Streams episodes, each with its figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from assignment_api.releases import RELEASE_KEY
from assignment_api.streams import TaskId, TaskInfo, TaskWorkload
from assignment_api.streams.configs import ACCEPTABLE_RECOVERY_LAG, NUM_STANDBY_REPLICAS
from assignor_lab.model.streams_episodes import (
    ChangelogOutline,
    EventDetails,
    StreamsEpisodeOutline,
    StreamsEvent,
    StreamsOpening,
)
from assignor_lab.scenarios.formats.streams_episodes import episode_document
from assignor_lab.simulation.streams.actions import action_name
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode

__all__ = ["EPISODES", "NamedStreamsEpisode"]


@attrs.frozen
class NamedStreamsEpisode:
    """An episode of the simulator.

    Args:
        unit: Its unit; ``... or more`` and ``... or fewer`` if the published figure is a bound.
    """

    name: str
    summary: str
    source: str
    report: str
    published: float
    unit: str
    figure: Callable[[PlayedStreamsEpisode], float]
    outline: StreamsEpisodeOutline

    @property
    def shown_unit(self) -> str:
        return self.unit.removesuffix(" or more").removesuffix(" or fewer")

    def document(self) -> dict[str, Any]:
        return episode_document(self.outline, _LAST)

    def is_met(self, found: float) -> bool:
        """True within a quarter of the published figure, or within the bound."""
        if self.unit.endswith(" or more"):
            return found >= self.published
        if self.unit.endswith(" or fewer"):
            return found <= self.published
        return abs(found - self.published) <= self.published / 4


#: Order of the keys in these documents.
_LAST = ("assignor", "missing_topics", "settings", "changelogs", "tasks", "config", "workload")
#: Release of the published figures.
_MEASURED = {RELEASE_KEY: "4.3.1"}


def _tasks(count: int, *, stateful: bool = True) -> list[TaskInfo]:
    return [TaskInfo(TaskId(0, number), stateful, stateful, None, None) for number in range(count)]


def _episode(
    name: str, tasks: Sequence[TaskInfo], events: Sequence[StreamsEvent], until_ms: int, *,
    state_bytes: int = 0, protocol: str = "classic", config: Mapping[str, int] | None = None,
) -> StreamsEpisodeOutline:  # fmt: skip
    workload = {str(task.id): TaskWorkload(state_bytes) for task in tasks if task.is_logged}
    return StreamsEpisodeOutline(
        name, StreamsOpening(name, config or {}, tasks, workload=workload), events, until_ms, protocol
    )


def _starts(*names: str, at_ms: int = 0, threads: int = 1, static: bool = False) -> list[StreamsEvent]:
    return [
        StreamsEvent(at_ms, "start", name, EventDetails(threads=threads, instance_id=name if static else None))
        for name in names
    ]


def _longest_after(played: PlayedStreamsEpisode, action: str) -> float:
    begin = next(each.at.latest_ms for each in played.actions if action_name(each) == action)
    longest = 0
    for intervals in played.world.ledger.intervals:
        to = begin
        for first, end, _ in intervals:
            if first == to:
                to = end
        longest = max(longest, to - begin)
    return longest / 1000


def _until_stable(played: PlayedStreamsEpisode) -> float:
    second = [each.at.latest_ms for each in played.actions if action_name(each) == "start"][-1]
    return (played.generations[-1].assigned_ms - second) / 1000


def _first_task(played: PlayedStreamsEpisode) -> float:
    joined = played.first_ms + played.episode.timings.startup_ms
    return (min(runs[0][0] for runs in played.world.ledger.runs if runs) - joined) / 1000


def _first_assignment(played: PlayedStreamsEpisode) -> float:
    return (played.generations[0].assigned_ms - played.first_ms - played.episode.timings.startup_ms) / 1000


def _restored_after_last_stop(played: PlayedStreamsEpisode) -> float:
    stop = played.actions[-1].at.latest_ms
    read = sum(each.size for each in played.world.reads.all if each.begun_ms > stop and not each.follows)
    taken = {each.task for each in played.world.takeovers if each.at_ms > stop}
    logs = [played.episode.changelogs[task] for task in taken]
    return read / sum(log.records * (log.bytes_per_record or 0.0) for log in logs if log is not None)


def _longest_restoring_hours(played: PlayedStreamsEpisode) -> float:
    second = [each.at.latest_ms for each in played.actions if action_name(each) == "start"][-1]
    return max(
        (
            (to - begin) / 3_600_000
            for intervals in played.world.ledger.intervals
            for begin, to, cause in intervals
            if cause == "restoring" and begin > second
        ),
        default=0.0,
    )


def _rebalances_after_first_stop(played: PlayedStreamsEpisode) -> float:
    stop = next(each.at.latest_ms for each in played.actions if action_name(each) == "stop")
    return sum(each.prepared_ms > stop for each in played.generations)


def _rebalances_in_last_hour(played: PlayedStreamsEpisode) -> float:
    end = played.world.begin_ms + played.episode.until_ms
    return sum(each.prepared_ms > end - 3_600_000 for each in played.generations)


def _changes_that_move_standbys(played: PlayedStreamsEpisode) -> float:
    changes = [each.at_ms for each in played.episode.events if each.type == "metadata_changes"]
    before = played.generations[-len(changes) - 1 : -1]
    moved = [
        [actives for actives, _ in old.assigned.values()] == [actives for actives, _ in new.assigned.values()]
        and old.assigned != new.assigned
        for old, new in zip(before, played.generations[-len(changes) :], strict=True)
    ]
    return sum(moved) / len(changes)


_CLOSE = _episode(
    "close-without-leaving",
    _tasks(4, stateful=False),
    [*_starts("a", "b"), StreamsEvent(120_000, "stop", "b")],
    300_000,
)
_PROBING = _episode(
    "rounds-of-probing", _tasks(20), [*_starts("a"), *_starts("b", at_ms=600_000)], 6 * 3_600_000,
    state_bytes=100_000_000,
)  # fmt: skip
_NEW_APPLICATION = attrs.evolve(
    _episode("new-application-streams-protocol", _tasks(4), _starts("a"), 120_000, protocol="streams"),
    assignor="group_sticky",
    missing_topics=["by-key-repartition"],
    settings=_MEASURED,
)
_NEW_CLASSIC = _episode("new-application-classic", _tasks(4), _starts("a"), 120_000)
_LONG_ROLL = _episode(
    "roll-longer-than-cleanup",
    _tasks(4),
    [
        *_starts("a", "b"),
        StreamsEvent(1_800_000, "stop", "a"),
        StreamsEvent(1_890_000, "start", "a"),
        # b still has a's tasks' directories, unused for more than ten minutes.
        StreamsEvent(3_600_000, "stop", "a"),
    ],
    2 * 3_600_000,
    state_bytes=500_000_000,
)
_SCALE_OUT = attrs.evolve(
    _episode(
        "scale-out-without-warm-ups", _tasks(6), [*_starts("a", "b"), *_starts("c", at_ms=6 * 3_600_000)],
        12 * 3_600_000, state_bytes=100_000_000_000,
    ),
    assignor="sticky",
    settings=_MEASURED,
)  # fmt: skip
_ROLL = StreamsEvent(300_000, "rolling_restart", details=EventDetails(down_ms=20_000, every_ms=120_000))
_FOR_EVER = attrs.evolve(
    _episode(
        "probing-for-ever", _tasks(4), [*_starts("a"), *_starts("b", at_ms=600_000)], 12 * 3_600_000,
        config={ACCEPTABLE_RECOVERY_LAG: 0},
    ),
    changelogs={f"0_{each}": ChangelogOutline(0, 200, records_per_s=500) for each in range(4)},
)  # fmt: skip


def _roll(name: str, *, static: bool) -> StreamsEpisodeOutline:
    return _episode(name, _tasks(6, stateful=False), [*_starts("a", "b", "c", static=static), _ROLL], 900_000)


def _swinging() -> StreamsEpisodeOutline:
    events: list[StreamsEvent] = []
    # Process and member ids decide ties, and are drawn from the names.
    for place, threads in enumerate((3, 2, 3, 1)):
        events += _starts(f"h1-{place + 1}", at_ms=1_000 * place, threads=threads)
    events += [StreamsEvent(300_000 * each, "metadata_changes") for each in range(1, 7)]
    made = _episode(
        "swinging-standbys", _tasks(3), events, 2_100_000, protocol="streams", config={NUM_STANDBY_REPLICAS: 2}
    )
    return attrs.evolve(made, assignor="group_sticky", settings=_MEASURED)


EPISODES: Mapping[str, NamedStreamsEpisode] = {
    each.name: each
    for each in (
        NamedStreamsEpisode(
            "close-without-leaving", "An instance of a classic group is closed in order.", "thriving.dev",
            "closing does not leave the group: its tasks stand still for 45 s, the session timeout", 45.0, "s",
            lambda played: _longest_after(played, "stop"), _CLOSE,
        ),
        NamedStreamsEpisode(
            "rounds-of-probing", "A second instance joins one that runs twenty tasks with state.", "KIP-441",
            "ten tasks move, two warm-ups in each probing interval of ten minutes: 50 minutes", 3_000.0, "s",
            _until_stable, _PROBING,
        ),
        NamedStreamsEpisode(
            "new-application-classic", "The first instance of a new application, classic protocol.",
            "group.initial.rebalance.delay.ms", "3 s from joining to the first assignment", 3.0, "s",
            _first_assignment, _NEW_CLASSIC,
        ),
        NamedStreamsEpisode(
            "new-application-streams-protocol", "The same under the streams protocol, while topics are created.",
            "measured with Kafka 4.3.1", "6.2 s from joining to the first task, for the first target is empty", 6.2,
            "s", _first_task, _NEW_APPLICATION,
        ),
        NamedStreamsEpisode(
            "roll-longer-than-cleanup", "A roll takes longer than state.cleanup.delay.ms.",
            "littlehorse #861", "the state that others counted on is deleted, and all of it restored", 1.0,
            "of the state", _restored_after_last_stop, _LONG_ROLL,
        ),
        NamedStreamsEpisode(
            "scale-out-without-warm-ups", "A third instance joins, 100 GB a task, and tasks move at once.",
            "KIP-441", "hours without processing", 1.0, "hours or more", _longest_restoring_hours, _SCALE_OUT,
        ),
        NamedStreamsEpisode(
            "rolling-restart", "Three instances are restarted, one after the other, within the session timeout.",
            "KIP-345", "one restart triggers one rebalance: three", 3.0, "rebalances", _rebalances_after_first_stop,
            _roll("rolling-restart", static=False),
        ),
        NamedStreamsEpisode(
            "rolling-restart-static", "The same with static members.", "KIP-345",
            "a constant number for the whole roll, such as one for the leader", 1.0, "rebalances or fewer",
            _rebalances_after_first_stop, _roll("rolling-restart-static", static=True),
        ),
        NamedStreamsEpisode(
            "probing-for-ever", "Copies never count as caught up: acceptable.recovery.lag is 0 and changelogs grow.",
            "KAFKA-10651", "endless probing rebalances, 6 an hour; the cause was a bug, now fixed",
            6.0, "rebalances", _rebalances_in_last_hour, _FOR_EVER,
        ),
        NamedStreamsEpisode(
            "swinging-standbys", "Targets are computed again without a join or leave.", "KAFKA-21166",
            "standbys may oscillate between rounds: all of the changes move them", 1.0, "of the changes",
            _changes_that_move_standbys, _swinging(),
        ),
    )
}  # fmt: skip
