"""Behaviour of Kafka itself that breaks a rule of safety: by name, with its reason, and how it is recognised."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import attrs

from assignor_lab.simulation.event_log import Entry
from assignor_lab.simulation.streams.generations import Generation
from assignor_lab.simulation.streams.safety.findings import Finding
from assignor_lab.simulation.streams.safety.rest import LAST_CHANGES
from assignor_lab.simulation.streams.simulate import Played

__all__ = ["KAFKAS_OWN", "KafkasOwn", "named"]

#: Most answers of an assignor that goes round.
_MOST_ROUND = 12


@attrs.frozen
class KafkasOwn:
    """A known behaviour of Kafka.

    Args:
        name: Its ticket, or what Kafka calls it.
        reason: Why Kafka does so, as a sentence.
        explains: Whether it explains a finding in an episode that an assignor of this name decided.
    """

    name: str
    reason: str
    explains: Callable[[Finding, Played, str], bool]


def named(finding: Finding, played: Played, assignor: str) -> Finding:
    """A finding with the name of what explains it, if anything of Kafka's own does."""
    for each in KAFKAS_OWN.values():
        if each.explains(finding, played, assignor):
            return attrs.evolve(finding, known=each.name)
    return finding


def _swinging_standbys(finding: Finding, _played: Played, assignor: str) -> bool:
    return (
        finding.rule == "at rest"
        and assignor in ("group_sticky", "group_sticky_4_4")
        and finding.sentence.startswith("standby tasks moved")
    )


def _unreleased(finding: Finding, played: Played, _assignor: str) -> bool:
    """Every thread that lives in the end was refused when it came back."""
    if finding.rule != "nothing lost" or "given to nobody" not in finding.sentence:
        return False
    refused = {(entry.actor, entry.details["thread"]) for entry in played.world.log.entries if entry.event == "refused"}
    living = [thread for instance in played.world.instances.values() for thread in instance.threads]
    return bool(living) and all((thread.instance.name, thread.key) in refused for thread in living)


def _fenced_late(finding: Finding, played: Played, _assignor: str) -> bool:
    """One of two members with one instance id went on until it heard of the other one."""
    return finding.rule in ("one owner", "fenced") and any(
        finding.end_ms <= entry.details["until_ms"] and entry.details["thread"] in finding.threads
        for entry in played.world.log.entries
        if entry.event == "replaced"
    )


def _has_not_heard(finding: Finding, played: Played, _assignor: str) -> bool:
    """A thread that was stalled has what it had until its first request is answered, though it is no member.

    Read from the released classes (kafka-clients 4.3.1, disassembled). Classic: where a session or a poll is overdue,
    ``AbstractCoordinator.HeartbeatThread.run`` calls ``markCoordinatorUnknown`` or ``handlePollTimeoutExpiry``, which
    leaves the group; neither takes partitions away. ``HeartbeatResponseHandler.handle`` answers UNKNOWN_MEMBER_ID with
    ``resetStateOnResponseError``, and ``ConsumerCoordinator.onJoinPrepare`` calls ``invokePartitionsLost``: in the
    thread's next poll. Streams protocol: ``StreamsMembershipManager.onFenced`` and ``transitionToStale`` ask for the
    callback that all tasks are lost, after an answer of the broker, and after the leave that an overdue poll sends.
    """
    if finding.rule == "no standby beside its active":
        return any(
            _is_gone(thread, finding, played) or _stood_still(thread, finding, played) for thread in finding.threads
        )
    return finding.rule in ("one owner", "fenced") and any(
        finding.end_ms <= entry.details["until_ms"] and entry.details["thread"] in finding.threads
        for entry in played.world.log.entries
        if entry.event == "zombie"
    )


