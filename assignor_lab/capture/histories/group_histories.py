"""Decisions and events of a source as group histories. Events between two decisions are inferred here, once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import attrs

from assignor_lab.capture.edges.decision_input import protocol_of
from assignor_lab.capture.edges.moments import LEAST_PROBING_MS, DecisionMoment, Participant
from assignor_lab.capture.histories.connect_rounds import connect_decisions, connect_events, recorded_rounds
from assignor_lab.capture.histories.history import read_histories
from assignor_lab.capture.histories.partition_decisions import partition_past
from assignor_lab.capture.recorded.partition_states import PartitionDecision, partition_decision
from assignor_lab.model.decision import Decision, InstanceShare, presence_change
from assignor_lab.model.events import (
    GroupDeleted,
    GroupEmptied,
    GroupEvent,
    InstanceGone,
    InstanceRestarted,
    InstanceRestartedInSession,
    InstanceStarted,
    InstanceStopped,
    ProbingDue,
    ProtocolChanged,
    ThreadAdded,
    ThreadDied,
    ThreadRemoved,
    ThreadReplaced,
    TopologyChanged,
)
from assignor_lab.model.evidence import Evidence, InferenceRule
from assignor_lab.model.history import ACTIVE_TASKS, JOBS, PARTITIONS, RECORDED, GroupHistory, GroupName
from assignor_lab.model.identity import GroupInstance, InstanceIdentities, InstanceTraits
from assignor_lab.model.moment import Moment
from assignor_lab.scenarios import ConnectHistory, Scenario

__all__ = ["ReaderEvent", "group_histories", "history_of_moments", "history_of_partitions", "history_of_rounds"]

#: A group, ``None`` if the source does not name it, and one of its events.
ReaderEvent = tuple[str | None, GroupEvent]
#: A static member joins again within this time after the start of its process.
_JOINS_MS = 120_000
_OF_THREADS = (ThreadDied, ThreadReplaced)


def group_histories(scenarios: Iterable[Scenario], events: Iterable[ReaderEvent] = ()) -> list[GroupHistory]:
    """The histories of all groups, by start. A group that moved between protocols has one history.

    Args:
        events: Of the readers. An event without a group belongs to the only group.
    """
    streams: list[Scenario] = []
    connect: dict[str, list[ConnectHistory]] = {}
    partitions: dict[str, list[PartitionDecision]] = {}
    for each in scenarios:
        if protocol_of(each.document) is not None:
            streams.append(each)
        elif (past := recorded_rounds(each.content)) is not None:
            connect.setdefault((each.source or {}).get("group") or each.id, []).append(past)
        elif (decision := partition_decision(each.document)) is not None:
            partitions.setdefault(decision.group, []).append(decision)
    moments: dict[str, list[DecisionMoment]] = {}
    for history in read_histories(streams):
        moments.setdefault(history.group, []).extend(history.moments)
    given = list(events)
    named = {group for group, _ in given if group is not None}
    groups = list(dict.fromkeys((*moments, *connect, *partitions, *sorted(named))))
    made = []
    for group in groups:
        own = [event for of, event in given if of == group or (of is None and len(groups) == 1)]
        if group in connect:
            made.append(history_of_rounds(group, connect[group], own))
        elif group in partitions:
            made.append(history_of_partitions(group, partitions[group], own))
        else:
            made.append(history_of_moments(group, moments.get(group, ()), own))
    if not groups and given:
        made.append(_history("", (), (), [event for _, event in given]))
    return sorted(made, key=lambda each: each.entries[0].at.latest_ms)


def history_of_moments(
    group: str, moments: Iterable[DecisionMoment], events: Sequence[GroupEvent] = ()
) -> GroupHistory:
    """The history of one group's decisions in any order.

    Args:
        events: Of the reader.
    """
    moments = sorted(moments, key=lambda each: each.time_ms)
    identities = InstanceIdentities()
    for moment in moments:
        identities.note_together(_traits(moment))
    decisions = [_decision(moment, identities) for moment in moments]
    noted = [event for moment in moments for event in moment.evidence.events]
    named = [_named(event, identities) for event in dict.fromkeys([*noted, *events])]
    return _history(group, decisions, identities.instances, named)


def history_of_rounds(
    group: str, histories: Iterable[ConnectHistory], events: Sequence[GroupEvent] = ()
) -> GroupHistory:
    """The history of a Connect group, from its parts in any order."""
    decisions = connect_decisions(histories)
    return _history(group, decisions, (), [*events, *connect_events(decisions)], JOBS)


def history_of_partitions(
    group: str, recorded: Iterable[PartitionDecision], events: Sequence[GroupEvent] = ()
) -> GroupHistory:
    """The history of a group of plain consumers or of a share group, from its decisions in any order."""
    past = partition_past(recorded)
    named = [_named(event, past.identities) for event in dict.fromkeys([*past.events, *events])]
    return _history(group, past.decisions, past.instances, named, PARTITIONS)


def _history(
    group: str,
    decisions: Sequence[Decision],
    instances: Sequence[GroupInstance],
    events: Sequence[GroupEvent],
    moves: str = ACTIVE_TASKS,
) -> GroupHistory:
    static = {each.name for each in instances if each.instance_id is not None}
    restarts = _session_restarts(_by_time(events), decisions, static)
    known = _by_time(_numbered(each, decisions) for each in restarts)
    history = GroupHistory(GroupName(group), RECORDED, tuple(decisions), tuple(known), tuple(instances), moves)
    inferred = [
        event
        for before, after in pairwise(decisions)
        for event in _inferred(before, after, history.between(before, after), moves)
    ]
    return attrs.evolve(history, events=tuple(_by_time([*known, *inferred])))


def _by_time(events: Iterable[GroupEvent]) -> list[GroupEvent]:
    """The end of a group follows the departures of its members."""
    return sorted(events, key=lambda each: (each.at.latest_ms, isinstance(each, GroupEmptied | GroupDeleted)))


# --- decisions ------------------------------------------------------------------------------------------


def _traits(moment: DecisionMoment) -> list[InstanceTraits]:
    return [
        InstanceTraits(each.process_id, each.instance_id, each.client_id, _host_of(each))
        for each in moment.participants.values()
    ]


def _host_of(each: Participant) -> str | None:
    """Only of an instance without another lasting trait: a machine can run other instances later."""
    is_generated = each.client_id is None or each.process_id in each.client_id
    return each.host if is_generated and not each.is_static else None


def _decision(moment: DecisionMoment, identities: InstanceIdentities) -> Decision:
    shares, facts = {}, moment.evidence
    for traits, (process, each) in zip(_traits(moment), moment.participants.items(), strict=True):
        active, copies = moment.placed.get(process, ((), ()))
        lags = facts.copy_lags.get(process, {})
        shares[identities.name(traits)] = InstanceShare(process, each.members, tuple(active), tuple(copies), lags)
    return Decision(
        Moment.at(moment.time_ms),
        Evidence.record(moment.place),
        moment.protocol,
        moment.generation,
        shares,
        tasks=facts.tasks,
        begun_ms=moment.prepared_ms,
        reason=moment.reason,
        followup=moment.followup,
        probing_ms=facts.probing_ms,
        hands_over=facts.hands_over,
        moved=facts.moved,
        assignor=facts.assignor,
        recovery_lag=facts.recovery_lag,
        standbys=facts.standbys,
        stateful=facts.stateful,
    )


# --- events of the source -------------------------------------------------------------------------------


def _named(event: GroupEvent, identities: InstanceIdentities) -> GroupEvent:
    """With the instance's name in place of its client id."""
    subject = event.subject
    if subject is None:
        return event
    name = identities.known(subject)
    return event if name == subject else attrs.evolve(event, instance=name)  # type: ignore[call-arg]


