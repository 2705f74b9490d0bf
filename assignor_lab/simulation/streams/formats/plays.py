"""Documents of played episodes (design, section 8)."""

from __future__ import annotations

from typing import Any

import attrs

from assignor_lab.model.decision import Decision
from assignor_lab.model.history import RECORDED, GroupHistory
from assignor_lab.simulation.streams.actions import action_name
from assignor_lab.simulation.streams.comparison import ComparedHistories
from assignor_lab.simulation.streams.results import (
    ActionResponse,
    PlayTotals,
    compared_play,
    history_actions,
    played_actions,
    recorded_actions,
    recorded_totals,
    totals_of,
)
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode
from assignor_lab.simulation.streams.traffic import TrafficTerms

__all__ = ["document_of", "history_document", "recorded_document"]

_DEFAULT_TERMS = TrafficTerms()


def document_of(played: PlayedStreamsEpisode, assignor: str, terms: TrafficTerms = _DEFAULT_TERMS) -> dict[str, Any]:
    history, compared = played.history, compared_play(played)
    return {
        "episode": played.episode.id,
        "assignor": assignor,
        "seed": played.seed,
        "generations": [_generation(each, played.first_ms) for each in history.decisions],
        "actions": [_action(each) for each in played_actions(played)],
        "tasks": _tasks(history),
        "totals": attrs.asdict(totals_of(played, terms)),
        "failures": [{"t_ms": at_ms - played.first_ms, "message": message} for at_ms, message in played.failures],
        "compared": None if compared is None else _compared(compared, played.first_ms),
    }


def history_document(history: GroupHistory, assignor: str, seed: int) -> dict[str, Any]:
    """A play of any group with courses, in the same form."""
    first = history.begin_ms or 0
    waits = [wait for course in history.courses.values() for wait in course.waits]
    worst = max(history.downtimes_ms.values(), default=0)
    return {
        "episode": history.group,
        "assignor": assignor,
        "seed": seed,
        "generations": [_generation(each, first) for each in history.decisions],
        "actions": [_action(each) for each in history_actions(history)],
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
    return {
        "episode": played.episode.id,
        "assignor": RECORDED,
        "seed": None,
        "generations": [_generation(each, first) for each in recorded.decisions],
        "actions": [_action(each) for each in recorded_actions(played, recorded)],
        "tasks": _tasks(recorded) if recorded.shows_downtime else None,
        "totals": {**dict.fromkeys(attrs.fields_dict(PlayTotals)), **attrs.asdict(known)},
        "failures": None,
        "compared": None,
    }


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


def _action(row: ActionResponse) -> dict[str, Any]:
    return {
        "t_ms": row.at_ms,
        "action": row.action,
        "who": row.instance,
        "rebalances": row.rebalances,
        "until_stable_ms": row.until_stable_ms,
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