def _is_gone(thread: int, finding: Finding, played: Played) -> bool:
    """Whether a thread was removed before a finding, and was given nothing as a member until it ended.

    Until it is given something anew it has its copies: ``TaskManager.handleLostAll`` closes active tasks alone.
    """
    was_gone = is_gone = has_joined = False
    for entry in played.world.log.entries:
        if entry.details.get("thread") != thread or entry.time_ms >= finding.end_ms:
            continue
        if entry.event == "removed":
            is_gone, has_joined = True, False
        elif entry.event == "joins":
            has_joined = True
        elif _is_given(entry) and has_joined:
            is_gone = False
        if entry.time_ms <= finding.begin_ms:
            was_gone = is_gone
        elif not is_gone:
            return False
    return was_gone


def _is_given(entry: Entry) -> bool:
    """Whether a member is given tasks; what a thread keeps that hears that it is none any more nobody has given it."""
    return entry.event == "given" and not entry.details["is_over"]


def _stood_still(thread: int, finding: Finding, played: Played) -> bool:
    """Whether a thread was stalled when a finding began, and was given nothing until it ended."""
    entries = [entry for entry in played.world.log.entries if entry.details.get("thread") == thread]
    given = [entry.time_ms for entry in entries if _is_given(entry)]
    return any(
        entry.time_ms <= finding.begin_ms <= entry.details["until_ms"]
        and not any(entry.time_ms < at_ms < finding.end_ms for at_ms in given)
        for entry in entries
        if entry.event in ("pause", "busy")
    )


def _kept_its_place(finding: Finding, played: Played, _assignor: str) -> bool:
    """A static member missed a join phase, and was given nothing since.

    Read from the released classes (kafka-group-coordinator and kafka-clients 4.3.1, disassembled).
    ``GroupMetadataManager.completeClassicGroupJoin`` removes dynamic members that are late; static ones stay, and the
    leader is shown what they told when they joined last. ``validateClassicGroupHeartbeat`` answers ILLEGAL_GENERATION
    to their heartbeats, upon which ``AbstractCoordinator.resetStateAndRejoin`` keeps the member id, and
    ``ConsumerCoordinator.onJoinPrepare`` calls ``invokePartitionsLost`` in the thread's next poll. A thread that polls
    before that heartbeat asks to join with all that it has, and works on it until it is answered.
    """
    entries = [entry for entry in played.world.log.entries if entry.details.get("thread") in finding.threads]
    given = [(entry.time_ms, entry.details["thread"]) for entry in entries if _is_given(entry)]
    return finding.rule in ("one owner", "no standby beside its active") and any(
        entry.time_ms <= max(finding.begin_ms, finding.end_ms - 1)
        and not any(thread == entry.details["thread"] and entry.time_ms < at < finding.end_ms for at, thread in given)
        for entry in entries
        if entry.event == "missed"
    )


def _is_waited_for(finding: Finding, played: Played, _assignor: str) -> bool:
    """Each of the last join phases lasted as long as one may, for somebody who has gone and is not removed.

    Read from the released class (kafka-group-coordinator 4.3.1, disassembled):
    ``GroupMetadataManager.completeClassicGroupJoin`` begins the session of every member anew, static ones that did not
    join included. Where that happens more often than sessions end, they do not end; and a task that such a member
    claims is held back for ever, for a follow-up that begins the next join phase.
    """
    timings = played.world.timings
    latest = played.generations[-_MOST_ROUND * 3 : -LAST_CHANGES]
    return (
        finding.rule in ("rest", "nothing lost")
        and played.episode.protocol == "classic"
        and timings.max_poll_interval_ms < timings.session_timeout_ms
        and len(latest) > _MOST_ROUND
        and all(each.joined_ms - each.prepared_ms >= timings.max_poll_interval_ms for each in latest)
    )


def _unread(finding: Finding, played: Played, _assignor: str) -> bool:
    """A thread of the process told of itself in a version that the leader could not read, and nobody decided since.

    Read from the released class (kafka-streams 4.3.1, disassembled): ``StreamsPartitionAssignor.assign`` puts a member
    whose used version is over 11 under ``FUTURE_ID``, a client with a random process id, without host or tags, and
    every other member under the process id that it tells: threads of one process can be of two clients.
    """
    entries = played.world.log.entries
    decided = [entry.time_ms for entry in entries if entry.event == "assign"]
    return finding.rule == "no standby beside its active" and any(
        entry.time_ms <= finding.begin_ms and sum(entry.time_ms <= at_ms < finding.begin_ms for at_ms in decided) <= 1
        for entry in entries
        if entry.event == "unread" and not {*entry.details["threads"]}.isdisjoint(finding.threads)
    )


