"""Kafka's own behaviours that violate a safety rule, with reasons and tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import attrs

from assignor_lab.simulation.event_log import EventEntry
from assignor_lab.simulation.streams.generations import Generation
from assignor_lab.simulation.streams.safety.findings import BrokenRule
from assignor_lab.simulation.streams.safety.rest import LAST_CHANGES
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode

__all__ = ["KNOWN_BEHAVIOURS", "KnownBehaviour", "named"]

#: Longest cycle of an assignor's answers.
_MOST_ROUND = 12


@attrs.frozen
class KnownBehaviour:
    """A known behaviour of Kafka.

    Args:
        name: Its ticket, or Kafka's term.
        explains: Whether it explains a finding.
    """

    name: str
    reason: str
    explains: Callable[[BrokenRule, PlayedStreamsEpisode, str], bool]


def named(finding: BrokenRule, played: PlayedStreamsEpisode, assignor: str) -> BrokenRule:
    for each in KNOWN_BEHAVIOURS.values():
        if each.explains(finding, played, assignor):
            return attrs.evolve(finding, known=each.name)
    return finding


def _swinging_standbys(finding: BrokenRule, _played: PlayedStreamsEpisode, assignor: str) -> bool:
    return (
        finding.rule == "at rest"
        and assignor.partition("@")[0] in ("group_sticky", "group_sticky_4_4")
        and finding.sentence.startswith("standby tasks moved")
    )


def _unreleased(finding: BrokenRule, played: PlayedStreamsEpisode, _assignor: str) -> bool:
    """All living threads at the end were refused at their return."""
    if finding.rule != "nothing lost" or "has no owner" not in finding.sentence:
        return False
    refused = {(entry.actor, entry.thread) for entry in played.world.log.entries if entry.event == "refused"}
    living = [thread for instance in played.world.instances.values() for thread in instance.threads]
    return bool(living) and all((thread.instance.name, thread.key) in refused for thread in living)


def _fenced_late(finding: BrokenRule, played: PlayedStreamsEpisode, _assignor: str) -> bool:
    """One of two members with the same instance id ran until it learned of the other one."""
    return finding.rule in ("one owner", "fenced") and any(
        finding.end_ms <= entry.until_ms and entry.thread in finding.threads
        for entry in played.world.log.entries
        if entry.event == "replaced"
    )


def _has_not_heard(finding: BrokenRule, played: PlayedStreamsEpisode, _assignor: str) -> bool:
    """A stalled thread keeps its tasks until the reply to its first request, although its membership is over.

    Read from the released classes (kafka-clients 4.3.1, disassembled). Classic: after an overdue session or poll,
    ``AbstractCoordinator.HeartbeatThread.run`` calls ``markCoordinatorUnknown`` or ``handlePollTimeoutExpiry``; neither
    removes partitions. ``HeartbeatResponseHandler.handle`` answers UNKNOWN_MEMBER_ID with
    ``resetStateOnResponseError``; ``ConsumerCoordinator.onJoinPrepare`` calls ``invokePartitionsLost`` in the thread's
    next poll. Streams protocol: ``StreamsMembershipManager.onFenced`` and ``transitionToStale`` request the callback
    for lost tasks after the broker's reply, or after the leave of an overdue poll.
    """
    if finding.rule == "no standby beside its active":
        return any(
            _is_gone(thread, finding, played) or _stood_still(thread, finding, played) for thread in finding.threads
        )
    return finding.rule in ("one owner", "fenced") and any(
        finding.end_ms <= entry.until_ms and entry.thread in finding.threads
        for entry in played.world.log.entries
        if entry.event == "zombie"
    )


def _is_gone(thread: int, finding: BrokenRule, played: PlayedStreamsEpisode) -> bool:
    """True if a thread was removed before a finding, and got nothing until it ended.

    It has its copies until its next assignment: ``TaskManager.handleLostAll`` closes active tasks only.
    """
    was_gone = is_gone = has_joined = False
    for entry in played.world.log.entries:
        if entry.thread != thread or entry.time_ms >= finding.end_ms:
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


def _is_given(entry: EventEntry) -> bool:
    return entry.event == "given" and not entry.is_over


def _stood_still(thread: int, finding: BrokenRule, played: PlayedStreamsEpisode) -> bool:
    entries = [entry for entry in played.world.log.entries if entry.thread == thread]
    given = [entry.time_ms for entry in entries if _is_given(entry)]
    return any(
        entry.time_ms <= finding.begin_ms <= entry.until_ms
        and not any(entry.time_ms < at_ms < finding.end_ms for at_ms in given)
        for entry in entries
        if entry.event in ("pause", "busy")
    )


def _kept_its_place(finding: BrokenRule, played: PlayedStreamsEpisode, _assignor: str) -> bool:
    """A static member missed a join phase, and has got nothing since.

    Read from the released classes (kafka-group-coordinator and kafka-clients 4.3.1, disassembled).
    ``GroupMetadataManager.completeClassicGroupJoin`` removes late dynamic members only; the leader receives static
    ones' data from their last join. ``validateClassicGroupHeartbeat`` answers them with ILLEGAL_GENERATION.
    ``AbstractCoordinator.resetStateAndRejoin`` keeps the member id, and ``ConsumerCoordinator.onJoinPrepare`` calls
    ``invokePartitionsLost`` in the thread's next poll. A thread that polls before that heartbeat sends JoinGroup with
    all its tasks, and processes them until the reply.
    """
    entries = [entry for entry in played.world.log.entries if entry.thread in finding.threads]
    given = [(entry.time_ms, entry.thread) for entry in entries if _is_given(entry)]
    return finding.rule in ("one owner", "no standby beside its active") and any(
        entry.time_ms <= max(finding.begin_ms, finding.end_ms - 1)
        and not any(thread == entry.thread and entry.time_ms < at < finding.end_ms for at, thread in given)
        for entry in entries
        if entry.event == "missed"
    )


def _is_waited_for(finding: BrokenRule, played: PlayedStreamsEpisode, _assignor: str) -> bool:
    """The last join phases all ran into the timeout, for a departed member that is not removed.

    Read from the released class (kafka-group-coordinator 4.3.1, disassembled):
    ``GroupMetadataManager.completeClassicGroupJoin`` restarts all sessions, also of static members that did not join.
    If join phases are more frequent than session ends, no session ends. The member's tasks are held back forever, for a
    follow-up that begins the next join phase.
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


