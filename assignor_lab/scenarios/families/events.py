"""Events of a generated group.

The members of each round, the time since the round before and the writes in it come from the seed alone, so that every
assignor gets the same events.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from assignor_lab.scenarios.families.draws import Draws
from assignor_lab.scenarios.families.shape import GroupShape, InstanceMachine

__all__ = [
    "CHANGING_SIZE",
    "KEEPING_SIZE",
    "START_MS",
    "Event",
    "DrawnMembership",
    "Session",
    "DrawnStep",
    "draw_steps",
]

_SESSION_TIMEOUT_MS = 45_000
START_MS = 1_767_225_600_000


@attrs.frozen(eq=False)
class Session:
    """One run of an instance, from start to stop.

    A member of two rounds with the same session ran in between.

    Args:
        process_id: Stored in the state directory: an instance that restarts with its disk keeps it.
        consumers: One for each thread, new with each start.
    """

    machine: InstanceMachine
    process_id: str
    consumers: tuple[str, ...]


@attrs.frozen
class DrawnStep:
    """One round.

    Args:
        time_ms: Time of the rebalance, epoch milliseconds.
        elapsed_ms: Time since the round before; 0 in the first.
        members: The members, in the order of joining.
        written: Offsets added to each task's changelogs since the round before.
        hidden: Numbers of sub-topologies that are absent now.
        lags_known: True if the leader could fetch the end offsets.
    """

    time_ms: int
    elapsed_ms: int
    members: tuple[Session, ...]
    written: tuple[int, ...]
    trailing: tuple[int, ...]
    hidden: frozenset[int] = frozenset()
    lags_known: bool = True


class DrawnMembership:
    """Present and returning members while the steps are drawn."""

    def __init__(self, group: GroupShape, draws: Draws) -> None:
        self.group = group
        self.draws = draws
        self.members: list[Session] = []
        #: (round of the return, ended session, True if its disk is kept)
        self.away: list[tuple[int, Session, bool]] = []
        self.number = 0
        self.machines = 0
        self.processes = 0
        for _ in range(group.clients):
            self.join()

    def join(self) -> None:
        """Adds an instance on its own machine."""
        machine = self.group.machines.make(self.machines, self.draws)
        self.machines += 1
        self.members.append(self.started(machine, self.new_process()))

    def new_process(self) -> str:
        """The id of a process without a state directory."""
        self.processes += 1
        make = self.group.process_id
        return self.draws.uuid() if make is None else make(self.processes - 1)

    def started(self, machine: InstanceMachine, process_id: str) -> Session:
        consumers = tuple(
            f"{self.group.name}-{process_id}-StreamThread-{thread}-consumer-{self.draws.uuid()}"
            for thread in range(1, machine.threads + 1)
        )
        return Session(machine, process_id, consumers)

    def restarted(self, session: Session, *, disk_kept: bool) -> Session:
        return self.started(session.machine, session.process_id if disk_kept else self.new_process())

    def begin_round(self, number: int) -> None:
        """Adds the sessions that return in round ``number``."""
        self.number = number
        back = [entry for entry in self.away if entry[0] <= number]
        self.away = [entry for entry in self.away if entry[0] > number]
        self.members.extend(self.restarted(session, disk_kept=kept) for _, session, kept in back)

    def take_out(self) -> Session:
        return self.members.pop(self.draws.below(len(self.members)))


# --- events ---------------------------------------------------------------------------------------


def _nothing(_membership: DrawnMembership) -> None:
    """Time passes until a probing rebalance."""


def _join(membership: DrawnMembership) -> None:
    for _ in range(1 + membership.draws.below(max(len(membership.members) // 4, 1))):
        membership.join()


def _leave(membership: DrawnMembership) -> None:
    if len(membership.members) > 1:
        membership.take_out()


def _crash(membership: DrawnMembership) -> None:
    """An instance goes for one or more rounds, and returns with or without its disk."""
    if len(membership.members) > 1:
        back = membership.number + membership.draws.between(1, 3)
        membership.away.append((back, membership.take_out(), membership.draws.percent(60)))


def _bounce(membership: DrawnMembership) -> None:
    """An instance restarts before its absence is noticed, as in one step of a rolling restart."""
    session = membership.take_out()
    membership.members.append(membership.restarted(session, disk_kept=True))


def _lose_disk(membership: DrawnMembership) -> None:
    session = membership.take_out()
    membership.members.append(membership.restarted(session, disk_kept=False))


def _replace(membership: DrawnMembership) -> None:
    membership.take_out()
    membership.join()


Event = Callable[[DrawnMembership], None]

#: Events of growing and shrinking groups, with their weights.
CHANGING_SIZE: Sequence[tuple[int, Event]] = (
    (28, _nothing),
    (20, _join),
    (14, _leave),
    (22, _crash),
    (12, _bounce),
    (4, _lose_disk),
)
#: Events that keep the number of instances.
KEEPING_SIZE: Sequence[tuple[int, Event]] = ((30, _nothing), (30, _replace), (25, _bounce), (15, _lose_disk))


# --- steps ----------------------------------------------------------------------------------------


def draw_steps(
    group: GroupShape, draws: Draws, rounds: int, events: Sequence[tuple[int, Event]]
) -> tuple[DrawnStep, ...]:
    membership = DrawnMembership(group, draws)
    time_ms = START_MS + draws.below(1_000_000) * 1_000
    rates = [item.writes_per_s for item in group.subtopology_of]
    steps = []
    for number in range(rounds):
        elapsed_ms = 0
        if number:
            elapsed_ms = _pause_ms(group, draws)
            membership.begin_round(number)
            draws.weighted(events)(membership)
        time_ms += elapsed_ms
        steps.append(
            DrawnStep(
                time_ms=time_ms,
                elapsed_ms=elapsed_ms,
                members=tuple(membership.members),
                # Between 80 and 120 percent of its rate.
                written=tuple(
                    [
                        rate * elapsed_ms // 1_000 * (80 + more) // 100
                        for rate, more in zip(rates, draws.each_below(41, len(rates)), strict=True)
                    ]
                ),
                trailing=tuple(
                    [
                        rate * behind_ms // 1_000
                        for rate, behind_ms in zip(rates, draws.each_below(1_000, len(rates)), strict=True)
                    ]
                ),
            )
        )
    return tuple(steps)


def _pause_ms(group: GroupShape, draws: Draws) -> int:
    if draws.percent(50):
        return int(group.config["probing.rebalance.interval.ms"])
    return _SESSION_TIMEOUT_MS + draws.spread(15_000, 3_600_000)