def _numbered(event: GroupEvent, decisions: Sequence[Decision]) -> GroupEvent:
    """A restart within a session with the generation that continues."""
    if not isinstance(event, InstanceRestartedInSession) or event.number is not None:
        return event
    before = [each for each in decisions if each.at.latest_ms <= event.at.latest_ms]
    return attrs.evolve(event, number=before[-1].number) if before else event


def _session_restarts(
    events: Sequence[GroupEvent], decisions: Sequence[Decision], static: set[str]
) -> Iterator[GroupEvent]:
    """A logged stop and start of a static member without a decision between them are one restart.

    The record of its return, if there is one, is the same restart.
    """
    ends = [each.at.latest_ms for each in decisions]
    ends += [each.at.latest_ms for each in events if isinstance(each, GroupEmptied)]
    stopped: dict[str, InstanceStopped] = {}
    back: dict[str, int] = {}
    for each in events:
        if isinstance(each, InstanceStopped) and each.instance in static:
            if each.instance in stopped:
                yield stopped[each.instance]
            stopped[each.instance] = each
            continue
        if isinstance(each, InstanceStarted) and (before := stopped.pop(each.instance, None)) is not None:
            begin, end = before.at.earliest_ms, each.at.latest_ms
            if any(begin < time_ms <= end for time_ms in ends):
                yield from (before, each)
            else:
                back[each.instance] = end
                yield InstanceRestartedInSession(Moment(begin, end), each.evidence, each.instance)
            continue
        started_ms = back.pop(each.instance, None) if isinstance(each, InstanceRestartedInSession) else None
        if started_ms is None or each.at.latest_ms - started_ms > _JOINS_MS:
            yield each
    yield from stopped.values()