def _unread(finding: BrokenRule, played: PlayedStreamsEpisode, _assignor: str) -> bool:
    """A thread of the process sent a message that the leader could not read, without a decision since.

    Read from the released class (kafka-streams 4.3.1, disassembled): ``StreamsPartitionAssignor.assign`` puts a member
    with a used version over 11 under ``FUTURE_ID``, a client with a random process id, without host or tags. Other
    members have their reported process id: threads of one process can belong to two clients.
    """
    entries = played.world.log.entries
    decided = [entry.time_ms for entry in entries if entry.event == "assign"]
    return finding.rule == "no standby beside its active" and any(
        entry.time_ms <= finding.begin_ms and sum(entry.time_ms <= at_ms < finding.begin_ms for at_ms in decided) <= 1
        for entry in entries
        if entry.event == "unread" and not {*entry.threads}.isdisjoint(finding.threads)
    )


def _reads_later(finding: BrokenRule, played: PlayedStreamsEpisode, _assignor: str) -> bool:
    """One of two threads of a process has not read the latest decision, which moves a copy between them.

    Read from the released classes (kafka-streams 4.3.1, disassembled). ``StreamsPartitionAssignor`` holds back an
    active task for the consumer that owns its partitions, never for a copy. Until the other thread has closed the task,
    ``StateDirectory.lock`` refuses its directory, and the new task is not initialised.
    """
    if finding.rule != "no standby beside its active" or played.episode.protocol != "classic":
        return False
    entries = played.world.log.entries
    decided = (entry.time_ms for entry in entries if entry.event == "assign" and entry.time_ms <= finding.begin_ms)
    decided_ms = max(decided, default=0)
    read = {each.thread for each in entries if _is_given(each) and decided_ms <= each.time_ms < finding.end_ms}
    return not read.issuperset(finding.threads)


def _decided_for_another_process(finding: BrokenRule, played: PlayedStreamsEpisode, _assignor: str) -> bool:
    """A static member took over tasks that were decided for another process, without a decision since."""
    if finding.rule != "no standby beside its active":
        return False
    entries = played.world.log.entries
    decided = [entry.time_ms for entry in entries if entry.event == "assign"]
    return any(
        entry.time_ms <= finding.begin_ms and not any(entry.time_ms < at_ms < finding.begin_ms for at_ms in decided)
        for entry in entries
        if entry.event == "took_place" and entry.thread in finding.threads
    )


def _overtaken(finding: BrokenRule, played: PlayedStreamsEpisode, _assignor: str) -> bool:
    """A member begins with a task that its acknowledgement of an earlier assignment has released.

    Read from the released classes (disassembled). kafka-clients 4.3.1: ``StreamsMembershipManager`` acknowledges its
    processed assignment even if a newer one has arrived, and processes that before the reply
    (``onHeartbeatRequestGenerated``, ``poll``). kafka-group-coordinator 4.3.1 and 4.4.0:
    ``CurrentAssignmentBuilder.buildNewMember`` waits for the release of tasks only if the heartbeat names them.
    """
    if finding.rule not in ("one owner", "no standby beside its active"):
        return False
    entries = played.world.log.entries
    for number, entry in enumerate(entries):
        if entry.event != "overtaken" or entry.thread not in finding.threads:
            continue
        own = [each for each in entries[number + 1 :] if each.thread == entry.thread]
        over = next((at for at, each in enumerate(own) if each.event in ("removed", "joins")), len(own))
        given = [
            (each.time_ms, finding.task in (*each.active, *each.standby))
            for each in own[:over]
            if each.event == "given"
        ]
        begun_ms = next((at_ms for at_ms, has in given if has), played.episode.until_ms)
        over_ms = next((at_ms for at_ms, has in given if at_ms > begun_ms and not has), played.episode.until_ms)
        if finding.task in entry.tasks and begun_ms <= finding.begin_ms and finding.end_ms <= over_ms:
            return True
    return False


