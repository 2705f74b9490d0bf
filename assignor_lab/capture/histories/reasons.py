"""Reasons of rebalances where the source has none: the events before a decision, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from assignor_lab.capture.edges.moments import LEAST_PROBING_MS
from assignor_lab.documents.wording import listed, plural
from assignor_lab.model.decision import Decision, InstanceShare
from assignor_lab.model.events import (
    GroupEvent,
    GroupRefilled,
    InstanceRestartedInSession,
    InstanceStopped,
    MemberExpired,
    MemberFenced,
    MemberLeft,
    PollTimedOut,
    ProtocolChanged,
    RebalanceBegun,
    ThreadDied,
    ThreadReplaced,
)
from assignor_lab.model.history import ACTIVE_TASKS, JOBS, PARTITIONS

__all__ = ["FOLLOW_UP", "PROBING", "inferred_reason", "membership_words"]

PROBING = "probing rebalance: the interval after the last decision is over"
FOLLOW_UP = "follow-up: tasks that move were released by their old owners"
_MOST_NAMED = 3
_RECENT_MS = 600_000
#: Events with a cause, which replace the words on a change of members.
_CAUSES = (MemberExpired, MemberFenced, MemberLeft, PollTimedOut, ThreadDied, ThreadReplaced)


def inferred_reason(
    decision: Decision, before: Decision | None, between: Iterable[GroupEvent], moves: str = ACTIVE_TASKS
) -> str:
    """Empty if neither decisions nor events show it."""
    events = list(between)
    if before is None:
        recent = [each for each in events if decision.at.latest_ms - each.at.latest_ms <= _RECENT_MS]
        return "; ".join([*_causes(recent).values(), *_waited(decision, recent)])
    there = {} if any(isinstance(each, GroupRefilled) for each in events) else before.shares
    words = [*_of_group(events)]
    words += _members(decision.shares, there, events)
    if moves != JOBS:
        words += [*_threads(decision.shares, there, events), *_tasks(decision, before, moves)]
    words += _waited(decision, events)
    if words and _is_probing_due(decision, before):
        words.append("a probing rebalance was due")
    return "; ".join(words) or _continued(decision, before)


def _waited(decision: Decision, events: Sequence[GroupEvent]) -> Iterator[str]:
    """A long wait of the members, which their lines show."""
    begun = next((each for each in events if isinstance(each, RebalanceBegun)), None)
    if begun is None or decision.begun_ms is not None:
        return
    words = f"the rebalance took {(decision.at.latest_ms - begun.at.latest_ms) / 1_000:.0f} s"
    if any(isinstance(each, ThreadDied | ThreadReplaced) for each in events):
        words += ", about session.timeout.ms: the consumer of a dead thread sends no LeaveGroup"
    yield words


def _of_group(events: Iterable[GroupEvent]) -> Iterator[str]:
    for each in events:
        if isinstance(each, GroupRefilled):
            yield f"after {each.duration} without members"
        elif isinstance(each, ProtocolChanged):
            yield f"now under the {each.after} protocol"


def membership_words(joined: Iterable[str], restarted: Iterable[str], gone: Iterable[str]) -> list[str]:
    """Restarted: all members have new ids."""
    words = {"joined": joined, "restarted": restarted, "left, or the session ended": gone}
    return [f"{named} {change}" for change, names in words.items() if (named := _named(list(names)))]


def _named(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return listed([*names[:_MOST_NAMED], *([f"{more} more"] if more > 0 else [])])


_Shares = Mapping[str, InstanceShare]


def _causes(events: Sequence[GroupEvent]) -> dict[str, str]:
    """Instance to the sentence on its departure."""
    return {str(each.subject): each.sentence for each in events if isinstance(each, _CAUSES)}


def _restarted(here: _Shares, there: _Shares, events: Sequence[GroupEvent]) -> set[str]:
    """Without static members that restarted within their session, before or after."""
    kept = {each.instance for each in events if isinstance(each, InstanceRestartedInSession)}
    return {name for name in here.keys() & there.keys() - kept if not here[name].continues(there[name])}


def _members(here: _Shares, there: _Shares, events: Sequence[GroupEvent]) -> Iterator[str]:
    causes, restarted, gone = _causes(events), _restarted(here, there, events), there.keys() - here.keys()
    # A stop is no further cause of an instance that is back.
    causes |= {
        each.instance: each.sentence for each in events if isinstance(each, InstanceStopped) if each.instance in gone
    }
    named = (gone | restarted) & causes.keys()
    yield from membership_words(sorted(here.keys() - there.keys()), sorted(restarted - named), sorted(gone - named))
    yield from (causes[name] for name in sorted(named))


def _threads(here: _Shares, there: _Shares, events: Sequence[GroupEvent]) -> Iterator[str]:
    causes = _causes(events)
    for name in sorted(here.keys() & there.keys() - _restarted(here, there, events)):
        more, fewer = here[name].members - there[name].members, there[name].members - here[name].members
        if not here[name].continues(there[name]):
            continue
        if name in causes and (more or fewer):
            yield causes[name]
        elif more and fewer:
            yield f"{plural(len(more), 'thread')} of {name} joined again"
        elif more:
            yield f"{plural(len(more), 'thread')} of {name} joined"
        elif fewer:
            yield f"{plural(len(fewer), 'thread')} of {name} left"


def _tasks(decision: Decision, before: Decision, moves: str) -> Iterator[str]:
    """New topics, more partitions, or another topology."""
    here, there = decision.tasks, before.tasks
    if here is None or there is None:
        return
    if moves == PARTITIONS:
        if more := here - there:
            yield f"{plural(len(more), 'partition')} more: topics were created, grew or were subscribed"
        if fewer := there - here:
            yield f"{plural(len(fewer), 'partition')} fewer: topics were deleted, or no member subscribes them"
        return
    if more := here - there:
        yield f"{plural(len(more), 'task')} more: topics were created or grew, or the topology has changed"
    if fewer := there - here:
        yield f"{plural(len(fewer), 'task')} fewer: the topology or its topics have changed"


def _is_probing_due(decision: Decision, before: Decision) -> bool:
    return before.followup == "probing" and decision.at.latest_ms - before.at.latest_ms >= before.probing_ms


def _continued(decision: Decision, before: Decision) -> str:
    """If members and tasks are the same."""
    since_ms = decision.at.latest_ms - before.at.latest_ms
    if before.followup == "probing" and since_ms >= LEAST_PROBING_MS:
        return PROBING
    return FOLLOW_UP if since_ms < LEAST_PROBING_MS and before.hands_over else ""