# --- events between two decisions -----------------------------------------------------------------------


def _inferred(before: Decision, after: Decision, between: Iterable[GroupEvent], moves: str) -> Iterator[GroupEvent]:
    known = list(between)
    span = Moment(min(before.at.latest_ms, after.at.latest_ms), after.at.latest_ms)
    place = after.evidence.place
    departed = {each.subject for each in known if each.is_departure}
    started = {each.instance for each in known if isinstance(each, InstanceStarted)}
    there = before.shares
    emptied = next((each for each in known if isinstance(each, GroupEmptied | GroupDeleted)), None)
    if emptied is not None:
        until = Moment(span.earliest_ms, max(span.earliest_ms, emptied.at.latest_ms))
        absent = Evidence.inferred(InferenceRule.ABSENT, emptied.evidence.place)
        yield from (InstanceGone(until, absent, name) for name in sorted(there) if name not in departed)
        there = {}
    if before.protocol != after.protocol and not any(isinstance(each, ProtocolChanged) for each in known):
        other = Evidence.inferred(InferenceRule.OTHER_PROTOCOL, place)
        yield ProtocolChanged(span, other, before.protocol, after.protocol)
    here = after.shares
    change = presence_change(there, here)
    for name in sorted({*change.gone} - departed):
        yield InstanceGone(span, Evidence.inferred(InferenceRule.ABSENT, place), name)
    for name in sorted({*change.new} - started):
        yield InstanceStarted(span, Evidence.inferred(InferenceRule.NEW, place), name, here[name].process_id)
    for name in sorted((*change.restarted, *change.stayed)):
        if name in change.restarted:
            if name not in departed:
                yield InstanceRestarted(
                    span, Evidence.inferred(InferenceRule.NEW_MEMBERS, place), name, here[name].process_id
                )
            continue
        if moves == JOBS:
            continue
        explained = any(isinstance(each, _OF_THREADS) and each.subject == name for each in known)
        more, fewer = here[name].members - there[name].members, there[name].members - here[name].members
        threads = Evidence.inferred(InferenceRule.THREADS, place)
        yield from (ThreadRemoved(span, threads, name) for _ in fewer if not explained and name not in departed)
        yield from (ThreadAdded(span, threads, name) for _ in more if not explained and name not in departed)
    if moves != JOBS and before.tasks is not None and after.tasks is not None and before.tasks != after.tasks:
        added, removed = after.tasks - before.tasks, before.tasks - after.tasks
        changed = Evidence.inferred(InferenceRule.TASKS, place)
        yield TopologyChanged(span, changed, tuple(sorted(added)), tuple(sorted(removed)))
    since_ms = after.at.latest_ms - before.at.latest_ms
    if before.followup == "probing" and since_ms >= max(before.probing_ms, LEAST_PROBING_MS):
        due = Moment(min(before.at.latest_ms + before.probing_ms, after.at.latest_ms), after.at.latest_ms)
        yield ProbingDue(due, Evidence.inferred(InferenceRule.INTERVAL_OVER, place))