def _decided_for_another_process(finding: Finding, played: Played, _assignor: str) -> bool:
    """A static member took a place that was given its tasks as one of another process, and nobody decided since."""
    if finding.rule != "no standby beside its active":
        return False
    entries = played.world.log.entries
    decided = [entry.time_ms for entry in entries if entry.event == "assign"]
    return any(
        entry.time_ms <= finding.begin_ms and not any(entry.time_ms < at_ms < finding.begin_ms for at_ms in decided)
        for entry in entries
        if entry.event == "took_place" and entry.details["thread"] in finding.threads
    )


def _overtaken(finding: Finding, played: Played, _assignor: str) -> bool:
    """A member begins with a task that its acknowledgement of what came before has given away.

    Read from the released classes (disassembled). kafka-clients 4.3.1: ``StreamsMembershipManager`` acknowledges what
    it has gone through although it was told something else since, and goes through that before the acknowledgement is
    answered (``onHeartbeatRequestGenerated``, ``poll``). kafka-group-coordinator 4.3.1 and 4.4.0:
    ``CurrentAssignmentBuilder.buildNewMember`` waits for tasks to be given back only if the heartbeat names them.
    """
    if finding.rule not in ("one owner", "no standby beside its active"):
        return False
    entries = played.world.log.entries
    for number, entry in enumerate(entries):
        if entry.event != "overtaken" or entry.details["thread"] not in finding.threads:
            continue
        own = [each for each in entries[number + 1 :] if each.details.get("thread") == entry.details["thread"]]
        over = next((at for at, each in enumerate(own) if each.event in ("removed", "joins")), len(own))
        given = [
            (each.time_ms, finding.task in (*each.details["active"], *each.details["standby"]))
            for each in own[:over]
            if each.event == "given"
        ]
        begun_ms = next((at_ms for at_ms, has in given if has), played.episode.until_ms)
        over_ms = next((at_ms for at_ms, has in given if at_ms > begun_ms and not has), played.episode.until_ms)
        if finding.task in entry.details["tasks"] and begun_ms <= finding.begin_ms and finding.end_ms <= over_ms:
            return True
    return False


def _spread_goes_round(finding: Finding, played: Played, _assignor: str) -> bool:
    """Each process is to have the same tasks again and again, and its threads hand them to and fro."""
    latest = played.generations[-_MOST_ROUND * 3 : -LAST_CHANGES]
    return (
        finding.rule in ("rest", "nothing lost")
        and played.episode.protocol == "classic"
        and len(latest) > _MOST_ROUND
        and all(each.followup == "immediate" and not each.warmups for each in latest)
        and all(_active(each) == _active(latest[0]) for each in latest)
    )


def _active(generation: Generation) -> Mapping[str, tuple[int, ...]]:
    return {name: active for name, (active, _) in generation.assigned.items()}