def _spread_goes_round(finding: BrokenRule, played: PlayedStreamsEpisode, _assignor: str) -> bool:
    """Each process keeps its tasks, and its threads exchange them."""
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


def _goes_round(finding: BrokenRule, played: PlayedStreamsEpisode, assignor: str) -> bool:
    """The assignor's answers repeat in a cycle, or wander, each caused by the last."""
    if assignor.partition("@")[0] not in ("sticky", "legacy_sticky") or played.episode.protocol != "classic":
        return False
    if finding.rule == "at rest":
        return "it swings between" in finding.sentence
    if finding.rule not in ("rest", "nothing lost"):
        return False
    placed = [each.assigned for each in played.generations[-_MOST_ROUND * 3 :]]
    follows = all(each.followup == "immediate" for each in played.generations[-_MOST_ROUND * 3 : -LAST_CHANGES])
    if played.is_cut:
        return follows  # no placement has to repeat: held-back tasks have no owner in the follow-up, and move on
    return follows and any(
        all(one == other for one, other in zip(placed, placed[back:], strict=False))
        for back in range(2, min(_MOST_ROUND, len(placed) // 2) + 1)
    )


def _always_probes(finding: BrokenRule, _played: PlayedStreamsEpisode, assignor: str) -> bool:
    return finding.rule == "rest" and assignor == "fallback_prior"


def _never_caught_up(finding: BrokenRule, played: PlayedStreamsEpisode, _assignor: str) -> bool:
    """A copy at the shortest possible distance exceeds the acceptable lag."""
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
    KnownBehaviour(
        "KAFKA-21166",
        "standbys of the broker's sticky assignor swing between members if only the epoch has changed",
        _swinging_standbys,
    ),
    KnownBehaviour(
        "UNRELEASED_INSTANCE_ID",
        "a killed static member of a streams group that returns within its session is refused, and its thread ends: "
        "the group has no member when the session is over",
        _unreleased,
    ),
    KnownBehaviour(
        "FENCED_INSTANCE_ID",
        "two instances with one group.instance.id: the first one continues until the reply to its next heartbeat",
        _fenced_late,
    ),
    KnownBehaviour(
        "session.timeout.ms",
        "a process suspended for longer than its session, or a thread that did not poll in time, continues with its "
        "tasks until it learns that its member was removed; it keeps its copies until its next assignment",
        _has_not_heard,
    ),
    KnownBehaviour(
        "ILLEGAL_GENERATION",
        "a static member that missed a join phase keeps its place with the data of its last join: others get its newer "
        "tasks, and it keeps them until the reply to its next heartbeat or join",
        _kept_its_place,
    ),
    KnownBehaviour(
        "max.poll.interval.ms",
        "below session.timeout.ms, a departed static member stays in the group while each rebalance requests the next: "
        "every join phase waits for it, and its session restarts at the end of each",
        _is_waited_for,
    ),
    KnownBehaviour(
        "CurrentAssignmentBuilder",
        "a member of a streams group that receives an assignment while it processes the previous one acknowledges the "
        "previous one, and the broker takes the missing tasks as revoked. A task that must move on goes to its new "
        "owner at once, while the member starts it and keeps it until its next acknowledgement",
        _overtaken,
    ),
    KnownBehaviour(
        "version probing",
        "if the leader can read only some messages of a process's threads, the process is two clients to it: until it "
        "can read all, a task can be active on one thread and a copy on another",
        _unread,
    ),
    KnownBehaviour(
        "StateDirectory.lock",
        "threads of one process read a decision at different moments: a task of one of them waits for the lock of its "
        "directory until the other one has closed it",
        _reads_later,
    ),
    KnownBehaviour(
        "KIP-345",
        "a static member that returns with another process id, after a lost disk or with a foreign instance id, gets "
        "the tasks decided for the old process: until the next assignment a task can be active and a copy in "
        "one process",
        _decided_for_another_process,
    ),
    KnownBehaviour(
        "StickyTaskAssignor",
        "moves tasks to and fro between members without any change: if that causes a rebalance, rebalances never end",
        _goes_round,
    ),
    KnownBehaviour(
        "assignTasksToThreads",
        "threads of one process that revoke tasks rejoin before their new tasks run: the leader sees those only as "
        "state on disk, and spreads them again each time, so that the threads revoke others",
        _spread_goes_round,
    ),
    KnownBehaviour(
        "FallbackPriorTaskAssignor",
        "leaves all tasks in place and requests another rebalance: as the chosen assignor it probes forever",
        _always_probes,
    ),
    KnownBehaviour(
        "acceptable.recovery.lag",
        "below the number of records in transit to a copy, no copy ever counts as caught up: warm-ups are probed "
        "forever",
        _never_caught_up,
    ),
)
KNOWN_BEHAVIOURS: Mapping[str, KnownBehaviour] = {each.name: each for each in _ALL}
