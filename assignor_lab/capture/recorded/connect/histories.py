"""Recorded generations of Connect groups as histories of the scenario format.

A description of a stable group lacks the number of the generation, the configuration, and the leader's memory. The
configured jobs are inferred from jobs that run afterwards, that wait for a lost worker, or that were revoked and
return.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import attrs

from assignment_api.connect import NO_JOBS, ConnectorTaskId, ConnectProtocol, Jobs
from assignor_lab.capture.recorded.connect.described import DescribedRound, DescribedWorker

__all__ = [
    "CLOCK_TOLERANCE_MS",
    "CONFIGURED_UNKNOWN",
    "DEFAULT_MAX_DELAY_MS",
    "SeenRound",
    "histories",
    "jobs_document",
]

DEFAULT_MAX_DELAY_MS = 300_000
CONFIGURED_UNKNOWN = (
    "the configured jobs are not in the answers: they are the jobs that run, wait for a lost worker, or come back"
)
#: The time of a response, not of the leader's clock; requests were sent a few times a second.
CLOCK_TOLERANCE_MS = 1_000


@attrs.frozen
class SeenRound:
    """A generation in a recording."""

    file: str
    line: int
    time_ms: int
    described: DescribedRound


def histories(
    seen: Iterable[SeenRound], max_delay_ms: int | None = None
) -> Iterator[tuple[dict[str, Any], list[SeenRound]]]:
    """Histories of all groups, by start, and the generations behind their rounds.

    A history ends before a missing generation: then members report other jobs than after the previous one. Repeated
    descriptions are left out, and those of a leader that had not read the configuration far enough.
    """
    by_group: dict[str, list[SeenRound]] = {}
    for each in seen:
        if each.described.is_mismatch:
            continue
        rounds = by_group.setdefault(each.described.group, [])
        if not rounds or rounds[-1].described != each.described:
            rounds.append(each)
    for group, rounds in by_group.items():
        longest = max(each.described.delay_ms for each in rounds)
        delay = _MaxDelay(max_delay_ms, longest)
        for number, (stretch, following) in enumerate(_stretches(rounds), 1):
            yield _document(f"{group}-{number}", stretch, following, delay), stretch


@attrs.frozen
class _MaxDelay:
    given: int | None
    longest: int

    @property
    def value(self) -> int:
        return self.given if self.given is not None else self.longest or DEFAULT_MAX_DELAY_MS


def jobs_document(jobs: Jobs) -> dict[str, list[str]]:
    return {"connectors": list(jobs.connectors), "tasks": [str(task) for task in jobs.tasks]}


# --- which generations follow one another -----------------------------------------------------------


def _stretches(rounds: Sequence[SeenRound]) -> Iterator[tuple[list[SeenRound], SeenRound | None]]:
    """Each with the next observed round."""
    begin = 0
    for index in range(1, len(rounds) + 1):
        if index == len(rounds) or not _follows(rounds[index - 1].described, rounds[index].described):
            yield list(rounds[begin:index]), rounds[index] if index < len(rounds) else None
            begin = index


def _follows(earlier: DescribedRound, later: DescribedRound) -> bool:
    if earlier.protocol is not later.protocol:
        return False
    # Eager members report no jobs, so no gap can be detected.
    if not later.protocol.is_incremental:
        return True
    before = {member.member_id: member.owned_after.sorted() for member in earlier.members}
    return all(member.subscription.owned.sorted() == before.get(member.member_id, NO_JOBS) for member in later.members)


# --- parts of a document ----------------------------------------------------------------------------


def _document(
    identity: str, rounds: Sequence[SeenRound], following: SeenRound | None, delay: _MaxDelay
) -> dict[str, Any]:
    first = rounds[0]
    protocol = first.described.protocol
    assumptions: list[str] = []
    documents = []
    waiting = NO_JOBS
    before: SeenRound | None = None
    for index, answered in enumerate(rounds):
        next_round = rounds[index + 1] if index + 1 < len(rounds) else following
        each = attrs.evolve(answered, time_ms=_decided_ms(answered, before, waiting))
        waiting = _waiting(each.described, before, waiting)
        documents.append(_round(each, before, next_round, waiting, assumptions))
        before = each
    assumptions += _assumptions(first.described, delay)
    return {
        "format": 1,
        "kind": "connect",
        "id": identity,
        "protocol": protocol.value,
        "max_delay_ms": delay.value,
        "rounds": documents,
        "observed": {"rounds": [_observed(each.described) for each in rounds]},
        "source": {"file": first.file, "line": first.line, "time_ms": first.time_ms, "group": first.described.group},
        "assumptions": list(dict.fromkeys(assumptions)),
    }


def _assumptions(first: DescribedRound, delay: _MaxDelay) -> Iterator[str]:
    if first.protocol.is_incremental:
        if delay.given is None:
            why = "the longest delay that was sent" if delay.longest else "Kafka's default"
            yield (
                f"scheduled.rebalance.max.delay.ms is not in the answers: taken as {delay.value}, {why} (give it with "
                "-c)"
            )
        if any(len(member.subscription.owned) for member in first.members):
            yield ("the leader's memory of generations before the first one is not in the answers: taken as empty")
    yield (
        "the time of a round is that of its answer, and of a round after a delay the end of the delay: the "
        "leader's clock was a little earlier"
    )
    yield CONFIGURED_UNKNOWN


def _decided_ms(each: SeenRound, before: SeenRound | None, waiting: Jobs) -> int:
    """Estimated time of the leader's decision: responses come later, by varying amounts.

    All rounds with a delay agree on its end. A round that assigns waiting jobs, or moves jobs, comes after it.
    """
    if before is None or not before.described.delay_ms or before.described.leader != each.described.leader:
        return each.time_ms
    end_ms, now = before.time_ms + before.described.delay_ms, each.described
    if now.delay_ms:
        told_ms = end_ms - now.delay_ms
        near = abs(told_ms - each.time_ms) <= CLOCK_TOLERANCE_MS
        return max(told_ms if near else each.time_ms, before.time_ms)
    waited = {*waiting.connectors, *waiting.tasks}
    is_over = any(
        len(member.assignment.revoked)
        or not waited.isdisjoint((*member.assignment.assigned.connectors, *member.assignment.assigned.tasks))
        for member in now.members
    )
    return max(each.time_ms, end_ms) if is_over else each.time_ms


def _waiting(now: DescribedRound, before: SeenRound | None, waiting: Jobs) -> Jobs:
    if not now.delay_ms or before is None:
        return NO_JOBS
    held = NO_JOBS
    for member in before.described.members:
        held = held.plus(member.owned_after)
    return waiting.plus(held).minus(_active(now))


def _active(now: DescribedRound) -> Jobs:
    active = NO_JOBS
    for member in now.members:
        active = active.plus(member.subscription.owned).plus(member.assignment.assigned)
    return active


def _round(
    each: SeenRound, before: SeenRound | None, following: SeenRound | None, waiting: Jobs, assumptions: list[str]
) -> dict[str, Any]:
    now = each.described
    configured = waiting
    revoked = NO_JOBS
    for member in now.members:
        configured = configured.plus(member.owned_after)
        revoked = revoked.plus(member.assignment.revoked)
    if following is not None:
        # Revoked jobs that return were moved; the others were deleted.
        gone = revoked.minus(_active(following.described))
        configured = configured.plus(revoked.minus(gone))
    elif len(revoked):
        assumptions.append("the recording ends after a revocation: the revoked jobs count as deleted")
    document: dict[str, Any] = {
        "time_ms": each.time_ms,
        "connectors": _counts(configured, assumptions),
        "members": [_member(member, now.protocol) for member in now.members],
    }
    if before is not None and before.described.leader != now.leader:
        document["new_leader"] = True
    return document


def _counts(configured: Jobs, assumptions: list[str]) -> dict[str, int]:
    counts = dict.fromkeys(configured.sorted().connectors, 0)
    tasks: dict[str, set[int]] = {}
    for task in configured.tasks:
        tasks.setdefault(task.connector, set()).add(task.task)
    for connector, numbers in sorted(tasks.items()):
        if connector not in counts or numbers != set(range(len(numbers))):
            assumptions.append(
                f"of connector {connector} only some jobs are in the answers: the instance and all tasks up to the "
                "highest number are taken as configured"
            )
        counts[connector] = max(numbers) + 1
    return counts


def _member(member: DescribedWorker, protocol: ConnectProtocol) -> dict[str, Any]:
    static = member.subscription.static
    owned = member.subscription.owned if protocol.is_incremental else NO_JOBS
    return {
        "id": member.member_id,
        "owned": jobs_document(owned),
        "static": {
            "connectors": None if static is None or static.connectors is None else list(static.connectors),
            "tasks": None if static is None or static.tasks is None else _texts(static.tasks),
        },
        **({"url": member.subscription.url} if member.subscription.url else {}),
    }


def _texts(tasks: Iterable[ConnectorTaskId]) -> list[str]:
    return [str(task) for task in tasks]


def _observed(now: DescribedRound) -> dict[str, Any]:
    return {
        "delay_ms": now.delay_ms,
        "assigned": {member.member_id: jobs_document(member.assignment.assigned) for member in now.members},
        "revoked": {member.member_id: jobs_document(member.assignment.revoked) for member in now.members},
    }