def _goes_round(finding: Finding, played: Played, assignor: str) -> bool:
    """The assignor's answers come back again and again, or wander, each of which leads to the next."""
    if assignor not in ("sticky", "legacy_sticky") or played.episode.protocol != "classic":
        return False
    if finding.rule == "at rest":
        return "it swings between" in finding.sentence
    if finding.rule not in ("rest", "nothing lost"):
        return False
    placed = [each.assigned for each in played.generations[-_MOST_ROUND * 3 :]]
    follows = all(each.followup == "immediate" for each in played.generations[-_MOST_ROUND * 3 : -LAST_CHANGES])
    if played.is_cut:
        return follows  # no placement has to come back: what is held back is nobody's in the follow-up, and moves on
    return follows and any(
        all(one == other for one, other in zip(placed, placed[back:], strict=False))
        for back in range(2, min(_MOST_ROUND, len(placed) // 2) + 1)
    )


def _always_probes(finding: Finding, _played: Played, assignor: str) -> bool:
    return finding.rule == "rest" and assignor == "fallback_prior"


def _never_caught_up(finding: Finding, played: Played, _assignor: str) -> bool:
    """A copy that follows as closely as copies can is further behind than may be."""
    if finding.rule != "rest" or played.episode.protocol != "classic":
        return False
    acceptable = int(played.episode.config.get("acceptable.recovery.lag", 10_000))
    end_ms = played.world.begin_ms + played.episode.until_ms
    return any(
        store.follows and store.behind_ms and store.end(end_ms) - store.position(end_ms) > acceptable
        for instance in played.world.instances.values()
        for store in instance.stores.values()
    )


_ALL = (
    KafkasOwn(
        "KAFKA-21166",
        "standbys of the broker's sticky assignor swing between members when nothing but the epoch has changed",
        _swinging_standbys,
    ),
    KafkasOwn(
        "UNRELEASED_INSTANCE_ID",
        "a static member of a streams group that was killed and comes back within its session is refused, and its "
        "thread ends: nobody is left when the session is over",
        _unreleased,
    ),
    KafkasOwn(
        "FENCED_INSTANCE_ID",
        "two instances with one group.instance.id: the first one goes on until its next heartbeat tells it",
        _fenced_late,
    ),
    KafkasOwn(
        "session.timeout.ms",
        "a process that stood still for longer than its session, or a thread that did not poll in time, has what it "
        "had and goes on with it until it hears that its member was removed; its copies it has until it is given anew",
        _has_not_heard,
    ),
    KafkasOwn(
        "ILLEGAL_GENERATION",
        "a static member that a join phase did not wait for any longer keeps its place as it was when it joined last: "
        "what it got since is given to others, and it has it until its next heartbeat or its join is answered",
        _kept_its_place,
    ),
    KafkasOwn(
        "max.poll.interval.ms",
        "below session.timeout.ms, a static member that has gone is kept for as long as one rebalance asks for the "
        "next: each join phase waits for it, and its session begins anew with the end of each",
        _is_waited_for,
    ),
    KafkasOwn(
        "CurrentAssignmentBuilder",
        "a member of a streams group that goes through one assignment while it is told of the next acknowledges the "
        "first, and the broker takes what that does not name as given back: a task that is to move on is given away "
        "at once, and the member begins with it in that moment and has it until its next acknowledgement",
        _overtaken,
    ),
    KafkasOwn(
        "version probing",
        "threads of one process whose messages the leader can and cannot read are two clients to it: until they are "
        "read a task can be active on one and a copy on another",
        _unread,
    ),
    KafkasOwn(
        "KIP-345",
        "a static member that comes back with another process id, for its disk was lost or its instance id is not its "
        "own, gets what was decided for the old process: until the next assignment a task can be active and a copy in "
        "one process",
        _decided_for_another_process,
    ),
    KafkasOwn(
        "StickyTaskAssignor",
        "moves tasks to and fro between members when nothing has changed: where that asks for a rebalance, one follows "
        "the other without end",
        _goes_round,
    ),
    KafkasOwn(
        "assignTasksToThreads",
        "threads of one process that give tasks up join again before what they got instead runs: to the leader that "
        "is state on their disk alone, which it spreads over them anew each time, so that others have to give way",
        _spread_goes_round,
    ),
    KafkasOwn(
        "FallbackPriorTaskAssignor",
        "leaves everything where it is and asks for another rebalance: chosen as the assignor it probes for ever",
        _always_probes,
    ),
    KafkasOwn(
        "acceptable.recovery.lag",
        "below what arrives while a copy is on its way, no copy ever counts as caught up: warm-ups are probed for ever",
        _never_caught_up,
    ),
)
#: What is known, by name.
KAFKAS_OWN: Mapping[str, KafkasOwn] = {each.name: each for each in _ALL}
