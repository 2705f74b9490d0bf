"""Inferred reasons of rebalances, from two decisions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from assignor_lab.capture.histories.evidence import LEAST_PROBING_MS
from assignor_lab.capture.histories.moments import DecisionMoment, Participant
from assignor_lab.documents.wording import listed, plural

__all__ = ["FOLLOW_UP", "PROBING", "inferred_reason", "membership_words"]

PROBING = "probing rebalance: the interval after the last decision is over"
FOLLOW_UP = "follow-up: tasks that move were released by their old owners"
_ENDED = {"stop": "stopped", "fenced": "was fenced: its session ended"}
_MOST_NAMED = 3


def inferred_reason(moment: DecisionMoment, before: DecisionMoment | None, names: Mapping[str, str]) -> str:
    """Empty if the decisions do not show it."""
    if before is None:
        return ""
    here = {names[process]: each for process, each in moment.participants.items()}
    there = {names[process]: each for process, each in before.participants.items()}
    words = list(_members(here, there, moment.evidence.ended)) + list(_tasks(moment, before))
    if words and _is_probing_due(moment, before):
        words.append("a probing rebalance was due")
    return "; ".join(words) or _continued(moment, before)


def membership_words(joined: Iterable[str], restarted: Iterable[str], gone: Iterable[str]) -> list[str]:
    """Restarted: all members have new ids."""
    words = {"joined": joined, "restarted": restarted, "left, or the session ended": gone}
    return [f"{named} {change}" for change, names in words.items() if (named := _named(list(names)))]


def _named(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return listed([*names[:_MOST_NAMED], *([f"{more} more"] if more > 0 else [])])


def _members(
    here: Mapping[str, Participant], there: Mapping[str, Participant], ended: Mapping[str, str]
) -> Iterator[str]:
    restarted = [name for name in here if name in there and _is_other(here[name], there[name])]
    gone = sorted(there.keys() - here.keys())
    yield from membership_words(
        sorted(here.keys() - there.keys()),
        sorted(restarted),
        [name for name in gone if there[name].client_id not in ended],
    )
    yield from (f"{name} {_ENDED[kind]}" for name in gone if (kind := ended.get(there[name].client_id or "")))
    for name in sorted(here.keys() & there.keys() - set(restarted)):
        more, fewer = here[name].members - there[name].members, there[name].members - here[name].members
        if more and fewer:
            yield f"{plural(len(more), 'thread')} of {name} joined again"
        elif more:
            yield f"{plural(len(more), 'thread')} of {name} joined"
        elif fewer:
            yield f"{plural(len(fewer), 'thread')} of {name} left"


def _is_other(each: Participant, before: Participant) -> bool:
    return bool(each.members and before.members) and each.members.isdisjoint(before.members)


def _tasks(moment: DecisionMoment, before: DecisionMoment) -> Iterator[str]:
    """New topics, more partitions, or another topology."""
    here, there = moment.evidence.tasks, before.evidence.tasks
    if here is None or there is None:
        return
    if more := here - there:
        yield f"{plural(len(more), 'task')} more: topics were created or grew, or the topology has changed"
    if fewer := there - here:
        yield f"{plural(len(fewer), 'task')} fewer: the topology or its topics have changed"


def _is_probing_due(moment: DecisionMoment, before: DecisionMoment) -> bool:
    return before.followup == "probing" and moment.time_ms - before.time_ms >= before.evidence.probing_ms


def _continued(moment: DecisionMoment, before: DecisionMoment) -> str:
    """If members and tasks are the same."""
    since_ms = moment.time_ms - before.time_ms
    if before.followup == "probing" and since_ms >= LEAST_PROBING_MS:
        return PROBING
    return FOLLOW_UP if since_ms < LEAST_PROBING_MS and before.evidence.hands_over else ""
