"""The full picture of one rebalance or episode: who ran what, and what each assignor made of it.

Entries of the summary's ``groups`` (docs, "The summary file"), without ``chosen``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assignment_api.connect import Jobs
from assignment_api.streams.ids import utf16_key
from assignor_lab.groups.connect.answer import ConnectAnswer
from assignor_lab.groups.connect.metrics import Decision
from assignor_lab.runtime.invocation import Failure
from assignor_lab.simulation.connect.simulate import Played
from assignor_lab.simulation.connect.timeline import timeline

__all__ = ["group_picture"]

#: Most jobs that are named for one worker; the others are counted.
MOST_NAMES = 12
#: Columns of a timeline, and most rebalances of an episode that are listed.
TIMELINE_WIDTH = 96
MOST_REBALANCES = 60
#: Most workers of a picture; a larger group has none.
MOST_WORKERS = 400


def group_picture(answers: Sequence[ConnectAnswer], assignor: str | None = None) -> dict[str, Any]:
    """Answers to one rebalance, or all plays of one episode.

    In the later rounds of a family's history each assignor has a group of its own; the picture is then of one of them,
    with the answers to that very state.

    Args:
        answers: All answers of one item and round, at least one.
        assignor: Whose state it is to be; ``None``: the first one's.
    """
    decided = [answer for answer in answers if answer.decision is not None]
    own = [answer for answer in decided if answer.assignor == assignor]
    seen = (own or decided or list(answers))[0]
    shown = [answer for answer in answers if _same_state(answer, seen)]
    before = {} if seen.decision is None else seen.decision.before
    return {
        "scenario": None if seen.scenario is None else seen.scenario.id,
        "round": seen.round,
        "kind": "connect" if seen.scenario is None else seen.scenario.kind,
        "assumptions": [] if seen.scenario is None else list(seen.scenario.assumptions),
        "workers": [] if len(before) > MOST_WORKERS else [{"id": name, **_size(jobs)} for name, jobs in before.items()],
        "answers": [_answer(answer) for answer in shown],
    }


def _same_state(answer: ConnectAnswer, seen: ConnectAnswer) -> bool:
    if answer.decision is None or seen.decision is None:
        return True
    mine, theirs = answer.decision, seen.decision
    return mine.before == theirs.before and mine.configured == theirs.configured


def _answer(answer: ConnectAnswer) -> dict[str, Any]:
    decision, assignment = answer.decision, answer.assignment
    return {
        "assignor": answer.assignor,
        "error": _error(answer.failure),
        "stops_all": decision is not None and decision.stops_all,
        "delay_ms": None if assignment is None else assignment.delay_ms,
        "rounds": None if decision is None else decision.rounds,
        "workers": None if decision is None else _after(decision),
        "timeline": [] if answer.played is None else _timeline(answer.played),
        "rebalances": [] if answer.played is None else _rebalances(answer.played),
        "rebalances_left_out": 0 if answer.played is None else _left_out(answer.played),
    }


def _error(failure: Failure | None) -> dict[str, Any] | None:
    if failure is None:
        return None
    return {"type": failure.type, "java_type": failure.java_type, "message": failure.message}


def _size(jobs: Jobs) -> dict[str, int]:
    return {"connectors": len(jobs.connectors), "tasks": len(jobs.tasks)}


def _after(decision: Decision) -> list[dict[str, Any]]:
    """What becomes of each worker, in the order of the picture's ``workers``."""
    if len(decision.before) > MOST_WORKERS:
        return []
    found = []
    for name, before in decision.before.items():
        after = decision.after.get(name, Jobs())
        starts, stops = after.minus(before), before.minus(after)
        found.append(
            {
                **_size(after),
                "starts": _names(starts),
                "more_starts": max(0, len(starts) - MOST_NAMES),
                "stops": _names(stops),
                "more_stops": max(0, len(stops) - MOST_NAMES),
            }
        )
    return found


def _names(jobs: Jobs) -> list[str]:
    connectors = sorted(jobs.connectors, key=utf16_key)[:MOST_NAMES]
    tasks = sorted(jobs.tasks, key=lambda task: task.sort_key())[: MOST_NAMES - len(connectors)]
    return [*connectors, *map(str, tasks)]


def _timeline(played: Played) -> list[str]:
    begin = played.cluster.start_ms
    return timeline(played.cluster, begin, begin + played.episode.until_ms, TIMELINE_WIDTH)[: MOST_WORKERS + 2]


def _rebalances(played: Played) -> list[dict[str, Any]]:
    begin = played.cluster.start_ms
    return [
        {
            "at_ms": each.joined_ms - begin,
            "because": list(each.reasons)[:10],
            "leader": each.leader,
            "protocol": each.protocol.value,
            "members": len(each.members),
            "assigned": each.assigned,
            "revoked": each.revoked,
            "delay_ms": each.delay_ms,
        }
        for each in played.cluster.rounds[:MOST_REBALANCES]
    ]


def _left_out(played: Played) -> int:
    return max(0, len(played.cluster.rounds) - MOST_REBALANCES)
