"""Result of a simulated episode as a document (design, section 8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from assignor_lab.model.decision import Decision
from assignor_lab.model.events import GroupEvent
from assignor_lab.model.history import RECORDED, GroupHistory, GroupResponse, responses
from assignor_lab.simulation.streams.actions import action_name
from assignor_lab.simulation.streams.comparison import ComparedHistories, StateReading, compared_with
from assignor_lab.simulation.streams.generations import Generation
from assignor_lab.simulation.streams.processing import RESTORING
from assignor_lab.simulation.streams.reads import StateRead
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode
from assignor_lab.simulation.streams.traffic import ReadsFrom, TrafficTerms, crossing_bytes, dollars_of

__all__ = [
    "PlayTotals",
    "RecordedTotals",
    "document_of",
    "history_document",
    "recorded_document",
    "recorded_totals",
    "totals_of",
]

_DEFAULT_TERMS = TrafficTerms()
#: Default of ``acceptable.recovery.lag``.
_RECOVERY_LAG = 10_000


def document_of(played: PlayedStreamsEpisode, assignor: str, terms: TrafficTerms = _DEFAULT_TERMS) -> dict[str, Any]:
    history, recorded = played.history, played.episode.recorded
    compared = None if recorded is None else compared_with(history, _readings(played), recorded)
    return {
        "episode": played.episode.id,
        "assignor": assignor,
        "seed": played.seed,
        "generations": [_generation(each, played.first_ms) for each in history.decisions],
        "actions": [
            _action(action, response, played.first_ms)
            for action, response in zip(played.actions, _responses(played), strict=True)
        ],
        "tasks": _tasks(history),
        "totals": totals_of(played, terms).document(),
        "failures": [{"t_ms": at_ms - played.first_ms, "message": message} for at_ms, message in played.failures],
        "compared": None if compared is None else _compared(compared, played.first_ms),
    }


def history_document(history: GroupHistory, assignor: str, seed: int) -> dict[str, Any]:
    """A play of any group with courses, in the same form."""
    first = history.begin_ms or 0
    actions = [each for each in history.events if action_name(each) is not None]
    responded = history.responses([each.at.latest_ms for each in actions])
    waits = [wait for course in history.courses.values() for wait in course.waits]
    worst = max(history.downtimes_ms.values(), default=0)
    return {
        "episode": history.group,
        "assignor": assignor,
        "seed": seed,
        "generations": [_generation(each, first) for each in history.decisions],
        "actions": [_action(each, response, first) for each, response in zip(actions, responded, strict=True)],
        "tasks": _tasks(history),
        "totals": {
            "unavailable_task_s": sum(each.length_ms for each in waits) / 1000,
            "worst_task_s": worst / 1000,
            "interruptions": sum(len(course.interruptions) for course in history.courses.values()),
            "rebalances": len(history.decisions),
        },
        "compared": None,
    }


def recorded_document(played: PlayedStreamsEpisode, recorded: GroupHistory) -> dict[str, Any]:
    """The recording behind a play, in the form of the play's document."""
    known, first = recorded_totals(recorded), played.first_ms
    times = [each.at.latest_ms for each in played.actions]
    return {
        "episode": played.episode.id,
        "assignor": RECORDED,
        "seed": None,
        "generations": [_generation(each, first) for each in recorded.decisions],
        "actions": [
            _action(action, response, first)
            for action, response in zip(played.actions, recorded.responses(times), strict=True)
        ],
        "tasks": _tasks(recorded) if recorded.shows_downtime else None,
        "totals": {
            **dict.fromkeys(attrs.fields_dict(PlayTotals)),
            "rebalances": known.rebalances,
            "unavailable_task_s": known.unavailable_task_s,
            "worst_task_s": known.worst_task_s,
            "restored_bytes": known.restored_bytes,
        },
        "failures": None,
        "compared": None,
    }


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

    def document(self) -> dict[str, Any]:
        return attrs.asdict(self)


def totals_of(played: PlayedStreamsEpisode, terms: TrafficTerms) -> PlayTotals:
    """The figures of the whole episode."""
    causes, away_s, worst = _unavailable(played)
    is_known = causes.get(RESTORING, 0.0) is not None
    crossing = crossing_bytes(played, terms.reads_from)
    crossed = None if crossing is None else round(crossing)
    stable = [each.until_stable_ms for each in _responses(played) if each.until_stable_ms is not None]
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


def _generation(decision: Decision, first: int) -> dict[str, Any]:
    return {
        "t_ms": decision.since_ms - first,
        "assignment_t_ms": decision.at.latest_ms - first,
        "generation": decision.number,
        "reason": decision.reason,
        "members": decision.members,
        "followup": decision.followup,
        "assigned": {
            name: {"active": list(share.active), "standby": list(share.copies)}
            for name, share in decision.shares.items()
        },
    }


def _responses(played: PlayedStreamsEpisode) -> Sequence[GroupResponse]:
    return responses(
        [each.at.latest_ms for each in played.actions],
        [each.prepared_ms for each in played.generations],
        [each.assigned_ms for each in played.generations],
        played.changes,
    )


def _action(event: GroupEvent, response: GroupResponse, first: int) -> dict[str, Any]:
    return {
        "t_ms": event.at.latest_ms - first,
        "action": action_name(event),
        "who": event.subject,
        "rebalances": response.rebalances,
        "until_stable_ms": response.until_stable_ms,
    }


def _tasks(history: GroupHistory) -> dict[str, Any]:
    first = history.begin_ms or 0
    found = {}
    for task, course in history.courses.items():
        shown = [
            (max(each.begin_ms, first) - first, each.end_ms - first, each.cause)
            for each in course.waits
            if each.end_ms > first
        ]
        away = sum(end - begin for begin, end, _ in shown)
        found[task] = {"unavailable_ms": away, "intervals": [list(row) for row in shown]}
    return found


def _compared(compared: ComparedHistories, first: int) -> dict[str, Any]:
    return {
        "actions": [
            {
                "t_ms": each.action.at.latest_ms - first,
                "action": action_name(each.action),
                "who": each.action.subject,
                "rebalances": {"recorded": each.recorded.rebalances, "simulated": each.simulated.rebalances},
                "until_stable_ms": {
                    "recorded": each.recorded.until_stable_ms,
                    "simulated": each.simulated.until_stable_ms,
                },
            }
            for each in compared.actions
        ],
        "generations": {
            "recorded": len(compared.same),
            "same_active_tasks": sum(active for active, _ in compared.same),
            "same_tasks": sum(every for _, every in compared.same),
        },
        "probe": [
            {
                "t_ms": each.begin_ms - first,
                "action": each.action,
                "interrupted": attrs.asdict(each.interrupted),
                "unavailable_ms": attrs.asdict(each.unavailable_ms),
                "worst_ms": attrs.asdict(each.worst_ms),
                "restored_bytes": attrs.asdict(each.restored_bytes),
            }
            for each in compared.probe
        ],
    }


def _warmups(generations: Sequence[Generation]) -> int:
    begun, before = 0, 0
    for each in generations:
        begun += max(0, each.warmups - before)
        before = each.warmups
    return begun
