"""Figures of a simulated episode, and of its recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from assignor_lab.model.events import GroupEvent
from assignor_lab.model.history import GroupHistory, GroupResponse, responses
from assignor_lab.simulation.streams.actions import action_name
from assignor_lab.simulation.streams.comparison import ComparedHistories, StateReading, compared_with
from assignor_lab.simulation.streams.generations import Generation
from assignor_lab.simulation.streams.processing import RESTORING
from assignor_lab.simulation.streams.reads import StateRead
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode
from assignor_lab.simulation.streams.traffic import ReadsFrom, TrafficTerms, crossing_bytes, dollars_of

__all__ = [
    "ActionResponse", "PlayTotals", "RecordedTotals", "compared_play", "history_actions", "played_actions",
    "recorded_actions", "recorded_totals", "totals_of",
]  # fmt: skip

#: Default of ``acceptable.recovery.lag``.
_RECOVERY_LAG = 10_000


@attrs.frozen
class RecordedTotals:
    """Figures of a recording; ``None``: it does not show them."""

    rebalances: int
    unavailable_task_s: float | None = None
    worst_task_s: float | None = None
    restored_bytes: int | None = None


def recorded_totals(recorded: GroupHistory) -> RecordedTotals:
    away = list(recorded.downtimes_ms.values())
    shows = recorded.shows_downtime
    return RecordedTotals(
        len(recorded.decisions),
        round(sum(away) / 1000, 3) if shows else None,
        max(away, default=0) / 1000 if shows else None,
        sum(each.restored_bytes for each in recorded.probes) if recorded.probes else None,
    )


def compared_play(played: PlayedStreamsEpisode) -> ComparedHistories | None:
    """``None``: the episode has no recording."""
    recorded = played.episode.recorded
    return None if recorded is None else compared_with(played.history, _readings(played), recorded)


def _readings(played: PlayedStreamsEpisode) -> list[StateReading]:
    return [
        StateReading(read.begun_ms, read.size if _is_sized(played, read) else None)
        for read in played.world.reads.all
        if not read.follows
    ]


@attrs.frozen
class PlayTotals:
    """The figures of a played episode; ``None``: unknown.

    If state of an unknown size was restored, its bytes and all times with restoring are unknown.

    Args:
        longest_until_stable_s: ``None``: no action led to an assignment.
        cold_takeovers: Tasks with state assigned to an instance whose copy lacked more than ``acceptable.recovery.lag``
            records, including a group's first start.
    """

    unavailable_task_s: float | None
    unavailable_without_restoring_task_s: float
    restored_bytes: int | None
    cross_zone_bytes: int | None
    dollars: float | None
    rebalances: int
    warmups: int
    worst_task_s: float | None
    unavailable_by_cause_s: Mapping[str, float | None]
    restored_before_processing_bytes: int | None
    longest_until_stable_s: float | None
    cold_takeovers: int
    reads_from: ReadsFrom


def totals_of(played: PlayedStreamsEpisode, terms: TrafficTerms) -> PlayTotals:
    """The figures of the whole episode."""
    causes, away_s, worst = _unavailable(played)
    is_known = causes.get(RESTORING, 0.0) is not None
    crossing = crossing_bytes(played, terms.reads_from)
    crossed = None if crossing is None else round(crossing)
    stable = [each.until_stable_ms for each in played_actions(played) if each.until_stable_ms is not None]
    lag = int(played.episode.config.get("acceptable.recovery.lag", _RECOVERY_LAG))
    return PlayTotals(
        unavailable_task_s=away_s if is_known else None,
        unavailable_without_restoring_task_s=_without_restoring(causes),
        restored_bytes=_restored(played),
        cross_zone_bytes=crossed,
        dollars=dollars_of(crossed, terms.dollars_per_gib),
        rebalances=len(played.generations),
        warmups=_warmups(played.generations),
        worst_task_s=worst if is_known else None,
        unavailable_by_cause_s=causes,
        restored_before_processing_bytes=_restored(played, before_processing=True),
        longest_until_stable_s=max(stable) / 1000 if stable else None,
        cold_takeovers=sum(each.lag > lag for each in played.world.takeovers),
        reads_from=terms.reads_from,
    )


def _without_restoring(causes: Mapping[str, float | None]) -> float:
    # Each is an integer in milliseconds.
    return sum(round(1000 * (seconds or 0.0)) for cause, seconds in causes.items() if cause != RESTORING) / 1000


def _is_sized(played: PlayedStreamsEpisode, read: StateRead) -> bool:
    changelog = played.episode.changelogs[read.task]
    return changelog is None or changelog.bytes_per_record is not None


def _restored(played: PlayedStreamsEpisode, *, before_processing: bool = False) -> int | None:
    reads = [each for each in played.world.reads.all if not each.follows and (each.is_active or not before_processing)]
    if not all(_is_sized(played, each) for each in reads):
        return None
    return round(played.world.reads.restored(before_processing=before_processing))


def _restoring_is_known(played: PlayedStreamsEpisode) -> bool:
    changelogs = played.episode.changelogs
    restored = {each.task for each in played.world.reads.all if each.is_active and not each.follows}
    return all(log is None or log.is_known for log in map(changelogs.__getitem__, restored))


def _unavailable(played: PlayedStreamsEpisode) -> tuple[dict[str, float | None], float, float]:
    found: dict[str, int] = {}
    worst = 0
    for intervals in played.world.ledger.intervals:
        away = 0
        for begin, end, cause in intervals:
            length = max(0, end - max(begin, played.first_ms))
            found[cause] = found.get(cause, 0) + length
            away += length
        worst = max(worst, away)
    causes: dict[str, float | None] = {cause: found[cause] / 1000 for cause in sorted(found)}
    if not _restoring_is_known(played):
        causes = dict(sorted({**causes, RESTORING: None}.items()))
    return causes, sum(found.values()) / 1000, worst / 1000


@attrs.frozen
class ActionResponse:
    """An action on an instance, and the group's response.

    Args:
        at_ms: Since the time from which results count.
        until_stable_ms: ``None``: it led to no assignment.
    """

    at_ms: int
    action: str
    instance: str | None
    rebalances: int
    until_stable_ms: int | None


def _responses(actions: Sequence[GroupEvent], found: Sequence[GroupResponse], first_ms: int) -> list[ActionResponse]:
    return [
        ActionResponse(
            each.at.latest_ms - first_ms, action_name(each) or "", each.subject, of.rebalances, of.until_stable_ms
        )
        for each, of in zip(actions, found, strict=True)
    ]


def played_actions(played: PlayedStreamsEpisode) -> list[ActionResponse]:
    found = responses(
        [each.at.latest_ms for each in played.actions],
        [each.prepared_ms for each in played.generations],
        [each.assigned_ms for each in played.generations],
        played.changes,
    )
    return _responses(played.actions, found, played.first_ms)


def history_actions(history: GroupHistory) -> list[ActionResponse]:
    """The actions among its events."""
    actions = [each for each in history.events if action_name(each) is not None]
    found = history.responses([each.at.latest_ms for each in actions])
    return _responses(actions, found, history.begin_ms or 0)


def recorded_actions(played: PlayedStreamsEpisode, recorded: GroupHistory) -> list[ActionResponse]:
    """The actions of a play, with the recorded responses."""
    found = recorded.responses([each.at.latest_ms for each in played.actions])
    return _responses(played.actions, found, played.first_ms)


def _warmups(generations: Sequence[Generation]) -> int:
    begun, before = 0, 0
    for each in generations:
        begun += max(0, each.warmups - before)
        before = each.warmups
    return begun
