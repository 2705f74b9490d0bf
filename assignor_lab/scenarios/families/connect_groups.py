"""Families of Kafka Connect groups: events come from the seed, placements from the answers.

Two rounds without a change follow each event: one at once, as an incremental group requests after a revocation, and one
when ``scheduled.rebalance.max.delay.ms`` ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from assignment_api.connect import Jobs
from assignor_lab.scenarios.families.draws import DrawnFamily, Draws
from assignor_lab.scenarios.families.events import START_MS
from assignor_lab.scenarios.families.streams_history import in_order

__all__ = ["ConnectGroupHistory", "drawn"]

#: A start, its follow-up, then events with two calm rounds each.
_FIRST_EVENT, _EVERY = 2, 3
_WORKERS = ((15, (1, 2)), (45, (3, 5)), (25, (6, 10)), (12, (11, 25)), (3, (26, 60)))
_CONNECTORS = ((30, (1, 2)), (40, (3, 6)), (22, (7, 15)), (8, (16, 40)))
_TASKS = ((20, 1), (20, 2), (20, 4), (15, 6), (15, 8), (7, 16), (3, 32))
_MAX_DELAYS = ((75, 300_000), (15, 60_000), (10, 0))
_PROTOCOLS = ((75, "sessioned"), (25, "compatible"))
_AT_ONCE_MS = 5_000
MAX_WORKERS = 100


@attrs.define
class _Group:
    """Members and configuration while the rounds are drawn.

    Args:
        protocol: ``connect.protocol`` of all workers.
        max_delay_ms: ``scheduled.rebalance.max.delay.ms`` of all workers.
        connectors: Name to number of tasks.
        members: Member ids, in the order of joining; a restarted worker is a new member.
        away: Returning workers with their rounds.
    """

    draws: Draws
    protocol: str
    max_delay_ms: int
    connectors: dict[str, int]
    members: list[str] = attrs.field(factory=list)
    away: list[tuple[int, str]] = attrs.field(factory=list)
    number: int = 0
    _workers: int = 0
    _named: int = 0

    def join(self, worker: str | None = None) -> None:
        if worker is None:
            worker = f"worker-{self._workers:02d}"
            self._workers += 1
        self.members.append(f"{worker}-{self.draws.uuid()}")

    def take_out(self) -> str:
        member = self.members.pop(self.draws.below(len(self.members)))
        return "-".join(member.split("-")[:2])

    def configure(self) -> None:
        self.connectors[f"connector-{self._named:02d}"] = self.draws.weighted(_TASKS)
        self._named += 1


Event = Callable[[_Group], None]


def _join(group: _Group) -> None:
    for _ in range(group.draws.between(1, max(len(group.members) // 3, 1))):
        if len(group.members) < MAX_WORKERS:
            group.join()


def _leave(group: _Group) -> None:
    if len(group.members) > 1:
        group.take_out()


def _crash(group: _Group) -> None:
    """A worker goes, and returns in the next round, while the group still waits, or in the one after that."""
    if len(group.members) > 1:
        group.away.append((group.number + group.draws.between(1, 2), group.take_out()))


def _restart(group: _Group) -> None:
    """A worker returns before its absence is noticed, as a new member."""
    group.join(group.take_out())


def _create(group: _Group) -> None:
    group.configure()


def _delete(group: _Group) -> None:
    if len(group.connectors) > 1:
        del group.connectors[group.draws.pick(sorted(group.connectors))]


def _resize(group: _Group) -> None:
    group.connectors[group.draws.pick(sorted(group.connectors))] = group.draws.weighted(_TASKS)


def _roll(group: _Group) -> None:
    """The oldest third of the workers is away for a round."""
    for _ in range(max(len(group.members) // 3, 1)):
        if len(group.members) > 1:
            member = group.members.pop(0)
            group.away.append((group.number + 1, "-".join(member.split("-")[:2])))


_ANYTHING: Sequence[tuple[int, Event]] = (
    (25, _join),
    (15, _leave),
    (20, _crash),
    (12, _restart),
    (14, _create),
    (7, _delete),
    (7, _resize),
)
_CONFIGURATION: Sequence[tuple[int, Event]] = ((45, _create), (25, _delete), (30, _resize))


def _drawn_rounds(
    draws: Draws, events: Sequence[tuple[int, Event]], rounds: int
) -> tuple[_Group, list[dict[str, Any]]]:
    """The group, and the facts of each round that do not follow from the answers: time, connectors and members."""
    group = _Group(draws, draws.weighted(_PROTOCOLS), draws.weighted(_MAX_DELAYS), {})
    for _ in range(draws.between(*draws.weighted(_CONNECTORS))):
        group.configure()
    for _ in range(draws.between(*draws.weighted(_WORKERS))):
        group.join()
    time_ms = START_MS + draws.below(1_000_000) * 1_000
    leader = group.members[0]
    found: list[dict[str, Any]] = []
    for number in range(rounds):
        group.number = number
        back = [worker for due, worker in group.away if due <= number]
        group.away = [(due, worker) for due, worker in group.away if due > number]
        for worker in back:
            group.join(worker)
        since = (number - _FIRST_EVENT) % _EVERY
        if number >= _FIRST_EVENT and since == 0:
            draws.weighted(events)(group)
            time_ms += 60_000 + draws.spread(15_000, 3_600_000)
        elif number:
            time_ms += group.max_delay_ms + _AT_ONCE_MS if since == _EVERY - 1 else _AT_ONCE_MS
        entry: dict[str, Any] = {
            "time_ms": time_ms,
            "connectors": dict(group.connectors),
            "members": list(group.members),
        }
        if leader not in group.members:
            leader = group.members[0]
            entry["new_leader"] = True
        found.append(entry)
    return group, found


class ConnectGroupHistory:
    """One Connect group over its rebalances, for one assignor.

    Args:
        family: Name of the family, a part of the ids and of the seed.
    """

    def __init__(self, family: str, seed: int, events: Sequence[tuple[int, Event]], rounds: int) -> None:
        self._name = f"{family}-{seed}"
        self._group, self._drawn = _drawn_rounds(Draws(family, seed), events, rounds)
        self._owned: dict[str, Jobs] = {}
        self._rounds: list[dict[str, Any]] = []

    def round(self, number: int, previous: Mapping[str, Jobs] | None) -> Mapping[str, Any]:
        """The history up to a round, a document of kind ``connect`` whose last round is this one.

        Args:
            previous: Jobs of each member after the round before, by member id; ``None`` without an answer: then every
                member keeps its jobs.

        Raises:
            HistoryOrderError: if ``number`` is not the round after the last one.
        """
        in_order(self._name, number, len(self._rounds), len(self._drawn))
        if previous is not None:
            self._owned = dict(previous)
        drawn = self._drawn[number]
        self._owned = {member: jobs for member, jobs in self._owned.items() if member in drawn["members"]}
        self._rounds.append({**drawn, "members": [self._member(member) for member in drawn["members"]]})
        return {
            "format": 1,
            "kind": "connect",
            "id": f"{self._name}-round-{number}",
            "protocol": self._group.protocol,
            "max_delay_ms": self._group.max_delay_ms,
            "rounds": list(self._rounds),
        }

    def _member(self, member: str) -> dict[str, Any]:
        owned = self._owned.get(member, Jobs())
        return {
            "id": member,
            "owned": {"connectors": list(owned.connectors), "tasks": [str(task) for task in owned.tasks]},
            "static": {"connectors": None, "tasks": None},
        }


_FAMILIES: Mapping[str, Sequence[tuple[int, Event]]] = {
    "connect_histories": _ANYTHING,
    "connect_scale_out": ((1, _join),),
    "connect_rolling_restart": ((1, _roll),),
    "connect_reconfiguration": _CONFIGURATION,
}


def drawn(name: str, _kind: str, rounds: int) -> DrawnFamily:
    """The family of that name."""
    events = _FAMILIES[name]
    return DrawnFamily(lambda seed: ConnectGroupHistory(name, seed, events, rounds))
