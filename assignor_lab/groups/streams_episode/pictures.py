"""The full picture of one episode: a timeline of its tasks, and its rebalances, for each competitor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assignor_lab.groups.kind import Answer
from assignor_lab.groups.streams_episode.player import PlayedEpisode
from assignor_lab.simulation.streams.episode import StreamsEpisode
from assignor_lab.simulation.streams.simulate import Played
from assignor_lab.simulation.streams.timeline import timeline

__all__ = ["episode_picture"]

#: Columns of a timeline, most tasks in it, and most rebalances that are listed.
TIMELINE_WIDTH = 96
MOST_TASKS = 60
MOST_REBALANCES = 60


def episode_picture(answers: Sequence[Answer[StreamsEpisode, PlayedEpisode]]) -> dict[str, Any]:
    """All plays of one episode, at least one; the form is that of the summary's ``groups``."""
    scenario = answers[0].scenario
    return {
        "scenario": None if scenario is None else scenario.id,
        "round": answers[0].round,
        "kind": "streams-episode",
        "assumptions": [] if scenario is None else list(scenario.assumptions),
        "workers": [],
        "answers": [_shown(answer) for answer in answers],
        "chosen": None,
    }


def _shown(answer: Answer[StreamsEpisode, PlayedEpisode]) -> dict[str, Any]:
    failure, result = answer.outcome.failure, answer.outcome.answer
    error = None
    if failure is not None:
        error = {"type": failure.type, "java_type": failure.java_type, "message": failure.message}
    return {
        "assignor": answer.assignor,
        "error": error,
        "stops_all": False,
        "delay_ms": None,
        "rounds": None,
        "workers": None,
        "timeline": [] if result is None else timeline(result.played, TIMELINE_WIDTH, MOST_TASKS),
        "rebalances": [] if result is None else _rebalances(result.played),
        "rebalances_left_out": 0 if result is None else max(0, len(result.played.generations) - MOST_REBALANCES),
    }


def _rebalances(played: Played) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    before: dict[int, str] = {}
    for each in played.generations[:MOST_REBALANCES]:
        owner = {task: name for name, (active, _) in each.assigned.items() for task in active}
        moved = sum(owner.get(task) != name for task, name in before.items())
        rows.append(
            {
                "at_ms": each.joined_ms - played.first_ms,
                "because": [each.reason],
                "leader": each.leader or "broker",
                "protocol": played.episode.protocol,
                "members": each.members,
                "assigned": len(owner),
                "revoked": moved,
                "delay_ms": 0,
            }
        )
        before = owner
    return rows
