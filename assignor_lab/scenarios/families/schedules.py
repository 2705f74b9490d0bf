"""Schedules of the families by event, round by round, and the steps drawn from them.

Every history begins with a cold start (round 0). The time before round 1 suffices to restore everything, so each
assignor has reached its own placement before the events, from round 2 on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from assignor_lab.scenarios.families.draws import Draws
from assignor_lab.scenarios.families.events import CHANGING_SIZE, START_MS, DrawnMembership, DrawnStep, Event, Session
from assignor_lab.scenarios.families.shape import GroupShape
from assignor_lab.scenarios.families.sizes import MAX_CLIENTS

__all__ = [
    "FIRST_EVENT",
    "Schedule",
    "ScheduledStep",
    "bounce",
    "everybody_restarts",
    "growing_topology",
    "join_and_leave",
    "losing_a_rack",
    "nothing",
    "random_events",
    "restarting",
    "run_schedule",
    "scaling_in",
    "scaling_out",
]

#: Round of the first event.
FIRST_EVENT = 2
_SETTLING_MS = 600_000

#: Applies a round's event to the members, and returns the hidden sub-topologies.
ScheduledStep = Callable[[int, DrawnMembership], frozenset[int]]
Schedule = Callable[[GroupShape, Draws], ScheduledStep]

_NONE: frozenset[int] = frozenset()


def nothing(_group: GroupShape, _draws: Draws) -> ScheduledStep:
    return lambda _number, _membership: _NONE


def scaling_out(group: GroupShape, draws: Draws) -> ScheduledStep:
    """Instances join, one to as many again: all at once, or in two rounds."""
    joining = min(draws.between(1, max(group.clients, 1)), MAX_CLIENTS - group.clients)
    rounds = draws.between(1, 2)

    def happen(number: int, membership: DrawnMembership) -> frozenset[int]:
        part = number - FIRST_EVENT
        if 0 <= part < rounds:
            for _ in range(_part_of(joining, part, rounds)):
                membership.join()
        return _NONE

    return happen


def scaling_in(group: GroupShape, draws: Draws) -> ScheduledStep:
    """Instances leave for good, at most all but one: all at once, or in two rounds."""
    leaving = draws.between(1, max(group.clients // 2, 1))
    rounds = draws.between(1, 2)

    def happen(number: int, membership: DrawnMembership) -> frozenset[int]:
        part = number - FIRST_EVENT
        if 0 <= part < rounds:
            for _ in range(_part_of(leaving, part, rounds)):
                if len(membership.members) > 1:
                    membership.take_out()
        return _NONE

    return happen


def restarting(batches: int) -> Schedule:
    """All instances restart, in ``batches`` parts, a round for each.

    In half of the groups each part returns before it is noticed; in the others it is away for a round. One group in six
    has no persistent disks.
    """

    def schedule(group: GroupShape, draws: Draws) -> ScheduledStep:
        quickly, disk_kept = draws.percent(50), draws.percent(84)
        order = draws.sample(range(group.clients), group.clients)
        size = -(-group.clients // batches)

        def happen(number: int, membership: DrawnMembership) -> frozenset[int]:
            batch = number - FIRST_EVENT
            if 0 <= batch < batches:
                going = frozenset(order[batch * size : (batch + 1) * size])
                if quickly or len(membership.members) <= len(going):
                    bounce(membership, going, disk_kept=disk_kept)
                else:
                    _take_away(membership, going, number + 1, disk_kept=disk_kept)
            return _NONE

        return happen

    return schedule


def everybody_restarts(_group: GroupShape, draws: Draws) -> ScheduledStep:
    """All instances stop and start again, in a fifth of the groups without the disks."""
    disk_kept = draws.percent(80)

    def happen(number: int, membership: DrawnMembership) -> frozenset[int]:
        if number == FIRST_EVENT:
            everybody = frozenset(session.machine.number for session in membership.members)
            bounce(membership, everybody, disk_kept=disk_kept)
        return _NONE

    return happen


def losing_a_rack(_group: GroupShape, draws: Draws) -> ScheduledStep:
    """All instances of a rack (zone) fail at once, and return three rounds later, in 70 % of the cases with disks."""
    victim, disk_kept = draws.below(4), draws.percent(70)

    def happen(number: int, membership: DrawnMembership) -> frozenset[int]:
        if number == FIRST_EVENT:
            racks = sorted({session.machine.rack or "" for session in membership.members})
            rack = racks[victim % len(racks)]
            gone = [session for session in membership.members if (session.machine.rack or "") == rack]
            if len(gone) == len(membership.members):
                gone = gone[1:]
            numbers = frozenset(session.machine.number for session in gone)
            _take_away(membership, numbers, number + 3, disk_kept=disk_kept)
        return _NONE

    return happen


def growing_topology(group: GroupShape, draws: Draws) -> ScheduledStep:
    """A new version of the application has further sub-topologies; in a fifth of the groups it drops one, too.

    All instances restart with the new version.
    """
    numbers = sorted({item.number for item in group.subtopology_of})
    new = frozenset(numbers[len(numbers) - group.added :])
    dropped = frozenset(numbers[:1]) if len(numbers) > len(new) + 1 and draws.percent(20) else _NONE

    def happen(number: int, membership: DrawnMembership) -> frozenset[int]:
        if number == FIRST_EVENT:
            everybody = frozenset(session.machine.number for session in membership.members)
            bounce(membership, everybody, disk_kept=True)
        return new if number < FIRST_EVENT else dropped

    return happen


def join_and_leave(_group: GroupShape, _draws: Draws) -> ScheduledStep:
    """One joins; two rounds later one crashes, which returns with its disk a round later."""

    def happen(number: int, membership: DrawnMembership) -> frozenset[int]:
        if number == FIRST_EVENT and len(membership.members) < MAX_CLIENTS:
            membership.join()
        elif number == FIRST_EVENT + 2 and len(membership.members) > 1:
            membership.away.append((number + 1, membership.take_out(), True))
        return _NONE

    return happen


def random_events(events: Sequence[tuple[int, Event]] = CHANGING_SIZE) -> Schedule:
    """One of ``events`` in each round."""

    def schedule(_group: GroupShape, draws: Draws) -> ScheduledStep:
        def happen(number: int, membership: DrawnMembership) -> frozenset[int]:
            if number >= FIRST_EVENT:
                draws.weighted(events)(membership)
            return _NONE

        return happen

    return schedule


def _part_of(whole: int, part: int, parts: int) -> int:
    return whole * (part + 1) // parts - whole * part // parts


def _split(membership: DrawnMembership, machines: frozenset[int]) -> list[Session]:
    out = [session for session in membership.members if session.machine.number in machines]
    membership.members = [session for session in membership.members if session.machine.number not in machines]
    return out


def bounce(membership: DrawnMembership, machines: frozenset[int], *, disk_kept: bool) -> None:
    """Restarts the instances on ``machines`` before their absence is noticed."""
    sessions = _split(membership, machines)
    membership.members.extend(membership.restarted(session, disk_kept=disk_kept) for session in sessions)


def _take_away(membership: DrawnMembership, machines: frozenset[int], back: int, *, disk_kept: bool) -> None:
    membership.away.extend((back, session, disk_kept) for session in _split(membership, machines))


# --- steps ----------------------------------------------------------------------------------------


def run_schedule(group: GroupShape, draws: Draws, rounds: int, schedule: Schedule) -> tuple[DrawnStep, ...]:
    """The rounds of a history."""
    happening = schedule(group, draws)
    membership = DrawnMembership(group, draws)
    time_ms = START_MS + draws.below(1_000_000) * 1_000
    rates = [group.rate(task) for task in range(len(group.tasks))]
    steps = []
    for number in range(rounds):
        elapsed_ms = 0
        if number:
            elapsed_ms = _settling_ms(group) if number == 1 else _pause_ms(group, draws)
            membership.begin_round(number)
        hidden = happening(number, membership)
        shown = [item.number not in hidden for item in group.subtopology_of]
        time_ms += elapsed_ms
        steps.append(
            DrawnStep(
                time_ms=time_ms,
                elapsed_ms=elapsed_ms,
                members=tuple(membership.members),
                written=tuple(
                    rate * elapsed_ms // 1_000 * draws.between(80, 120) // 100 if is_shown else 0
                    for rate, is_shown in zip(rates, shown, strict=True)
                ),
                trailing=tuple(rate * draws.below(1_000) // 1_000 for rate in rates),
                hidden=hidden,
            )
        )
    return tuple(steps)


def _settling_ms(group: GroupShape) -> int:
    """Time of a complete restoration, while the group continues to write."""
    ends = max((group.first_end(task) for task, item in enumerate(group.tasks) if item.logged), default=0)
    return _SETTLING_MS + 2_000 * (ends // max(group.restore_per_s, 1))


def _pause_ms(group: GroupShape, draws: Draws) -> int:
    if draws.percent(70):
        return int(group.config["probing.rebalance.interval.ms"])
    return 60_000 + draws.spread(15_000, 3_600_000)
